// Records that the operator refunded a payment from a wallet of their own. Only the chain counts as proof: a successful transfer in a canonical
// block, to the payer, of exactly the amount, not before the payment. It may be the transaction itself, or an inner call (from a Safe, for example)
// that the provider's trace proves. When a refund is safe: domain/refund-safety.ts. A refund on chain is always recorded; if it was sent too early, that raises an alarm. It sends nothing and never
// could.
import { inTransaction, type Sql } from '../../../db/core/sql.ts'
import { isExpelled } from '../../../db/nodes/nodes.ts'
import { type DeskPayment, type PaymentKey, readForReview } from '../../../db/payments/decisions.ts'
import { writeVerdict } from '../../../db/payments/moves.ts'
import { insertRefund, type Refund, readRefundsBy } from '../../../db/payments/refunds.ts'
import { readPaymentWallets } from '../../../db/sale/payment-wallets.ts'
import type { Evidence } from '../../../domain/judgement.ts'
import type { PaymentWallet } from '../../../domain/payment-wallets.ts'
import type { RefundSafety } from '../../../domain/refund-safety.ts'
import { MOVES } from '../../../domain/transitions.ts'
import type { Address, Hash, Wei } from '../../../domain/units.ts'
import { raiseAlarm } from '../../../follower/alarm.ts'
import type { ChainRead, LedgerDb } from '../../../ports/contexts.ts'
import { type Actor, isOperatorRefusal, type OperatorRefusal, refuseAct } from '../../act.ts'
import { defineAct } from '../../define-act.ts'
import * as field from '../../input.ts'
import { type DecisionResult, recordDecision } from '../decide.ts'
import { nameOf, readBrief } from '../in-words.ts'
import { isOwnBlock, type MinedTransaction, readMined, refuseReorg } from '../mined.ts'
import { lockPayment, PAYMENT, refuseNoSale } from '../payments.ts'
import { type PrepareDeps, readHorizon, refundSafety } from './prepare.ts'

/** A recorded refund, and what it contradicts. */
export interface RefundResult extends DecisionResult {
  /** What the refund contradicts; null if nothing. */
  alarm: RefundAlarm | null
}

/** The refunded payment has its node, is no longer on the chain, or may still be minted. */
type RefundAlarm = 'refundOfMinted' | 'refundOfOrphaned' | 'refundTooEarly'

/**
 * If a payment has no known sender, the operator decides whom to refund. Then we do not check the recipient, and the record shows that. If the payment
 * was not held, it is no longer a sale after the refund, unless it has its node.
 */
export const refundPayment = defineAct({
  path: 'payments/:payment/refund',
  scope: 'decide',
  command: 'payments refund',
  summary: 'record a refund that you sent; the chain must confirm it',
  details: `Send the refund from a wallet of your own, once "payments refund-prepare" says so; the service cannot send it. The transaction
must be in a block, have succeeded, go to the payer, and carry the exact amount; if a Safe sent it, the provider's trace must show that.
The service records it even if you sent it too early, and warns you.`,
  examples: ['payments refund <hash> --refund-tx-hash <refund> --yes'],
  fields: { payment: PAYMENT, refundTxHash: field.hash('the transaction of your refund'), reason: field.REASON },
  onChain: true,
  asks: 'Record the refund?',
  run: recordRefund,
  preview: async ({ id, alarm }, { refundTxHash }, sql) => {
    const payment = await readBrief(sql, id)
    const contradicts = alarm === null ? 'It gets no node.' : CONTRADICTS[alarm]
    return `${nameOf(payment)} was refunded by ${refundTxHash}. ${contradicts}`
  },
  says: ({ alarm, status }) =>
    alarm === null ? 'It is refunded.' : `The refund is recorded, and the payment is ${status}. ${CONTRADICTS[alarm]}`,
})

