// Payments as the operator reads them: what is held and why, and one payment with all its evidence.
import type { Sql } from '../db/core/sql.ts'
import {
  countWaitingPayments,
  type DeskPayment,
  describePayments,
  listPayments,
  type PaymentKey,
  readForReview,
  readRowsOf,
  WAITING_COUNT_MAX,
  type WaitingPayments,
} from '../db/payments/decisions.ts'
import { type PaymentEvent, readPaymentHistory } from '../db/payments/history.ts'
import { readOrphansOfResidue } from '../db/payments/inner.ts'
import { isDust } from '../db/payments/junk.ts'
import { lockWallet } from '../db/payments/places.ts'
import { mayStillMint } from '../db/sends/outbox.ts'
import type { HoldReason, IgnoreReason } from '../domain/payment.ts'
import { PAYMENT_STATES } from '../domain/transitions.ts'
import type { Hash } from '../domain/units.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Fields, isOperatorRefusal, type OperatorRefusal, refuseAct } from './act.ts'
import { type FieldReader, readFields } from './input.ts'
import { cachedResponseOf, type PageOf, readPageFields } from './page.ts'

const REASONS: readonly (HoldReason | IgnoreReason)[] = [
  'wrongAmount',
  'saleClosed',
  'tierAllowance',
  'holding',
  'walletLimit',
  'senderDenied',
  'unattributed',
  'mintReverted',
  'mintedElsewhere',
  'oldWallet',
  'recheck',
  'refunding',
  'contractWallet',
  'self',
  'operator',
  'zero',
  'failed',
]

/** GET payments: newest first, each with the verdict that stands; `status`, `reason`, `from`, `tierId`, `cursor`, `limit`. */
export async function readPayments(deps: LedgerDb, input: Fields): Promise<PageOf<object> | OperatorRefusal> {
  const fields = readFields(input)
  const filter = {
    status: fields.wordOrNull('status', PAYMENT_STATES),
    reason: fields.wordOrNull('reason', REASONS),
    from: fields.addressOrNull('from'),
    tierId: fields.textOrNull('tierId', { max: 32 }),
  }
  const { limit, before } = readPageFields(fields)
  if (fields.refusal) return fields.refusal
  return cachedResponseOf('payments', await listPayments(deps.pool, { ...filter, before, limit: limit + 1 }), limit)
}

/** GET payments/counts: the payments that wait, by state and reason, and what they come to. A count of `atMost` may be more. */
export async function countPayments(deps: LedgerDb): Promise<{ open: WaitingPayments[]; atMost: number }> {
  return { open: await countWaitingPayments(deps.pool), atMost: WAITING_COUNT_MAX }
}

/** GET payments/:payment: every payment of a transaction, or the one of a row, with all that is known of it. */
export async function showPayment(deps: LedgerDb, input: Fields): Promise<object | OperatorRefusal> {
  const fields = readFields(input)
  const key = readPayment(fields)
  if (fields.refusal) return fields.refusal
  const payments = await describePayments(deps.pool, key)
  if (payments.length > 0) return { payments }
  return 'txHash' in key && (await isDust(deps.pool, key.txHash)) ? onlyDust : unknownPayment
}

/** GET payments/:payment/history: all that happened to it, oldest first. */
export async function showHistory(
  deps: LedgerDb,
  input: Fields,
): Promise<{ history: PaymentEvent[] } | OperatorRefusal> {
  const fields = readFields(input)
  const key = readPayment(fields)
  if (fields.refusal) return fields.refusal
  const history = await readPaymentHistory(deps.pool, key)
  return history.length > 0 ? { history } : unknownPayment
}

const onlyDust = refuseAct(
  'notFound',
  'That transfer is dust, of less than a thousandth of the lowest price: it is in the books, and there is nothing to decide.',
)

const unknownPayment = refuseAct('notFound', 'The ledger has no such payment.')

const PAYMENT_FORM = 'a transaction hash, 0x and 64 hex digits, or a row id'

/** A payment is named by its transaction hash, or by its row id where it has none or shares it. */
function parsePayment(value: unknown): PaymentKey | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return undefined
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return { txHash: text.toLowerCase() as Hash }
  return /^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? { id: Number(text) } : undefined
}

/** Reads the field `payment`. */
const readPayment = (fields: FieldReader): PaymentKey => fields.value('payment', PAYMENT_FORM, { id: 0 }, parsePayment)

/** Reads what nearly every act on one payment takes: the payment and the reason. */
export const readPaymentAct = (fields: FieldReader) => ({
  key: readPayment(fields),
  reason: fields.textOrNull('reason'),
})

/** Payments decided by one request at most, so that it ends within its deadline. */
export const MANY_MAX = 100

