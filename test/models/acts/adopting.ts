// With which nonce an account sends, as a second reading of docs/RUNBOOK.md (NodeLedgerTransactionStuck: if all providers report a nonce that no
// followed block explains, the service sends nothing for 64 blocks, then adopts it), of the help of "transactions stuck" ("64 blocks in which all
// agree") and of the table `sender_bases`.

// Choices in what the documents leave open:
// - A provider that names a lower nonce than followed blocks explain lags. As long as one does not name a higher one, the ledger's nonce is right.
// - If several providers are asked, one answer is no agreement: two must name the same nonce, and none another.
// - The 64 blocks count from the followed block in which all providers first named a higher one, without a run in between in which one did not. Which
//   higher one they name may change meanwhile, because the key may be used again. Only at the end must they agree on it.
// - What is adopted is their nonce at the followed block, because the ledger has yet to follow later transactions (`sender_bases`). It is sent with in the next run.
// - A block on a fork that is gone counts for nothing.
// - A run asks the other providers only if the first one names another nonce than followed blocks explain.
// - If another instance has followed on meanwhile, nothing is adopted and no key begins: the next run sees the new block.
// - A key that is new to the ledger begins with the nonce on which providers agree at the followed block.

export type Answers = (number | null)[]
export interface Run {
  /** The followed block. */
  height: number
  /** Of the followed block, and of each provider's latest; the first provider is the preferred one. */
  atFollowed: Answers
  latest: Answers
  /** The nonce that a provider proves of the followed block; null if none does. */
  proven: number | null
  /** Whether the followed block is still the ledger's. */
  isCurrent: boolean
}
export interface Account {
  /** What followed blocks explain; null before the first run that knew. */
  known: number | null
  aheadSince: number | null
}
export interface Result {
  /** The nonce to send with, and the one that providers have reached; null if nothing may be sent. */
  reading: { next: number; now: number } | null
  /** Whether the run asked the other providers. */
  askedAll: boolean
  /** What is reported. */
  told: { action: 'nonceAhead' | 'nonceTakenOver'; detail: object }[]
}

const WAIT_BLOCKS = 64

export function agreed(answers: Answers): number | null {
  const said: number[] = []
  for (const one of answers) if (one !== null) said.push(one)
  const [first] = said
  if (first === undefined || (said.length === 1 && answers.length > 1)) return null
  for (const one of said) if (one !== first) return null
  return first
}

/** A run in which at least one provider answers. */
export function run(account: Account, { height, atFollowed, latest, proven, isCurrent }: Run): Result {
  if (account.known === null && isCurrent) account.known = agreed(atFollowed) ?? proven
  if (account.known === null) return { reading: null, askedAll: false, told: [] }
  const { known } = account
  const said = latest.filter((one) => one !== null)
  const askedAll = said[0] !== known
  const now = said.includes(known) ? known : Math.min(...said)
  if (now <= known) {
    account.aheadSince = null
    return { reading: { next: known, now }, askedAll, told: [] }
  }
  const told: Result['told'] = []
  if (account.aheadSince === null || account.aheadSince > height) {
    account.aheadSince = height
    told.push({ action: 'nonceAhead', detail: { reported: now, known, sinceBlock: height, takeOver: false } })
  }
  const nonce = agreed(atFollowed)
  if (height - account.aheadSince >= WAIT_BLOCKS && nonce !== null && nonce > known && isCurrent) {
    account.known = nonce
    account.aheadSince = null
    told.push({ action: 'nonceTakenOver', detail: { nonce, known, displaced: 0 } })
  }
  return { reading: null, askedAll, told }
}
