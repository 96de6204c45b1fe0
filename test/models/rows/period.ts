// The parts of the statement that are not accounts: payments and sales, what happened, what it cost, and what is owed. By docs/BOOKS.md (The
// statement), api/admin.yaml (Statement), the glossary and the tables of migrations/0001_schema.sql. Accounts have their own model (./statement.ts).
//
// Choices in what the documents leave open:
// - A transfer that failed moved nothing, so it counts with a value of nothing. One of zero or of dust is in no line of payments; an orphaned payment
//   is in no block, so in no period.
// - What an ignored transfer rests on is not said: it is no sale, and `arrivedIgnored` in the accounts.
// - A node is minted in its mint's block, whatever became of it, and an expulsion counts in its own block. `nodesUnpaid` has nodes without a payment,
//   granted or not, as `nodes unpaid` lists them: the others are sales of this or an earlier period.
// - A round that only skipped turns is none, as for the public API. A credit of several turns counts once for a node, and as its turns where it is
//   told what they rest on.
// - A refund is one of a payment; `commissions` has what commissions were paid. It left the payments wallet if its transaction took ether out of one:
//   a contract between the two, such as one that pays several, is not asked.
// - A transaction that took the nonce of an intent is one by hand, as in the accounts. One that the ledger does not know counts, and costs nothing.
// - What rests on the word of a trace or of a person, and on no proof, is believed.

export interface PaymentRow {
  id: number
  tierId: string | null
  state: string
  reason: string | null
  succeeded: boolean
  valueWei: bigint
  proof: string | null
  /** Null while it is orphaned. */
  block: number | null
}
export interface NodeRow {
  block: number
  paymentId: number | null
  isGranted: boolean
  expelledBlock: number | null
}
export interface RoundRow {
  block: number
  mode: 'treasury' | 'swaps'
  turns: { turns: number; amountWei: bigint; nodes: number; proof: string | null }[]
}
export interface SendRow {
  block: number | null
  kind: string
  state: string
  sender: string
  hasHash: boolean
  gasUsed: bigint
  feeWei: bigint
  guard: number | null
}
export interface Books {
  payments: PaymentRow[]
  nodes: NodeRow[]
  rounds: RoundRow[]
  withdrawals: { block: number; wei: bigint; hasFailed: boolean }[]
  refunds: { block: number; wei: bigint; isCommission: boolean; isFromWallet: boolean }[]
  sends: SendRow[]
  /** What was noted of the guard. One that was used is used for good, until the operator drops it. */
  guard: 'used' | 'dropped' | null
  /** The last block that two providers name as final. */
  finalBlock: number | null
}
export interface Period {
  after: number
  upTo: number
}

const isIn = (block: number | null, { after, upTo }: Period) => block !== null && block > after && block <= upTo

/** Adds up, by the names that a line has. */
class Lines<T extends object> {
  readonly all: (T & Record<string, bigint | number | string | null>)[] = []
  add(names: T, sums: Record<string, number | bigint>): void {
    const found = this.all.find((line) => Object.entries(names).every(([name, value]) => line[name] === value))
    if (found === undefined) {
      this.all.push({ ...names, ...sums })
      return
    }
    const line = found as Record<string, unknown>
    for (const [name, value] of Object.entries(sums))
      line[name] = typeof value === 'bigint' ? (line[name] as bigint) + value : (line[name] as number) + value
  }
}

export function paymentLinesOf(books: Books, period: Period) {
  const lines = new Lines<{ tierId: string | null; state: string; reason: string | null }>()
  for (const { tierId, state, reason, succeeded, valueWei, block } of books.payments)
    if (isIn(block, period)) lines.add({ tierId, state, reason }, { count: 1, valueWei: succeeded ? valueWei : 0n })
  return lines.all
}

export function salesOf(books: Books, period: Period) {
  const lines = new Lines<{ tierId: string | null }>()
  for (const { tierId, state, valueWei, block } of books.payments)
    if (isIn(block, period) && state === 'minted') lines.add({ tierId }, { count: 1, valueWei })
  return lines.all
}

