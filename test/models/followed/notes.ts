// What the follower notes about the chain, as a second reading of docs/ARCHITECTURE.md (Finality, Halts, recheck, Reading a range) and docs/RUNBOOK.md (Back up and
// restore).

export interface Noted {
  number: number
  /** The highest final block that two providers have named. */
  named: number | null
}
/** What the providers say in one run. `isOurs`: whether the block that they call final is the ledger's; null if they give no hash. */
export interface Word {
  number: number
  isOurs: boolean | null
  voices: number
  /** What each provider has at the height that counts. */
  said: ('ours' | 'other' | 'none')[]
}
export interface Followed {
  oldest: number
  cursor: number
  /** The newest block that is 64 blocks and fifteen minutes old. */
  aged: number
}

/** What is noted after a run. A noted block never falls back, and nothing is noted while anyone has another block. */
export function noteFinal(noted: Noted | null, word: Word | null, { oldest, cursor, aged }: Followed): Noted | null {
  if (word === null) return noted
  const most = word.voices >= 2 ? cursor : aged
  if (word.said.includes('other')) return noted
  const isStored = word.number >= oldest && word.number <= cursor
  if (isStored && word.isOurs === false) return noted
  const count = word.said.filter((one) => one === 'ours').length
  if (count === 0) return noted
  let firm = word.number < most ? word.number : most
  if (count < 2 && firm > aged) firm = aged
  const names = [noted?.named ?? null, count >= 2 ? firm : null].filter((one) => one !== null)
  const named = names.length === 0 ? null : Math.max(...names)
  return { number: noted !== null && noted.number > firm ? noted.number : firm, named }
}

/** Whether a rewind to a block undoes what was final; null: below all headers. */
export const goesTooDeep = (noted: Noted | null, fork: number | null): boolean =>
  noted !== null && (fork === null || fork < noted.number)

export interface Work {
  kind: string
  tx: number
  /** Of a mint: the payment whose ref it has, and to whom the node went. */
  payment: number
  owner: string
}

/** Whether a range's work on the factory shows that this ledger has lost a part. */
export function showsRestore(
  work: Work[],
  {
    known,
    displacing,
    payments,
  }: { known: number[]; displacing: number[]; payments: { id: number; from: string; state: string }[] },
): boolean {
  for (const one of work) {
    if (known.includes(one.tx) || displacing.includes(one.tx)) continue
    if (['credited', 'turnsSkipped', 'cohortOpened'].includes(one.kind)) return true
    if (one.kind !== 'nodeMinted') continue
    // A thief mints to a wallet of his own; a node without a payment is a grant.
    const paid = payments.find(({ id }) => id === one.payment)
    // What the ledger would not have minted may have had its price, or its verdict, in the part that was lost.
    if (paid?.from === one.owner && ['seen', 'wrongAmount'].includes(paid.state)) return true
  }
  return false
}

export interface Watched {
  wallets: { wallet: string; watchedFrom: number; closedBlock: number | null }[]
  signers: string[]
  leastWei: bigint
}
/** Whether a range was read for all that the ledger looks for now. */
export function mayStore(read: Watched, now: Watched): boolean {
  if (read.wallets.length !== now.wallets.length) return false
  for (const [n, one] of now.wallets.entries()) {
    const other = read.wallets[n]
    if (other?.wallet !== one.wallet || other.watchedFrom !== one.watchedFrom || other.closedBlock !== one.closedBlock)
      return false
  }
  for (const signer of now.signers) if (!read.signers.includes(signer)) return false
  return read.leastWei <= now.leastWei
}

/** With which balance a wallet's books begin: that before the first block that is read for it, or, if it is not to be had, the last one. */
export function opening(startBlock: number, watchedFrom: number, isPruned: boolean, upTo: number): number {
  if (isPruned) return upTo
  const first = watchedFrom > startBlock ? watchedFrom : startBlock
  return first === 0 ? 0 : first - 1
}
