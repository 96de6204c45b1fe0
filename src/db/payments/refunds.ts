// Recorded refunds and commissions, each with the transaction that proves it. The operator's own wallet sent that transaction; nothing here sends.
// Until its block is final a reorganisation may remove the transaction, and the record with it.
import type { Evidence, HoldReason } from '../../domain/judgement.ts'
import type { PaymentState } from '../../domain/transitions.ts'
import type { Address, Hash, Wei } from '../../domain/units.ts'
import { type Fragment, jsonRows, type Sql } from '../core/sql.ts'
import { isSpent } from './inner.ts'
import { byVerdict, move, moveAndRead } from './moves.ts'
import { readLastWord, type Word } from './recheck.ts'

/** A transfer that the operator made, and what it proves: the refund of a payment, or a commission. */
export interface Refund {
  /** Ref of the refunded payment; null for a commission. */
  paymentRef: Hash | null
  /** The referral code whose payee was paid; null for a refund. */
  commissionOf: string | null
  txHash: Hash
  /** Position among the transaction's inner transfers to the recipient, from 1; 0 for the transaction's own transfer. */
  innerIndex: number
  from: Address
  to: Address
  valueWei: Wei
  blockNumber: number
  blockHash: Hash
  final: boolean
  recordedBy: string
}

/**
 * Records a refund or a commission. Accepts one that is already recorded, because the operator may decide again after the payment returned in another
 * block.
 * @returns false if the transfer already proves something else, or if the payment has another refund.
 */
export async function insertRefund(sql: Sql, refund: Refund): Promise<boolean> {
  const { paymentRef, commissionOf, txHash, from, to, blockNumber, blockHash } = refund
  const insertion = await sql`
    INSERT INTO refunds (payment_ref, commission_of, tx_hash, inner_index, from_address, to_address, value_wei, block_number, block_hash, final, recorded_by)
    VALUES (${paymentRef}, ${commissionOf}, ${txHash}, ${refund.innerIndex}, ${from}, ${to}, ${refund.valueWei.toString()},
      ${blockNumber}, ${blockHash}, ${refund.final}, ${refund.recordedBy})
    ON CONFLICT DO NOTHING`
  if (insertion.count > 0) return true
  const sameRefunds = await sql`
    SELECT FROM refunds WHERE tx_hash = ${txHash}
      AND (payment_ref = ${paymentRef} OR (commission_of = ${commissionOf} AND ${isTransfer(sql, refund)}))`
  return sameRefunds.count > 0
}

/** The recorded refunds and commissions that a transaction made to one recipient. */
export async function readRefundsBy(
  sql: Sql,
  txHash: Hash,
  to: Address,
): Promise<Pick<Refund, 'paymentRef' | 'commissionOf' | 'innerIndex' | 'valueWei'>[]> {
  return await sql<Pick<Refund, 'paymentRef' | 'commissionOf' | 'innerIndex' | 'valueWei'>[]>`
    SELECT payment_ref AS "paymentRef", commission_of AS "commissionOf", inner_index AS "innerIndex", value_wei AS "valueWei"
    FROM refunds WHERE tx_hash = ${txHash} AND to_address = ${to} ORDER BY inner_index`
}

/** The rows of the log for files that refund the payment of a ref: a condition on `audit`. A ref survives a rebuild; a row id does not. */
export const isRefundFileOf = (sql: Sql, ref: Fragment | Hash): Fragment =>
  sql`action = 'refundFileMade' AND detail -> 'after' ->> 'ref' = ${ref}`

/**
 * When the operator first made a file that refunds a payment, ISO 8601, from the audit log; null if never.
 */
export async function readFirstFile(sql: Sql, ref: Hash): Promise<string | null> {
  const [row] = await sql<{ at: string | null }[]>`
    SELECT iso(min(at)) AS at FROM audit WHERE ${isRefundFileOf(sql, ref)}`
  return row?.at ?? null
}

/** A payment that is held for a reason, or whose refund is prepared after it was held for that reason. */
export interface HeldPayment {
  id: number
  valueWei: Wei
  isPrepared: boolean
  /** When it was paid: the time of its block, ISO 8601. */
  paidAt: string
  /** How many such payments there are, beyond the limit too. */
  total: number
}

/**
 * Payments in blocks before a time that are held for a reason, or whose refund is prepared after that. Leaves out refunds that a file pays, unless
 * asked for them `again`. What no earlier act has prepared or filed comes first, then the oldest, so that each act gets further. What an act always
 * refuses comes last, so that it never hides the others.
 */