/** What a payment that is in a block rests on. */
function backingOf({ sends, guard: noted, finalBlock }: Books, block: number, proof: string | null): string {
  if (proof !== 'proven') return proof ?? 'believed'
  // A call that was carried out names the block of its guard, and so all blocks before it.
  for (const { state, guard } of sends) if (state === 'mined' && guard !== null && guard >= block) return 'proven'
  const isFinal = finalBlock !== null && finalBlock >= block
  const isGuarded = noted === 'used' || (noted === null && sends.some(({ guard }) => guard !== null))
  if (isGuarded) return isFinal ? 'proven' : 'linked'
  return isFinal ? 'agreed' : 'believed'
}

export function assuranceOf(books: Books, period: Period) {
  const lines = new Lines<{ of: string; assurance: string | null }>()
  for (const { block, proof, succeeded, state, valueWei } of books.payments) {
    if (block === null || !isIn(block, period) || !succeeded || state === 'ignored') continue
    lines.add({ of: 'payments', assurance: backingOf(books, block, proof) }, { count: 1, wei: valueWei })
  }
  for (const { block, turns } of books.rounds) {
    if (!isIn(block, period)) continue
    for (const one of turns)
      lines.add({ of: 'turns', assurance: one.proof }, { count: one.turns, wei: one.amountWei * BigInt(one.nodes) })
  }
  return lines.all
}

const nodesOf = ({ turns }: RoundRow) => turns.reduce((sum, { nodes }) => sum + nodes, 0)
export const totalOf = ({ turns }: RoundRow) =>
  turns.reduce((wei, { amountWei, nodes }) => wei + amountWei * BigInt(nodes), 0n)

export function happenedOf(books: Books, period: Period) {
  const sum = <T>(all: T[], wei: (one: T) => bigint) => all.reduce((total, one) => total + wei(one), 0n)
  const nodes = books.nodes.filter(({ block }) => isIn(block, period))
  const expelled = books.nodes.filter(({ expelledBlock }) => isIn(expelledBlock, period))
  const rounds = books.rounds.filter((one) => isIn(one.block, period) && nodesOf(one) > 0)
  const withdrawals = books.withdrawals.filter(({ block }) => isIn(block, period))
  const sent = withdrawals.filter(({ hasFailed }) => !hasFailed)
  const refunds = books.refunds.filter(({ block, isCommission }) => isIn(block, period) && !isCommission)
  return {
    nodes: nodes.length,
    nodesUnpaid: nodes.filter(({ paymentId }) => paymentId === null).length,
    paidNodesExpelled: expelled.filter(({ paymentId }) => paymentId !== null).length,
    rounds: rounds.length,
    credits: rounds.reduce((count, one) => count + nodesOf(one), 0),
    creditedWei: sum(rounds, totalOf),
    treasuryWei: sum(
      rounds.filter(({ mode }) => mode === 'treasury'),
      totalOf,
    ),
    withdrawals: sent.length,
    withdrawnWei: sum(sent, ({ wei }) => wei),
    withdrawalsFailed: withdrawals.length - sent.length,
    refunds: refunds.length,
    refundedWei: sum(refunds, ({ wei }) => wei),
    refundedFromWalletWei: sum(
      refunds.filter(({ isFromWallet }) => isFromWallet),
      ({ wei }) => wei,
    ),
  }
}

export function gasOf(books: Books, period: Period) {
  const lines = new Lines<{ sender: string; kind: string }>()
  for (const { block, kind, state, sender, hasHash, ...cost } of books.sends) {
    if (!isIn(block, period)) continue
    const { gasUsed, feeWei } = hasHash ? cost : { gasUsed: 0n, feeWei: 0n }
    const name = state === 'displaced' ? 'foreign' : kind
    lines.add({ sender, kind: name }, { transactions: 1, reverted: state === 'reverted' ? 1 : 0, gasUsed, feeWei })
  }
  return lines.all
}

/** What the contract owes to owners after a block. */
export function outstandingAt(books: Books, block: number): bigint {
  let wei = 0n
  for (const one of books.rounds) if (one.block <= block) wei += totalOf(one)
  for (const one of books.withdrawals) if (one.block <= block && !one.hasFailed) wei -= one.wei
  return wei
}