const CONTRADICTS: Record<RefundAlarm, string> = {
  refundOfMinted: 'It has its node as well: the buyer has both.',
  refundOfOrphaned: 'Its block was reorganised out: you may have paid back ether that you never received.',
  refundTooEarly: 'It was too early: an earlier signed mint may still give the buyer a node as well.',
}

async function recordRefund(
  deps: PrepareDeps,
  actor: Actor,
  { payment: key, refundTxHash, reason: note }: { payment: PaymentKey; refundTxHash: Hash; reason: string | null },
): Promise<RefundResult | OperatorRefusal> {
  const tx = await readMined(deps, 'refund', refundTxHash)
  if (isOperatorRefusal(tx)) return tx
  const inner = await readInner(deps, key, tx)
  const horizon = await readHorizon(deps)
  return inTransaction(deps.pool, async (sql) => {
    const isOwn = await isOwnBlock(sql, tx)
    if (isOwn === false) return refuseReorg('refund')
    const payment = await lockPayment(sql, key)
    if (isOperatorRefusal(payment)) return payment
    const name = RECORDING.find((move) => MOVES[move].from.some((state) => state === payment.state))
    if (!name) return refuseAct('conflict', `The payment is ${payment.state}: no refund of it can be recorded.`)
    const noSale = await refuseNoSale(sql, deps.signers, payment)
    if (noSale) return noSale
    const safety = await refundSafety(sql, payment, horizon)
    if (isOperatorRefusal(safety)) return safety
    const chosen = await chooseInner(sql, inner ?? [], payment, refundTxHash)
    if (chosen === 'used') return USED
    const transfer = { ...tx, innerIndex: 0, ...chosen, signer: tx.from }
    const refusal = refuseAsRefund(await readPaymentWallets(sql), payment, transfer)
    if (refusal) return refusal
    const proof = { paymentRef: payment.ref, commissionOf: null, txHash: refundTxHash, recordedBy: actor.name }
    // The passes watch the refund until its block is final.
    if (!(await insertRefund(sql, { ...transfer, ...proof, final: false }))) return USED
    const evidence = { rule: 'refunded', ...evidenceOf(payment, transfer), note, refundTxHash }
    await writeVerdict(sql, payment.id, { move: name, evidence, by: actor.name })
    const alarm = await alarmOf(sql, payment, safety)
    if (alarm) {
      const detail = { refundTxHash, valueWei: payment.valueWei.toString(), safeAfter: safety.safeAfter }
      const says = 'a refund contradicts the chain, or may yet contradict it'
      await raiseAlarm(deps, sql, { level: 'error', says, by: actor, action: alarm, subject: payment.ref, detail })
    }
    const [status] = MOVES[name].to
    return { ...(await recordDecision(sql, actor, payment, { status, tierId: payment.tierId, evidence })), alarm }
  })
}

function evidenceOf(payment: DeskPayment, { from, to, blockNumber, blockHash }: Transfer): Evidence {
  return {
    heldFor: payment.reason,
    receivedWei: payment.valueWei.toString(),
    refundFrom: from,
    refundTo: to,
    refundBlockNumber: blockNumber,
    refundBlockHash: blockHash,
    recipientChecked: payment.from !== null,
  }
}

/** The moves that record a refund. No two of them begin in the same state. */
const RECORDING = ['refund', 'refundMinted', 'refundOrphaned'] as const

async function alarmOf(sql: Sql, payment: DeskPayment, { mayStillMint }: RefundSafety): Promise<RefundAlarm | null> {
  const { state } = payment
  if (state === 'minted') return (await isExpelled(sql, payment)) ? null : 'refundOfMinted'
  if (state === 'orphaned') return 'refundOfOrphaned'
  return mayStillMint ? 'refundTooEarly' : null
}

/**
 * Transfers to the payer within a transaction to another address, which is how a contract wallet pays. Null if the transaction itself is to the
 * payer, or if the provider cannot trace.
 */