export async function readHeldBefore(
  sql: Sql,
  { heldFor, before, again }: { heldFor: HoldReason; before: number; again: boolean },
  limit: number,
): Promise<HeldPayment[]> {
  const filedAt = sql`(SELECT max(at) FROM audit WHERE ${isRefundFileOf(sql, sql`p.ref`)})`
  return await sql<HeldPayment[]>`
    SELECT id, value_wei AS "valueWei", reason = 'refunding' AS "isPrepared", iso(block_time) AS "paidAt", count(*) OVER () AS total FROM payments p
    WHERE state = 'held' AND block_time < to_timestamp(${before}) AND (reason = ${heldFor} OR reason = 'refunding'
      AND (SELECT v.evidence ->> 'heldFor' FROM standing_verdicts v WHERE v.payment_id = p.id ORDER BY v.id DESC LIMIT 1) = ${heldFor}
      AND (${again} OR ${filedAt} IS NULL))
    ORDER BY ${isRefused(sql)}, reason = 'refunding', ${filedAt} NULLS FIRST, block_number, id LIMIT ${limit}`
}

/** SQL: true for a payment `p` whose node was expelled, or whose value is partly spent. */
const isRefused = (sql: Sql) =>
  sql`(${isSpent(sql)} OR EXISTS (SELECT FROM nodes n WHERE n.payment_id = p.id AND n.cohort IS NULL))`

/** Marks as final the refunds in followed blocks up to a final height. */
export async function finalizeRefunds(sql: Sql, upTo: number): Promise<void> {
  await sql`
    UPDATE refunds r SET final = true FROM blocks b
    WHERE NOT r.final AND r.block_number <= ${upTo} AND b.number = r.block_number AND b.hash = r.block_hash`
}

/** Marks refunds above a height as not final again, because the ledger rewinds to it. */
export async function reopenRefunds(sql: Sql, height: number): Promise<void> {
  await sql`UPDATE refunds SET final = false WHERE final AND block_number > ${height}`
}

/** True if a reorganisation may still remove a recorded refund. */
export async function hasOpenRefunds(sql: Sql): Promise<boolean> {
  return (await sql`SELECT FROM refunds WHERE NOT final LIMIT 1`).count > 0
}

/**
 * Refunds that are not final and whose block is not the followed one at its height, newest first. Either the block was reorganised out, or its header
 * is no longer stored. For a refund in a followed block we need no provider.
 */
export async function readDoubtfulRefunds(sql: Sql, upTo: number, limit: number): Promise<Refund[]> {
  return await sql<Refund[]>`
    SELECT r.payment_ref AS "paymentRef", r.commission_of AS "commissionOf", r.tx_hash AS "txHash", r.inner_index AS "innerIndex", r.from_address AS "from", r.to_address AS "to",
      r.value_wei AS "valueWei", r.block_number AS "blockNumber", r.block_hash AS "blockHash", r.final, r.recorded_by AS "recordedBy"
    FROM refunds r LEFT JOIN blocks b ON b.number = r.block_number
    WHERE NOT r.final AND r.block_number <= ${upTo} AND b.hash IS DISTINCT FROM r.block_hash ORDER BY r.block_number DESC LIMIT ${limit}`
}

const isTransfer = (sql: Sql, { txHash, to, innerIndex }: Refund) =>
  sql`tx_hash = ${txHash} AND to_address = ${to} AND inner_index = ${innerIndex}`

/** Records the block in which a refund is now. */
export async function moveRefund(
  sql: Sql,
  refund: Refund,
  at: { blockNumber: number; blockHash: Hash; final: boolean },
): Promise<void> {
  await sql`
    UPDATE refunds SET block_number = ${at.blockNumber}, block_hash = ${at.blockHash}, final = ${at.final}
    WHERE ${isTransfer(sql, refund)}`
}

/**
 * Removes a refund that is no longer on the chain, and holds its payment as `recheck`, whatever it was held for before. The refund may still return,
 * so no pass may decide about the payment, not even if it had waited for room in its wallet. A removed commission is due again. @returns true if
 * anything was undone.
 */
