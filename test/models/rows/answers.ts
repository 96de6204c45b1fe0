// What the public API says of nodes, wallets and payments, built from the ledger's rows by loops, by api/openapi.yaml (Stats, Node, Wallet, Payment,
// Distribution) and the tables of migrations/0001_schema.sql.
//
// Choices in what the documents leave open:
// - `reason` is why a payment is held, or was until the operator decided: null in every other state, whatever the row keeps.
// - A wallet's payments come newest first by the ledger's own order, which is that of their first sight.
// - Rounds of one time come by their number, the newest first, and a round that credited no node is none.

export interface Round {
  round: number
  time: number
  /** What each node of a cohort was credited; no cohort twice. A round without turns only skipped some. */
  turns: { cohort: number; amountWei: bigint }[]
}
export interface NodeRow {
  nodeId: number
  owner: string
  cohort: number
  /** How many rounds there were before its mint, and before its expulsion. Null: it was not expelled. */
  mintedAfter: number
  expelledAfter: number | null
  mintTime: number
  expelTime: number
  withdrawnWei: bigint
  paymentId: number | null
}
export interface PaymentRow {
  id: number
  txHash: string
  /** Its place in the transaction. */
  innerIndex: number
  from: string
  valueWei: bigint
  tierId: string | null
  state: string
  reason: string | null
  block: number | null
  time: number
  updatedTime: number
  refundTxHash: string | null
}
export interface Ledger {
  rounds: Round[]
  nodes: NodeRow[]
  payments: PaymentRow[]
  nextDue: Map<number, number>
  mintTxOf: (nodeId: number) => string
}

const iso = (sec: number) => new Date(sec * 1_000).toISOString()

/** The rounds that credited a node, oldest first. */
function roundsOf({ rounds }: Ledger, node: NodeRow): { round: Round; amountWei: bigint }[] {
  const found: { round: Round; amountWei: bigint }[] = []
  for (const [n, round] of rounds.entries()) {
    if (n < node.mintedAfter || (node.expelledAfter !== null && n >= node.expelledAfter)) continue
    for (const turn of round.turns) if (turn.cohort === node.cohort) found.push({ round, amountWei: turn.amountWei })
  }
  return found
}

export function nodeOf(ledger: Ledger, node: NodeRow) {
  const credits = roundsOf(ledger, node)
  let creditedWei = 0n
  for (const one of credits) creditedWei += one.amountWei
  const payment = ledger.payments.find(({ id }) => id === node.paymentId)
  const last = credits.at(-1)
  return {
    id: 1_000_000_000 + node.nodeId,
    nodeId: String(node.nodeId),
    owner: node.owner,
    tierId: payment?.tierId ?? null,
    priceWei: payment === undefined ? null : String(payment.valueWei),
    creditedWei: String(creditedWei),
    withdrawnWei: String(node.withdrawnWei),
    balanceWei: String(creditedWei - node.withdrawnWei),
    paymentTxHash: payment?.txHash ?? null,
    mintTxHash: ledger.mintTxOf(node.nodeId),
    mintedAt: iso(node.mintTime),
    lastCreditedAt: last === undefined ? null : iso(last.round.time),
    nextCreditAt: node.expelledAfter === null ? iso(ledger.nextDue.get(node.cohort) ?? 0) : null,
    expelledAt: node.expelledAfter === null ? null : iso(node.expelTime),
    createdAt: iso(node.mintTime),
  }
}

/** The rounds in a node's list of credits, newest first. */
export function creditsOf(ledger: Ledger, node: NodeRow, limit: number): number[] {
  const newest = roundsOf(ledger, node).toReversed().slice(0, limit)
  return newest.map(({ round }) => round.round)
}

/** The nodes of a wallet, oldest first. */
export function nodesOf(ledger: Ledger, owner: string) {
  const own = ledger.nodes.filter((node) => node.owner === owner).toSorted((a, b) => a.nodeId - b.nodeId)
  return own.map((node) => nodeOf(ledger, node))
}