async function readInner(deps: LedgerDb & ChainRead, key: PaymentKey, tx: MinedTransaction) {
  const [payment] = await readForReview(deps.pool, key, { lock: false })
  const payer = payment?.from ?? null
  return payer === null ? null : await innerTransfersTo(deps, payer, tx)
}

/** The transaction's inner transfers to an address. Null if the transaction itself is to that address, or if the provider cannot trace. */
export async function innerTransfersTo(
  { chain }: ChainRead,
  to: Address,
  tx: MinedTransaction,
): Promise<InnerRefund[] | null> {
  if (tx.to === to) return null
  const transfers = await chain.innerTransfers(tx.txHash, to)
  return transfers?.map(({ index, from, valueWei }) => ({ innerIndex: index, from, to, valueWei })) ?? null
}

const USED = refuseAct(
  'conflict',
  'That transfer is the refund of another payment, or this payment has another refund on record. One transfer proves one refund.',
)

/** An inner transfer of the payment's amount that proves no other refund; undefined if none has that amount. */
async function chooseInner(sql: Sql, inner: readonly InnerRefund[], payment: DeskPayment, txHash: Hash) {
  const ofAmount = inner.filter(({ valueWei }) => valueWei === payment.valueWei)
  const [first] = ofAmount
  if (!first) return undefined
  const refunds = await readRefundsBy(sql, txHash, first.to)
  const others = refunds.filter(({ paymentRef }) => paymentRef !== payment.ref)
  return unusedIn(ofAmount, others)[0] ?? 'used'
}

/**
 * The transfers to a payee that prove no refund or commission. In the block in which one was recorded, its transfer may have had another index, so
 * we also count them by amount.
 */
export function unusedIn<T extends Pick<Refund, 'innerIndex' | 'valueWei'>>(
  transfers: readonly T[],
  refunds: readonly Pick<Refund, 'innerIndex' | 'valueWei'>[],
): T[] {
  return transfers.filter(({ innerIndex, valueWei }) => {
    const countIn = (all: readonly Pick<Refund, 'valueWei'>[]) => all.filter((one) => one.valueWei === valueWei).length
    return refunds.every((one) => one.innerIndex !== innerIndex) && countIn(refunds) < countIn(transfers)
  })
}

/** An inner transfer to the payee. */
interface InnerRefund {
  innerIndex: number
  from: Address
  to: Address
  valueWei: Wei
}

/** The transfer, with the signer of its transaction. */
type Transfer = MinedTransaction & { signer: Address }

/** Refuses a transaction that is not the refund of this payment. */
function refuseAsRefund(wallets: readonly PaymentWallet[], payment: DeskPayment, tx: Transfer): OperatorRefusal | null {
  const no = (message: string) => refuseAct('invalid', message)
  if (payment.from !== null && tx.to !== payment.from)
    return no(
      `The refund went to ${tx.to}; the payment came from ${payment.from}. If a contract wallet paid it, the provider has to show an inner transfer of exactly that amount to the payer (debug_traceTransaction). A refund to another address cannot be recorded: dismiss the payment with a note.`,
    )
  const still = refuseUnmoved('refund', wallets, tx)
  if (still) return still
  if (tx.valueWei !== payment.valueWei)
    return no(`The refund carries ${tx.valueWei} wei; the payment was ${payment.valueWei} wei.`)
  if (tx.blockNumber < (payment.blockNumber ?? 0)) return no('The refund is older than the payment.')
  return null
}

/** Refuses a transfer to the operator's own wallet, or back to its sender. */
export function refuseUnmoved(
  what: string,
  wallets: readonly PaymentWallet[],
  { from, to, signer }: Pick<Transfer, 'from' | 'to' | 'signer'>,
): OperatorRefusal | null {
  const no = (text: string) => refuseAct('invalid', `The ${what} ${text}`)
  if (wallets.some(({ wallet }) => wallet === to)) return no('went to a payments wallet itself.')
  if (from === to || signer === to) return no('was sent by its own receiver: nothing moved.')
  return null
}