/** A payment of several, as it was named; `key` is null if that names none. */
export interface NamedPayment {
  readonly payment: string
  readonly key: PaymentKey | null
}

export const namedAs = (payment: string): NamedPayment => ({ payment, key: parsePayment(payment) ?? null })

/** Reads the list `payments` of an act on several. */
export const readMany = (fields: FieldReader): readonly NamedPayment[] =>
  fields.value('payments', `a list of 1 to ${MANY_MAX} payments`, [], (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MANY_MAX
      ? value.map((payment) => namedAs(String(payment)))
      : undefined,
  )

/** A payment of several by its row, or why it has no place among them. */
export interface RowNamed {
  readonly payment: string
  readonly row: { id: number } | OperatorRefusal
}

/**
 * The rows of payments that were named: an act on several goes by these alone, because a hash in small letters, one in capitals and a row id may
 * all name one payment. Its second name is refused.
 */
export async function findRows(sql: Sql, named: readonly NamedPayment[]): Promise<RowNamed[]> {
  const rows = await readRowsOf(sql, keysOf(named))
  const firstNames = new Map<number, string>()
  const rowOf = ({ payment, key }: NamedPayment) => {
    if (key === null) return namesNone
    const found = 'id' in key ? [key] : rows.filter(({ txHash }) => txHash === key.txHash)
    const [row] = found
    if (!row) return unknownPayment
    if (found.length > 1) return refuseSeveral(found)
    const first = firstNames.get(row.id)
    if (first !== undefined) return refuseAct('conflict', `Named twice: it is the payment that ${first} names.`)
    firstNames.set(row.id, payment)
    return { id: row.id }
  }
  return named.map((one) => ({ payment: one.payment, row: rowOf(one) }))
}

/** Those of them that name one. */
export const keysOf = (named: readonly NamedPayment[]): PaymentKey[] =>
  named.flatMap(({ key }) => (key === null ? [] : [key]))

const namesNone = refuseAct(
  'invalid',
  'A payment is named by its transaction hash, 0x and 64 hex digits, or by its row id.',
)

/** The one payment meant, locked until the transaction ends. */
export async function lockPayment(sql: Sql, key: PaymentKey) {
  // Wallet before payment, as the judge locks them: it counts what the wallet has in flight.
  for (const { from } of await readForReview(sql, key, { lock: false })) if (from) await lockWallet(sql, from)
  const found = await readForReview(sql, key, { lock: true })
  const [payment] = found
  if (!payment) return unknownPayment
  return found.length > 1 ? refuseSeveral(found) : payment
}

const refuseSeveral = (payments: readonly { id: number }[]) =>
  refuseAct(
    'conflict',
    `That transaction holds several payments: name one by its id, of ${payments.map(({ id }) => id).join(', ')}.`,
  )

/** Refuses to pay back a transfer that failed, also before the judge has looked at it. One that is reorganised out may yet succeed. */
export function refuseFailed({ succeeded, state }: DeskPayment): OperatorRefusal | null {
  if (succeeded || state === 'orphaned') return null
  return refuseAct('conflict', 'That transfer failed on chain and moved nothing: there is nothing to refund.')
}

/** The same, if it is held: only held payments are the operator's to decide. What is about to be refunded is decided. */
export async function lockHeld(sql: Sql, key: PaymentKey) {
  const payment = await lockPayment(sql, key)
  if (isOperatorRefusal(payment)) return payment
  if (payment.state !== 'held')
    return refuseAct('conflict', `The payment is ${payment.state}; only one that is held can be decided.`)
  if (payment.reason === 'refunding')
    return refuseAct('conflict', 'A refund of it is being prepared: record the refund, or cancel it first.')
  // As where it was judged again after a rescan: dismissed now, it would be a node all the same.
  if (await mayStillMint(sql, payment.ref)) return mintOnItsWay
  return payment
}

const mintOnItsWay = refuseAct(
  'notYet',
  'A mint that carries the payment is on its way and may yet be mined: try again once it is settled.',
)

/**
 * Refuses to decide a residue as a whole while transfers of its block, which an earlier trace had shown, have their nodes or refunds, or may yet
 * be minted: part of its value is spent, or about to be.
 */
export async function refuseSpent(sql: Sql, { id }: DeskPayment): Promise<OperatorRefusal | null> {
  const [first, ...others] = await readOrphansOfResidue(sql, id)
  if (!first) return null
  if (first.settled)
    return refuseAct(
      'conflict',
      `Part of it has its node already, or was paid back: attribute the transaction ${first.txHash} first.`,
    )
  for (const { ref } of [first, ...others]) if (await mayStillMint(sql, ref)) return mintOnItsWay
  return null
}
