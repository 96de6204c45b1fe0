// Payments as the operator sees them: what is held and why, and one payment with all its evidence.
import { isWithin, type Pool, type Sql } from '../../db/core/sql.ts'
import { countUnpaidNodes } from '../../db/nodes/grants.ts'
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
} from '../../db/payments/decisions.ts'
import { readOrphansOfResidue } from '../../db/payments/inner.ts'
import { isDust } from '../../db/payments/junk.ts'
import { lockPayers, lockTiers } from '../../db/payments/lock-order.ts'
import { lockPayments } from '../../db/payments/rows.ts'
import { readPaymentWallets } from '../../db/sale/payment-wallets.ts'
import { mayStillMint } from '../../db/sends/outbox.ts'
import { HELD_REASONS, IGNORE_REASONS, refuseTransfer } from '../../domain/judgement.ts'
import { PAYMENT_STATES } from '../../domain/transitions.ts'
import type { Hash } from '../../domain/units.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { isOperatorRefusal, type OperatorRefusal, refuseAct, type SignerAddresses } from '../act.ts'
import { defineReading } from '../define-act.ts'
import * as field from '../input.ts'

/** A tier by its id; null if not given. */
export const TIER_ID = (help: string) => field.orNull(field.text(help, { max: 32, value: 'tier', schema: 'TierId' }))

/** Lists payments, each with its current verdict. */
export const readPayments = defineReading({
  path: 'payments',
  command: 'payments list',
  summary: 'list payments with state and reason, newest first',
  examples: ['payments list --status held', 'payments list --limit 10 --json'],
  fields: {
    status: field.orNull(
      field.word('seen, accepted, minting, minted, held, refunded, dismissed, orphaned or ignored', PAYMENT_STATES, {
        value: 'status',
        schema: 'PaymentStatus',
      }),
    ),
    reason: field.orNull(
      field.word(
        'the reason it is held for: wrongAmount, tierAllowance and so on',
        [...HELD_REASONS, ...IGNORE_REASONS],
        {
          value: 'reason',
          schema: 'PaymentReason',
        },
      ),
    ),
    from: field.orNull(field.address('the wallet that paid')),
    tierId: TIER_ID('the tier it was judged by'),
    ...field.PAGE,
  },
  run: async ({ pool }: LedgerDb, { limit, cursor, ...filter }) =>
    field.pageOf('payments', await listPayments(pool, { ...filter, before: cursor, limit: limit + 1 }), limit),
  columns: [
    'id',
    ['block time', 'blockTime'],
    ...['status', 'reason'],
    ['ETH', 'valueWei'],
    ['tier', 'tierId'],
    'from',
    ['transaction', 'txHash'],
  ],
})

/** How many payments wait, by state and reason, with their sums, and how many nodes have no payment. If a count equals `atMost`, there may be more. */
export const countPayments = defineReading({
  path: 'payments/counts',
  summary: 'how many payments wait, and for what',
  fields: {},
  run: async ({ pool }: LedgerDb): Promise<{ open: WaitingPayments[]; unpaidNodes: number; atMost: number }> => ({
    open: await countWaitingPayments(pool),
    unpaidNodes: await countUnpaidNodes(pool, WAITING_COUNT_MAX),
    atMost: WAITING_COUNT_MAX,
  }),
})

/** How the operator names a payment: by its transaction hash, or by its row id if it has no hash of its own. */
export const PAYMENT = field.ofForm<PaymentKey>("its transaction's hash, or its row id", {
  schema: { type: 'string' },
  value: 'payment',
  otherwise: { id: 0 },
  form: 'a transaction hash, 0x and 64 hex digits, or a row id',
  parse: parsePayment,
})

/** The fields of nearly every act on one payment. */
export const PAYMENT_ACT = { payment: PAYMENT, reason: field.REASON }

