// Payments on the operator's desk: lists, one payment with everything we know about it, and the operator's verdicts. A verdict by hand stays with the
// payment and survives a reorganisation. We never change such a verdict, but a later verdict may follow.

import type { Evidence } from '../../domain/judgement.ts'
import type { Proof } from '../../domain/observed.ts'
import type { PaymentState } from '../../domain/transitions.ts'
import type { Address, Hash, Wei } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { mintMayCome } from '../sends/outbox.ts'
import { moveAndRead } from './moves.ts'
import { isRefundFileOf } from './refunds.ts'

/** The filter; null matches any. */
export interface PaymentFilter {
  status: PaymentState | null
  reason: string | null
  /** The payer. Without `status`, this filter leaves out ignored payments, because they are not in the index of payers. */
  from: Address | null
  tierId: string | null
  /** Rows older than this one. */
  before: number | null
  limit: number
}

function columns(sql: Sql) {
  return sql`p.id, p.tx_hash AS "txHash", p.inner_index AS "innerIndex", p.from_address AS "from", p.value_wei::text AS "valueWei",
    p.state AS status, p.reason, p.tier_id AS "tierId", p.tier_version AS "tierVersion", p.block_number AS "blockNumber",
    iso(p.block_time) AS "blockTime", p.node_id::text AS "nodeId", iso(p.updated_at) AS "updatedAt"`
}

/** Verdict columns, from `v`. */
function verdictColumns(sql: Sql) {
  return sql`v.verdict, v.reason, v.decided_by AS "decidedBy", iso(v.decided_at) AS "decidedAt", v.evidence`
}

/**
 * A state or reason as a literal in the statement. With a parameter PostgreSQL would expect as many held payments as minted ones, and its generic
 * plan would walk all payments, newest first, until it has found enough.
 */
function word(sql: Sql, text: string) {
  if (!/^[a-zA-Z]+$/.test(text)) throw new Error(`not a state or reason: ${text}`)
  return sql.unsafe(`'${text}'`)
}

/** A page of payments, newest first, each with its current verdict. Every filter uses an index. */
export async function listPayments(
  sql: Sql,
  { status, reason, from, tierId, before, limit }: PaymentFilter,
): Promise<{ id: number }[]> {
  return await sql<{ id: number }[]>`
    SELECT ${columns(sql)}, (SELECT row_to_json(x) FROM (SELECT ${verdictColumns(sql)} FROM standing_verdicts v
        WHERE v.payment_id = p.id ORDER BY v.id DESC LIMIT 1) x) AS verdict
    FROM payments p
    WHERE true ${status === null ? sql`` : sql`AND p.state = ${word(sql, status)}`}
      ${reason === null ? sql`` : sql`AND p.reason = ${word(sql, reason)}`}
      ${from === null ? sql`` : sql`AND p.from_address = ${from}`} ${from !== null && status === null ? sql`AND p.state <> 'ignored'` : sql``}
      ${tierId === null ? sql`` : sql`AND p.tier_id = ${tierId}`}
      ${before === null ? sql`` : sql`AND p.id < ${before}`}
    ORDER BY p.id DESC LIMIT ${limit}`
}

/** How many payments have the same state and reason, their sum, and the block time of the oldest, ISO 8601. */
export interface WaitingPayments {
  status: PaymentState
  reason: string | null
  count: number
  sumWei: Wei
  oldestAt: string
}

/** We count at most this many rows. A larger number would be of no more use to the operator. */
export const WAITING_COUNT_MAX = 10_000

/** Payments that wait for a pass or the operator, by state and reason. Counts the oldest `WAITING_COUNT_MAX` held payments, and as many others. */
export async function countWaitingPayments(sql: Sql): Promise<WaitingPayments[]> {
  return await sql<WaitingPayments[]>`
    SELECT state AS status, reason, count(*) AS count, sum(value_wei) AS "sumWei", iso(min(block_time)) AS "oldestAt" FROM (
      (SELECT state, reason, value_wei, block_time FROM payments WHERE state = 'held'
        ORDER BY block_number LIMIT ${WAITING_COUNT_MAX})
      UNION ALL
      (SELECT state, reason, value_wei, block_time FROM payments WHERE state IN ('seen', 'accepted', 'minting')
        ORDER BY block_number LIMIT ${WAITING_COUNT_MAX})) p
    GROUP BY state, reason ORDER BY count(*) DESC, state, reason`
}

/** Selects the payments of a transaction, or the payment in one row. */
export type PaymentKey = { txHash: Hash } | { id: number }

/** SQL: a payment `p` is among those that the key selects. */
function where(sql: Sql, key: PaymentKey) {
  return 'id' in key ? sql`p.id = ${key.id}` : sql`p.tx_hash = ${key.txHash}`
}

/**
 * Everything we know about these payments: verdicts in order, the refund, attributions by hand, what a trace shows of a residue that remains, the
 * mint's transaction with every attempt, and the node. For a held payment, also the outflows of exactly its value from the payments wallet that
 * belong to no refund yet. Such an outflow is usually a refund that a restored ledger has lost.
 */
