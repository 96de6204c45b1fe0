// The books of the payments wallets over rows in memory, as a second reading of docs/DATA-MODEL.md: what a wallet should hold is its base plus what came
// minus what left, and a base stands only as long as its block does.

export interface Movement {
  wallet: string
  wei: bigint
  feeWei: bigint
  block: number
  /** `payment`, `failed`, `dust`, `residue` (a held one of these blocks), `outflow`, or `gone` (a residue that left). */
  kind: 'payment' | 'failed' | 'dust' | 'residue' | 'decided' | 'outflow' | 'gone'
  fromBlock: number
}
export interface Wallet {
  wallet: string
  fromBlock: number
  fromTime: number
  watchedFrom: number
  closedBlock: number | null
  closedBy: string | null
  base: { block: number; wei: bigint } | null
  audited: { block: number; proof: string } | null
}
export interface Books {
  head: { number: number; hash: string; time: number }
  wallets: Wallet[]
  movements: Movement[]
}

const came = ({ kind }: Movement) => kind !== 'outflow' && kind !== 'gone'
const counted = ({ kind, wei, feeWei }: Movement) =>
  kind === 'failed' ? 0n : kind === 'outflow' || kind === 'gone' ? -(wei + feeWei) : wei

/** What the movements of some blocks sum up to. */
export const flow = ({ movements }: Books, wallet: string, isIn: (block: number) => boolean) =>
  movements.filter((one) => one.wallet === wallet && isIn(one.block)).reduce((sum, one) => sum + counted(one), 0n)

const sumOf = (books: Books, wallet: string, isWanted: (one: Movement) => boolean) =>
  books.movements
    .filter((one) => one.wallet === wallet && isWanted(one))
    .reduce((sum, one) => sum + (counted(one) < 0n ? -counted(one) : counted(one)), 0n)

export const inWei = (books: Books, wallet: string) => sumOf(books, wallet, came)
export const outWei = (books: Books, wallet: string) => sumOf(books, wallet, (one) => !came(one))

const find = ({ wallets }: Books, wallet: string) => wallets.find((one) => one.wallet === wallet)

export function begin(
  books: Books,
  wallet: string,
  block: number,
  { wei, proof }: { wei: bigint; proof: string },
): void {
  const one = find(books, wallet)
  if (one) Object.assign(one, { base: { block, wei }, audited: { block, proof } })
}

export function checked(books: Books, wallet: string, block: number, proof: string): void {
  const one = find(books, wallet)
  if (one?.audited && one.audited.block !== block) one.audited = { block, proof }
}

/** From its base on; a proven balance at the base's block replaces the base. What counts up to that block is in it. */
export function checkAgain(books: Books, wallet: string, proven: { block: number; wei: bigint } | null): void {
  const one = find(books, wallet)
  if (!one?.base) return
  one.audited = { block: one.base.block, proof: 'believed' }
  if (proven === null || proven.block !== one.base.block) return
  const bookedUpTo = flow(books, wallet, (block) => block <= proven.block)
  one.base = { block: proven.block, wei: proven.wei - bookedUpTo }
  one.audited.proof = 'proven'
}

export function rewound(books: Books, height: number): void {
  for (const one of books.wallets) {
    if (one.base === null || one.audited === null) continue
    if (one.base.block > height) Object.assign(one, { base: null, audited: null })
    else one.audited = { ...one.audited, block: Math.min(one.audited.block, height) }
  }
}

const shown = (books: Books, one: Wallet) => ({
  ...{ wallet: one.wallet, watchedFrom: one.watchedFrom, closedBlock: one.closedBlock, base: one.base },
  ...{ inWei: inWei(books, one.wallet), outWei: outWei(books, one.wallet) },
  ...{ auditedBlock: one.audited?.block ?? null, auditedProof: one.audited?.proof ?? null },
  cursor: { number: books.head.number, hash: books.head.hash },
})

export function balance(books: Books, wallet: string) {
  const one = find(books, wallet)
  return one === undefined ? null : shown(books, one)
}

/** Those that are read at the head, or not yet checked up to their last block. */
export const open = (books: Books) =>
  books.wallets
    .filter(({ watchedFrom, closedBlock, audited }) => {
      if (watchedFrom > books.head.number) return false
      return closedBlock === null || audited === null || audited.block < closedBlock
    })
    .map((one) => shown(books, one))

export const isChecked = ({ wallets }: Books, block: number) =>
  wallets
    .filter(({ watchedFrom, closedBlock }) => watchedFrom <= block && (closedBlock === null || closedBlock >= block))
    .every(({ audited }) => audited !== null && audited.block >= block)

export const isInResidue = ({ movements }: Books, at: number) =>
  movements.some(({ kind, fromBlock, block }) => ['residue', 'gone'].includes(kind) && fromBlock <= at && at <= block)

export const nextResidue = ({ movements }: Books, from: number) => {
  const blocks = movements
    .filter(({ kind, block }) => ['residue', 'decided', 'gone'].includes(kind) && block >= from)
    .map(({ block }) => block)
  return blocks.length === 0 ? null : Math.min(...blocks)
}

/** What the books say of a wallet after a block; null before its base. */
export function bookedAt(books: Books, wallet: string, block: number): bigint | null {
  const base = find(books, wallet)?.base ?? null
  return base === null || base.block > block ? null : base.wei + flow(books, wallet, (each) => each <= block)
}

export const inForce = ({ wallets, head }: Books) =>
  wallets.filter(({ fromBlock, fromTime }) => fromBlock <= head.number && fromTime <= head.time).at(-1)?.wallet ?? null

export function closed(books: Books, wallet: string, block: number, by: string): void {
  const one = find(books, wallet)
  if (one) Object.assign(one, { closedBlock: block, closedBy: by })
}

/** Only one that never moved anything in the blocks that we read for it. */
export function removed(books: Books, wallet: string): boolean {
  const one = find(books, wallet)
  if (one === undefined) return false
  const { watchedFrom } = one
  if (books.movements.some((each) => each.wallet === wallet && each.block >= watchedFrom)) return false
  books.wallets = books.wallets.filter((each) => each !== one)
  return true
}

export function watchedAgain(books: Books, height: number): void {
  for (const one of books.wallets) one.watchedFrom = Math.min(one.watchedFrom, height + 1)
}