export async function undoRefund(sql: Sql, refund: Refund): Promise<boolean> {
  const [payment] = await sql<{ id: number; state: PaymentState }[]>`
    SELECT id, state FROM payments WHERE ref = ${refund.paymentRef} FOR UPDATE`
  const deletion = await sql`
    DELETE FROM refunds WHERE ${isTransfer(sql, refund)} AND block_hash = ${refund.blockHash}`
  if (deletion.count === 0 || refund.paymentRef === null) return deletion.count > 0
  if (!payment) return false
  if (payment.state === 'minted') {
    // The payment keeps its node. If it ever loses that node, it must return to its state before the refund.
    await withdrawVerdict(sql, { paymentId: payment.id, verdict: 'refunded', by: 'refundCheck' })
    return true
  }
  const strike = payment.state === 'orphaned' ? 'strikeOrphanedRefund' : 'strikeRefund'
  const evidence = { rule: 'refundGone', refundTxHash: refund.txHash }
  // The author is not `pass`, because this verdict must replace the operator's refund, which must not apply again if the block returns.
  const movedCount = await move(sql, strike, { where: sql`p.id = ${payment.id}`, evidence, by: 'refundCheck' })
  return movedCount > 0
}

/**
 * When the last signed mint with this ref expires. Counts mints by any signing key and with any outcome, because a reorganisation may take a mint out
 * of its block again. Unix seconds; null if none can be executed after `since`, a block time.
 */
export async function readSignedUntil(sql: Sql, ref: Hash, since: number): Promise<number | null> {
  const [row] = await sql<{ until: number | null }[]>`
    SELECT max(valid_until) AS until FROM outbox
    WHERE kind = 'mint' AND valid_until >= ${since} AND call -> 'orders' @> ${jsonRows([{ ref }])}::text::jsonb`
  return row?.until ?? null
}

/**
 * Withdraws the verdict that a payment is about to be refunded. @returns that verdict's evidence, which records the former state, or null; and the
 * operator's last decision that is still in force, or null.
 */
export async function withdrawRefunding(
  sql: Sql,
  paymentId: number,
  by: string,
): Promise<{ before: Evidence | null; word: Word | null }> {
  const before = await withdrawVerdict(sql, { paymentId, verdict: 'held', reason: 'refunding', by })
  return { before, word: await readLastWord(sql, paymentId) }
}

/** Withdraws a payment's verdicts of one kind. @returns the evidence; null if there was none. */
async function withdrawVerdict(
  sql: Sql,
  { paymentId, verdict, reason, by }: { paymentId: number; verdict: 'held' | 'refunded'; reason?: string; by: string },
): Promise<Evidence | null> {
  const [withdrawn] = await sql<{ evidence: Evidence }[]>`
    UPDATE payment_verdicts SET withdrawn_at = now(), withdrawn_by = ${by}
    WHERE payment_id = ${paymentId} AND verdict = ${verdict} AND withdrawn_at IS NULL
      ${reason === undefined ? sql`` : sql`AND reason = ${reason}`} RETURNING evidence`
  return withdrawn?.evidence ?? null
}

/** Moves a payment that will not be refunded after all. It must be locked. @returns its new state. */
export async function moveFromRefunding(sql: Sql, paymentId: number, { verdict, reason }: Word): Promise<Word> {
  // An unjudged payment has no tier.
  const tier = verdict === 'seen' ? { set: sql`tier_id = NULL, tier_version = NULL` } : {}
  const change = {
    where: sql`p.id = ${paymentId}`,
    ...byVerdict(sql, { tierId: sql`p.tier_id`, verdict: sql`${verdict}::text`, reason: sql`${reason}::text` }),
    ...tier,
    returning: sql`p.state`,
  }
  const [decision] = await moveAndRead(sql, 'cancelRefund', change, sql<Word[]>`state AS verdict, reason`)
  return decision ?? Promise.reject(new Error(`payment ${paymentId} cannot return from refunding to ${verdict}`))
}

/** True if the transaction that mints a payment is in no followed block. */
export async function isIntentPending(sql: Sql, paymentId: number): Promise<boolean> {
  const rows = await sql`
    SELECT FROM outbox WHERE id = (SELECT outbox_id FROM payments WHERE id = ${paymentId}) AND state = 'pending'`
  return rows.length > 0
}

/** A payment that was refunded or is about to be. `refundTxHash` is null while no refund is recorded. */
export interface RefundedPayment {
  ref: Hash
  refundTxHash: Hash | null
  valueWei: Wei
}

/** Refunds above a height. A rewind will remove them, so read them before it. */
export async function readRefundedAbove(sql: Sql, height: number): Promise<RefundedPayment[]> {
  return await sql<RefundedPayment[]>`
    SELECT p.ref, r.tx_hash AS "refundTxHash", p.value_wei AS "valueWei"
    FROM payments p LEFT JOIN refunds r ON r.payment_ref = p.ref
    WHERE p.block_number > ${height} AND (r.tx_hash IS NOT NULL OR p.state = 'held' AND p.reason = 'refunding') ORDER BY p.id`
}