export async function describePayments(sql: Sql, key: PaymentKey): Promise<object[]> {
  return await sql<object[]>`
    SELECT ${columns(sql)}, p.ref, p.block_hash AS "blockHash", p.tx_index AS "txIndex", p.succeeded,
      (SELECT row_to_json(x) FROM (SELECT t.price_wei::text AS "priceWei", t.label, t.max_per_wallet AS "maxPerWallet",
        t.holding_wei::text AS "holdingWei", t.holding_token AS "holdingToken", t.payout_bps AS "payoutBps",
        t.from_block AS "fromBlock" FROM tiers t WHERE t.tier_id = p.tier_id AND t.version = p.tier_version) x) AS tier,
      (SELECT coalesce(json_agg(row_to_json(x)), '[]') FROM (SELECT ${verdictColumns(sql)}, v.withdrawn_by AS "withdrawnBy",
        iso(v.withdrawn_at) AS "withdrawnAt" FROM payment_verdicts v WHERE v.payment_id = p.id ORDER BY v.id) x) AS verdicts,
      (SELECT row_to_json(x) FROM (SELECT r.tx_hash AS "txHash", r.from_address AS "from", r.to_address AS "to",
        r.value_wei::text AS "valueWei", r.block_number AS "blockNumber", r.final, r.recorded_by AS "recordedBy",
        iso(r.recorded_at) AS "recordedAt" FROM refunds r WHERE r.payment_ref = p.ref) x) AS refund,
      (SELECT row_to_json(x) FROM (SELECT a.proof, (SELECT q.id FROM payments q WHERE q.ref = a.residue_ref AND NOT a.is_rest) AS "partOf",
        a.attributed_by AS "attributedBy", iso(a.attributed_at) AS "attributedAt" FROM attributions a WHERE a.ref = p.ref) x) AS attribution,
      (SELECT coalesce(json_agg(row_to_json(x)), '[]') FROM (SELECT q.id, a.tx_hash AS "txHash", a.inner_index AS "innerIndex",
        a.from_address AS "from", a.value_wei::text AS "valueWei", a.proof FROM attributions a LEFT JOIN payments q ON q.ref = a.ref
        WHERE NOT a.is_rest AND a.residue_ref = coalesce((SELECT w.residue_ref FROM attributions w WHERE w.ref = p.ref AND w.is_rest), p.ref)
        ORDER BY a.attributed_at, a.ref) x) AS parts,
      (SELECT t.shown FROM residue_traces t WHERE t.ref = p.ref) AS "traceShows",
      CASE WHEN p.state = 'held' THEN ${likeRefunds(sql)} ELSE '[]' END AS "looksRefundedBy", ${fileMadeAt(sql)},
      (SELECT row_to_json(x) FROM (SELECT o.id, o.kind, o.sender, o.nonce, o.state, o.tx_hash AS "txHash",
        o.block_number AS "blockNumber", o.guard_block AS "guardBlock", o.gas_used AS "gasUsed", o.fee_wei::text AS "feeWei",
        iso(o.created_at) AS "createdAt",
        (SELECT json_agg(row_to_json(y)) FROM (SELECT a.attempt, a.tx_hash AS "txHash", a.max_fee_wei::text AS "maxFeeWei",
          a.max_priority_fee_wei::text AS "maxPriorityFeeWei", a.sends, a.last_outcome AS "lastOutcome",
          iso(a.signed_at) AS "signedAt", iso(a.last_sent_at) AS "lastSentAt"
          FROM outbox_attempts a WHERE a.outbox_id = o.id ORDER BY a.attempt) y) AS attempts
        FROM outbox o WHERE o.id = p.outbox_id) x) AS intent,
      (SELECT row_to_json(x) FROM (SELECT n.node_id::text AS "nodeId", n.owner, n.cohort, n.mint_tx_hash AS "mintTxHash",
        iso(n.minted_at) AS "mintedAt", n.block_number AS "blockNumber" FROM nodes n WHERE n.payment_id = p.id) x) AS mint
    FROM payments p WHERE ${where(sql, key)} ORDER BY p.inner_index`
}

/** Later outflows from the payments wallet of exactly a payment's value that belong to no refund yet. */
const likeRefunds = (sql: Sql) => sql`
  (SELECT coalesce(json_agg(row_to_json(x)), '[]') FROM (SELECT w.tx_hash AS "txHash", w.block_number AS "blockNumber",
    iso(w.block_time) AS "blockTime" FROM wallet_outflows w
    WHERE w.to_address = p.from_address AND w.value_wei = p.value_wei AND w.block_number >= p.block_number
      AND NOT EXISTS (SELECT FROM refunds r WHERE r.tx_hash = w.tx_hash)
    ORDER BY w.block_number LIMIT 5) x)`

const fileMadeAt = (sql: Sql) =>
  sql`(SELECT iso(min(at)) FROM audit WHERE ${isRefundFileOf(sql, sql`p.ref`)}) AS "fileMadeAt"`

/** Who paid, how much, and what shows that the payment may be paid back already. */
export interface PaymentInBrief {
  id: number
  from: Address | null
  valueWei: Wei
  looksRefundedBy: { txHash: Hash; blockNumber: number }[]
  fileMadeAt: string | null
}

