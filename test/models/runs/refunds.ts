// What becomes of a recorded refund until its block is final, as a second reading of docs/ADMIN.md (Refund: a successful transfer in a canonical block, of
// that amount, to the payer, perhaps by an internal call; one transfer proves one refund; each pass looks at it until it is final), of docs/RUNBOOK.md
// (refundGone) and of docs/LIMITS.md. "Could not check" and "nothing found" are different answers: only what was found missing is gone.

// Choices in what the documents leave open:
// - A block whose header the ledger has dropped is final if the provider still has it: no deeper fork is followed.
// - A transaction that a fork took out may come back for 64 blocks.
// - Of a transaction that is in another block now, each refund needs a transfer of its own of that amount to the payee. The first refunds have them.

export interface Refund {
  id: number
  /** The refund of a payment in this state, or a commission. */
  of: 'refunded' | 'minted' | 'orphaned' | 'commission'
  tx: string
  /** Its place among the transaction's transfers to the payee. */
  place: number
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
/** What providers say of a transaction. `transfers` is null if no trace shows them. */
export interface Transaction {
  block: number
  hash: string
  succeeded: boolean
  transfers: Transfer[] | null
}
export interface View {
  /** The headers that the ledger has followed and kept, and the providers' blocks. */
  own: Map<number, string>
  canonical: Map<number, string>
  head: number
  /** The highest final block; null if the chain has none. */
  final: number | null
  transactions: Map<string, Transaction>
}
export type Fate = { kind: 'stays' | 'final' | 'gone' } | { kind: 'moves'; block: number; hash: string }

const GONE_AFTER = 64

function pays(all: Refund[], one: Refund, { hash, succeeded, transfers }: Transaction): boolean | null {
  if (!succeeded) return false
  // A transaction does the same in the same block.
  if (hash === one.hash) return true
  if (transfers === null) return null
  const left = transfers.filter(({ to, valueWei }) => to === one.to && valueWei === one.valueWei)
  const claims = all.filter(({ tx, to, valueWei }) => tx === one.tx && to === one.to && valueWei === one.valueWei)
  for (const claim of claims.toSorted((a, b) => a.place - b.place)) {
    const isPaid = left.pop() !== undefined
    if (claim === one) return isPaid
  }
  return false
}

/** What a run finds out about a refund. */
export function fateOf(all: Refund[], one: Refund, view: View): Fate {
  if (one.isFinal) return { kind: 'stays' }
  if (view.own.get(one.block) === one.hash)
    return { kind: view.final !== null && one.block <= view.final ? 'final' : 'stays' }
  if (one.block > view.head) return { kind: 'stays' }
  const there = view.canonical.get(one.block)
  const oldest = Math.min(...view.own.keys())
  if (there === one.hash) return { kind: one.block < oldest ? 'final' : 'stays' }
  const transaction = view.transactions.get(one.tx)
  const paid = transaction === undefined ? false : pays(all, one, transaction)
  if (paid === null) return { kind: 'stays' }
  if (paid && transaction !== undefined) {
    const isThere = view.canonical.get(transaction.block) === transaction.hash
    return isThere ? { kind: 'moves', block: transaction.block, hash: transaction.hash } : { kind: 'stays' }
  }
  if (transaction?.succeeded === false) return { kind: 'gone' }
  // Without a block at its height the provider is behind, and shows nothing.
  return { kind: there !== undefined && view.head - one.block >= GONE_AFTER ? 'gone' : 'stays' }
}

/** What becomes of the payment of a refund that is gone: its state, and the verdict that a later decision must find. */
export function afterGone({ of }: Refund): { state: string; verdict: 'held' | null; withdraws: boolean } | null {
  if (of === 'commission') return null
  // It has its node, so there is nothing to hold.
  if (of === 'minted') return { state: 'minted', verdict: null, withdraws: true }
  return { state: of === 'orphaned' ? 'orphaned' : 'held', verdict: 'held', withdraws: false }
}
