// What becomes of a recorded refund until its block is final, as a second reading of docs/ADMIN.md (Refund: a successful transfer in a canonical block, of
// that amount, to the payer, perhaps by an internal call; one transfer proves one refund; each pass looks at it until it is final), of docs/RUNBOOK.md
// (refundGone) and of docs/LIMITS.md. "Could not check" and "nothing found" are different answers: only what was found missing is gone.

// Choices in what the documents leave open:
// - A block whose header the ledger has dropped is final if the provider still has it: no deeper fork is followed.
// - A transaction that a fork took out may come back for 64 blocks.
// - Of a transaction that is in another block now, each refund needs a transfer of its own of that amount to the payee. Which one does not matter.

export interface Refund {
  id: number
  to: string
  valueWei: bigint
  block: number
  hash: string
  isFinal: boolean
}
export interface Transfer {
  to: string
  valueWei: bigint
}
/** What providers say of the transaction of all these refunds. `transfers` is null if no trace shows them; the outcome, if it cannot be read. */
export interface Transaction {
  block: number
  hash: string
  succeeded: boolean | null
  transfers: Transfer[] | null
}
export interface View {
  /** The headers that the ledger has followed and kept, and the providers' blocks. */
  own: Map<number, string>
  canonical: Map<number, string>
  head: number
  /** The highest final block; null if the chain has none. */
  final: number | null
  transaction: Transaction | null
}
export type Fate = { kind: 'stays' | 'final' | 'gone' } | { kind: 'moves'; block: number; hash: string }

const GONE_AFTER = 64

function pays(all: Refund[], one: Refund, { hash, succeeded, transfers }: Transaction): boolean | null {
  if (succeeded !== true) return succeeded
  // A transaction does the same in the same block.
  if (hash === one.hash) return true
  if (transfers === null) return null
  const isAlike = (other: Transfer) => other.to === one.to && other.valueWei === one.valueWei
  return transfers.filter(isAlike).length >= all.filter(isAlike).length
}

/** What a run finds out about a refund. `all` are the refunds that the same transaction proves. */
export function fateOf(all: Refund[], one: Refund, view: View): Fate {
  if (one.isFinal) return { kind: 'stays' }
  if (view.own.get(one.block) === one.hash)
    return { kind: view.final !== null && one.block <= view.final ? 'final' : 'stays' }
  if (one.block > view.head) return { kind: 'stays' }
  const there = view.canonical.get(one.block)
  const oldest = Math.min(...view.own.keys())
  if (there === one.hash) return { kind: one.block < oldest ? 'final' : 'stays' }
  const { transaction } = view
  const paid = transaction === null ? false : pays(all, one, transaction)
  if (paid === null) return { kind: 'stays' }
  if (paid && transaction !== null) {
    const isThere = view.canonical.get(transaction.block) === transaction.hash
    return isThere ? { kind: 'moves', block: transaction.block, hash: transaction.hash } : { kind: 'stays' }
  }
  if (transaction?.succeeded === false) return { kind: 'gone' }
  // Without a block at its height the provider is behind, and shows nothing.
  return { kind: there !== undefined && view.head - one.block >= GONE_AFTER ? 'gone' : 'stays' }
}