export async function readInBrief(sql: Sql, ids: readonly number[]): Promise<PaymentInBrief[]> {
  return await sql<PaymentInBrief[]>`
    SELECT p.id, p.from_address AS "from", p.value_wei AS "valueWei", ${likeRefunds(sql)} AS "looksRefundedBy", ${fileMadeAt(sql)}
    FROM payments p WHERE p.id = ANY(${[...ids]}) ORDER BY p.id`
}

/** A payment on the operator's desk. `from` is null if no payer is proven; block fields are null while it is in no block. */
export interface DeskPayment {
  id: number
  ref: Hash
  wallet: Address
  txHash: Hash | null
  from: Address | null
  valueWei: Wei
  /** False if the transfer failed on chain and moved nothing. */
  succeeded: boolean
  state: PaymentState
  reason: string | null
  tierId: string | null
  tierVersion: number | null
  blockNumber: number | null
  blockHash: Hash | null
  /** What backs its sender; null for an inner transfer. */
  proof: Proof | null
}

/** The selected payments. With `lock`, only this transaction can decide about them until it ends. */
export async function readForReview(sql: Sql, key: PaymentKey, { lock }: { lock: boolean }): Promise<DeskPayment[]> {
  return await sql<DeskPayment[]>`
    SELECT p.id, p.ref, p.wallet, p.tx_hash AS "txHash", p.from_address AS "from",
      p.value_wei AS "valueWei", p.succeeded, p.state, p.reason, p.tier_id AS "tierId", p.tier_version AS "tierVersion",
      p.block_number AS "blockNumber", p.block_hash AS "blockHash", p.proof
    FROM payments p WHERE ${where(sql, key)} ORDER BY p.inner_index ${lock ? sql`FOR UPDATE` : sql``}`
}

/** The rows of payments whose key is a transaction hash. */
export async function readRowsOf(sql: Sql, keys: readonly PaymentKey[]): Promise<{ id: number; txHash: Hash }[]> {
  const hashes = keys.flatMap((key) => ('txHash' in key ? [key.txHash] : []))
  if (hashes.length === 0) return []
  return await sql<{ id: number; txHash: Hash }[]>`
    SELECT id, tx_hash AS "txHash" FROM payments WHERE tx_hash = ANY(${hashes}) ORDER BY inner_index`
}

/** The range of blocks in which value arrived without a transaction. It is one block, unless we could not read the states in between. */
export async function readResidueRange(
  sql: Sql,
  paymentId: number,
): Promise<{ fromBlock: number; toBlock: number } | null> {
  const [row] = await sql<{ fromBlock: number; toBlock: number }[]>`
    SELECT (evidence ->> 'fromBlock')::bigint AS "fromBlock", (evidence ->> 'toBlock')::bigint AS "toBlock"
    FROM payment_verdicts WHERE payment_id = ${paymentId} AND evidence ->> 'rule' = 'unattributed' ORDER BY id DESC LIMIT 1`
  return row ?? null
}

/**
 * Held payments of less than `belowWei`. Leaves out payments that already sold a node and wait for room in their wallet, and payments about to be
 * refunded.
 */
const isDust = (sql: Sql, belowWei: bigint) =>
  sql`state = 'held' AND value_wei < ${belowWei.toString()} AND reason NOT IN ('walletLimit', 'refunding')
    AND NOT ${mintMayCome(sql, sql`payments.ref`)}`

/** The number of held payments that are dust, and their sum. */
export async function sumDust(sql: Sql, belowWei: bigint): Promise<{ count: number; sumWei: bigint }> {
  const [row] = await sql<{ count: number; sumWei: bigint }[]>`
    SELECT count(*) AS count, coalesce(sum(value_wei), 0) AS "sumWei" FROM payments
    WHERE ${isDust(sql, belowWei)}`
  return row ?? { count: 0, sumWei: 0n }
}

/**
 * Dismisses held payments of less than `belowWei`, at most `limit` of them, each with a verdict. Skips payments that are locked (being decided or
 * reorganised out), because waiting for one lock while holding others risks a deadlock. @returns the dismissed payments.
 */
export async function dismissDust(
  sql: Sql,
  { belowWei, limit }: { belowWei: bigint; limit: number },
  { evidence, by }: { evidence: Evidence; by: string },
): Promise<{ count: number; sumWei: bigint }> {
  const [row] = await moveAndRead(
    sql,
    'dismiss',
    {
      chosen: sql`SELECT id FROM payments WHERE ${isDust(sql, belowWei)} ORDER BY value_wei, id LIMIT ${limit} FOR UPDATE SKIP LOCKED`,
      where: sql`p.id = c.id`,
      returning: sql`p.block_hash, p.from_address`,
      ofRow: sql`jsonb_build_object('heldFor', reason, 'blockHash', block_hash, 'from', from_address)`,
      evidence,
      by,
    },
    sql<{ count: number; sumWei: bigint }[]>`count(*) AS count, coalesce(sum(value_wei), 0) AS "sumWei"`,
  )
  return row ?? { count: 0, sumWei: 0n }
}