export function totalsOf(ledger: Ledger, owner: string) {
  const sums = { creditedWei: 0n, withdrawnWei: 0n, balanceWei: 0n }
  const nodes = nodesOf(ledger, owner)
  for (const node of nodes) {
    sums.creditedWei += BigInt(node.creditedWei)
    sums.withdrawnWei += BigInt(node.withdrawnWei)
    sums.balanceWei += BigInt(node.balanceWei)
  }
  const { creditedWei, withdrawnWei, balanceWei } = sums
  return {
    nodeCount: nodes.length,
    ...{ creditedWei: String(creditedWei), withdrawnWei: String(withdrawnWei), balanceWei: String(balanceWei) },
  }
}

/** The rounds shown, by number, newest first. */
export function shownRounds({ rounds }: Ledger, limit: number): number[] {
  const shown = rounds.filter(({ turns }) => turns.length > 0)
  return shown
    .toSorted((a, b) => b.time - a.time || b.round - a.round)
    .slice(0, limit)
    .map(({ round }) => round)
}

export function lastDistributionAt(ledger: Ledger): string | null {
  const [newest] = shownRounds(ledger, 1)
  const round = ledger.rounds.find((one) => one.round === newest)
  return round === undefined ? null : iso(round.time)
}

/** What a wallet has paid, newest first, without what an answer rests on (`assurance`). */
export function paymentsOf(ledger: Ledger, payer: string, limit: number) {
  const own = ledger.payments.filter(({ from, state }) => from === payer && state !== 'ignored')
  return shownOf(ledger, own.toSorted((a, b) => b.id - a.id).slice(0, limit))
}

/** A transaction as its first payment, with all of them in the order of the chain. */
function asTransaction(ledger: Ledger, payments: PaymentRow[]) {
  const shown = shownOf(
    ledger,
    payments.toSorted((a, b) => a.innerIndex - b.innerIndex),
  )
  return { ...(shown[0] as (typeof shown)[number]), payments: shown }
}

/** What a stream about a wallet shows: each transaction with the wallet's payments in it, the newest first, and the wallet's nodes. */
export function watchedOf(ledger: Ledger, payer: string) {
  const own = ledger.payments.filter(({ from, state }) => from === payer && state !== 'ignored')
  const hashes = [...new Set(own.toSorted((a, b) => b.id - a.id).map(({ txHash }) => txHash))]
  const payments = hashes.map((hash) =>
    asTransaction(
      ledger,
      own.filter(({ txHash }) => txHash === hash),
    ),
  )
  return { payments, nodes: nodesOf(ledger, payer) }
}

/** What a stream about a transaction shows: all payers’ payments, if one of them is a sale, and their nodes. */
export function watchedIn(ledger: Ledger, hash: string) {
  const made = ledger.payments.filter(({ txHash }) => txHash === hash)
  const sales = made.filter(({ state }) => state !== 'ignored')
  const nodes = ledger.nodes.filter(({ paymentId }) =>
    made.some(({ id, state }) => id === paymentId && state === 'minted'),
  )
  return {
    payments: sales.length === 0 ? [] : [unjudged(asTransaction(ledger, sales))],
    nodes: nodes.toSorted((a, b) => a.nodeId - b.nodeId).map((node) => nodeOf(ledger, node)),
  }
}

/** An answer about one transaction has each payment's verdict. The judge decided none of these payments. */
const unjudged = <T extends { payments: object[] }>(transaction: T) => ({
  ...transaction,
  verdict: null,
  payments: transaction.payments.map((payment) => ({ ...payment, verdict: null })),
})

function shownOf(ledger: Ledger, payments: PaymentRow[]) {
  return payments.map((one) => {
    const node = one.state === 'minted' ? ledger.nodes.find(({ paymentId }) => paymentId === one.id) : undefined
    const reason = one.reason === 'senderDenied' ? 'review' : one.reason
    return {
      txHash: one.txHash,
      status: one.state,
      reason: ['held', 'refunded', 'dismissed'].includes(one.state) ? reason : null,
      from: one.from,
      tierId: one.tierId,
      // No tier of these ledgers is on sale.
      waitsForPlace: false,
      valueWei: String(one.valueWei),
      blockNumber: one.block,
      // The time of its block, and it may be in none.
      paidAt: one.block === null ? null : iso(one.time),
      nodeId: node === undefined ? null : String(node.nodeId),
      mintTxHash: node === undefined ? null : ledger.mintTxOf(node.nodeId),
      refundTxHash: one.refundTxHash,
      updatedAt: iso(one.updatedTime),
    }
  })
}