/** Every payment of a transaction, or the payment of a row. */
export const showPayment = defineReading({
  path: 'payments/:payment',
  command: 'payments show',
  summary: 'show all about a payment: verdicts with evidence, refund, mint',
  examples: ['payments show <hash>'],
  fields: { payment: PAYMENT },
  run: async ({ pool }: LedgerDb, { payment: key }) => {
    const payments = await describePayments(pool, key)
    if (payments.length > 0) return { payments }
    return 'txHash' in key && (await isDust(pool, key.txHash)) ? onlyDust : unknownPayment
  },
})

const onlyDust = refuseAct(
  'notFound',
  'That transfer is dust, less than a thousandth of the lowest price: it is in the books, and needs no decision.',
)

const unknownPayment = refuseAct('notFound', 'The ledger has no such payment.')

function parsePayment(value: unknown): PaymentKey | undefined {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string') return undefined
  if (/^0x[0-9a-fA-F]{64}$/.test(text)) return { txHash: text.toLowerCase() as Hash }
  return /^[1-9][0-9]{0,15}$/.test(text) && Number.isSafeInteger(Number(text)) ? { id: Number(text) } : undefined
}

/** How many payments one request decides at most, so that it ends within its deadline. */
export const MANY_MAX = 100

/** One of several payments, as the caller named it; `key` is null if the text names no payment. */
export interface NamedPayment {
  readonly payment: string
  readonly key: PaymentKey | null
}

export const namedAs = (payment: string): NamedPayment => ({ payment, key: parsePayment(payment) ?? null })

/** The length of a hash. */
const NAME_CHARS_MAX = 66
const NAME = field.text('', { max: NAME_CHARS_MAX })
const isName = (value: unknown) => Number.isSafeInteger(value) || NAME.parse(value) !== undefined

/** The payments of an act on several. */
export const PAYMENTS = field.ofForm<readonly NamedPayment[]>("each a transaction hash, or the row's `id`", {
  value: 'payments',
  otherwise: [],
  form: `a list of 1 to ${MANY_MAX} payments, each a transaction hash or a row id`,
  schema: {
    type: 'array',
    minItems: 1,
    maxItems: MANY_MAX,
    items: { type: ['string', 'integer'], maxLength: NAME_CHARS_MAX },
  },
  parse: (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= MANY_MAX && value.every(isName)
      ? value.map((payment) => namedAs(String(payment)))
      : undefined,
})

/** One of several named payments: its row, or why there is none. */
export interface RowNamed {
  readonly payment: string
  readonly row: { id: number } | OperatorRefusal
}

/**
 * The rows of the named payments. An act on several uses only these rows, because a hash in lower case, the same hash in upper case and a row id may
 * all name the same payment. If a payment is named twice, we refuse the second.
 */
export async function findRows(sql: Sql, names: readonly NamedPayment[]): Promise<RowNamed[]> {
  const rows = await readRowsOf(sql, keysOf(names))
  const firstNames = new Map<number, string>()
  const rowOf = ({ payment, key }: NamedPayment) => {
    if (key === null) return namesNone
    const candidates = 'id' in key ? [key] : rows.filter(({ txHash }) => txHash === key.txHash)
    const [row] = candidates
    if (!row) return unknownPayment
    if (candidates.length > 1) return refuseSeveral(candidates)
    const first = firstNames.get(row.id)
    if (first !== undefined) return refuseAct('conflict', `Given twice: ${first} is the same payment.`)
    firstNames.set(row.id, payment)
    return { id: row.id }
  }
  return names.map((one) => ({ payment: one.payment, row: rowOf(one) }))
}

/** The keys in the list, without texts that name no payment. */
export const keysOf = (names: readonly NamedPayment[]): PaymentKey[] =>
  names.flatMap(({ key }) => (key === null ? [] : [key]))

const namesNone = refuseAct(
  'invalid',
  'Give a payment as its transaction hash, 0x and 64 hex digits, or as its row id.',
)

/** The number of the tier in which an act may take a place for a payment; null if in none. */
export type TierNoOf = (payment: DeskPayment) => number | null

const inNoTier: TierNoOf = () => null

/** Locks the wallets of payments and the tiers in which they may take places. Lock the payments next. */
async function lockAround(sql: Sql, payments: readonly DeskPayment[], tierNoOf: TierNoOf): Promise<void> {
  const wallets = payments.flatMap(({ from }) => from ?? [])
  await lockPayers(sql, wallets, { wait: true })
  await lockTiers(sql, [...new Set(payments.flatMap((payment) => tierNoOf(payment) ?? []))], { wait: true })
}

/** The payment that the key names, locked until the transaction ends, with its wallet and its tier. */
export async function lockPayment(sql: Sql, key: PaymentKey, tierNoOf = inNoTier) {
  const before = await readForReview(sql, key, { lock: false })
  await lockAround(sql, before, tierNoOf)
  const candidates = await readForReview(sql, key, { lock: true })
  const [payment] = candidates
  if (!payment) return unknownPayment
  if (candidates.length > 1) return refuseSeveral(candidates)
  // Somebody decided about it between the two reads.
  if (before[0] === undefined || tierNoOf(payment) !== tierNoOf(before[0])) return changedJustNow
  return payment
}

const changedJustNow = refuseAct('conflict', 'The payment has just changed: try again.')

/**
 * If an act on several payments runs in one transaction, because it answers a proposal, locks all of them in order. Otherwise each payment has a
 * transaction of its own.
 */
export async function lockTogether(pool: Pool, names: readonly RowNamed[], tierNoOf = inNoTier): Promise<void> {
  if (!isWithin(pool)) return
  const rows = names.flatMap(({ row }) => (isOperatorRefusal(row) ? [] : row))
  const payments: DeskPayment[] = []
  for (const row of rows) payments.push(...(await readForReview(pool, row, { lock: false })))
  await lockAround(pool, payments, tierNoOf)
  await lockPayments(
    pool,
    rows.map(({ id }) => id),
  )
}

const refuseSeveral = (payments: readonly { id: number }[]) =>
  refuseAct(
    'conflict',
    `That transaction holds several payments: choose one by its id, of ${payments.map(({ id }) => id).join(', ')}.`,
  )

/** Refuses to refund a transfer that is not judged yet and that the judge will ignore. What is judged already keeps its verdict. */
export async function refuseNoSale(sql: Sql, signers: SignerAddresses['signers'], payment: DeskPayment) {
  const { state, from } = payment
  if (state !== 'seen' || from === null) return null
  const wallets = (await readPaymentWallets(sql)).map(({ wallet }) => wallet)
  const why = refuseTransfer({ ...payment, from, wallets, serviceAccounts: Object.values(signers) })
  return why && refuseAct('conflict', `That transfer is no sale (${why}): there is nothing to refund.`)
}

/** Locks a payment if it is held, because the operator decides only held payments. A payment that is about to be refunded is already decided. */
export async function lockHeld(sql: Sql, key: PaymentKey, tierNoOf = inNoTier) {
  const payment = await lockPayment(sql, key, tierNoOf)
  if (isOperatorRefusal(payment)) return payment
  if (payment.state !== 'held')
    return refuseAct('conflict', `The payment is ${payment.state}; only held payments can be decided.`)
  if (payment.reason === 'refunding')
    return refuseAct('conflict', 'A refund of it is being prepared: record the refund, or cancel it first.')
  // A mint may be on its way if, for example, a rescan made us judge the payment again. If the operator dismissed it now, it would become a node all
  // the same.
  if (await mayStillMint(sql, payment.ref)) return mintOnItsWay
  return payment
}

const mintOnItsWay = refuseAct('notYet', 'A mint of this payment is pending: try again once it is settled.')

/**
 * Refuses to decide a residue in one piece if an earlier trace found transfers in its block that have nodes or refunds, or may still be minted. Part
 * of its value is then spent, or about to be.
 */
export async function refuseSpent(sql: Sql, { id }: DeskPayment): Promise<OperatorRefusal | null> {
  const [first, ...others] = await readOrphansOfResidue(sql, id)
  if (!first) return null
  if (first.settled)
    return refuseAct(
      'conflict',
      `Part of it already has a node, or was refunded: attribute the transaction ${first.txHash} first.`,
    )
  for (const { ref } of [first, ...others]) if (await mayStillMint(sql, ref)) return mintOnItsWay
  return null
}
