// Refunds on record: which transaction proves that which payment was paid back. The operator's own wallet made it; nothing here
// sends. Until its block is final a reorganisation may take it back, and then the record goes too.
import type { PaymentState } from '../domain/transitions.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'
import { move } from './moves.ts'
import type { Sql } from './sql.ts'

export interface Refund {
  /** Of the payment that was paid back. */
  paymentRef: Hash
  txHash: Hash
  from: Address
  to: Address
  valueWei: Wei
  blockNumber: number
  blockHash: Hash
  final: boolean
  recordedBy: string
}

/**
 * Records a refund. One that is on record for this very payment is so again: it may have come anew since, in another block, and the
 * operator decides it anew. @returns false when the transaction proves another payment's refund, or the payment has another one.
 */
export async function insertRefund(sql: Sql, refund: Refund): Promise<boolean> {
  const { paymentRef, txHash, from, to, valueWei, blockNumber, blockHash, final, recordedBy } = refund
  const added = await sql`
    INSERT INTO refunds (payment_ref, tx_hash, from_address, to_address, value_wei, block_number, block_hash, final, recorded_by)
    VALUES (${paymentRef}, ${txHash}, ${from}, ${to}, ${valueWei.toString()}, ${blockNumber}, ${blockHash}, ${final}, ${recordedBy})
    ON CONFLICT DO NOTHING`
  if (added.count > 0) return true
  const known = await sql`SELECT FROM refunds WHERE payment_ref = ${paymentRef} AND tx_hash = ${txHash}`
  return known.count > 0
}

/** Refunds whose block was not final yet, newest first: on a chain that calls nothing final, only these may still be taken back. */
export async function readOpenRefunds(sql: Sql, limit: number): Promise<Refund[]> {
  return await sql<Refund[]>`
    SELECT payment_ref AS "paymentRef", tx_hash AS "txHash", from_address AS "from", to_address AS "to",
      value_wei AS "valueWei", block_number AS "blockNumber", block_hash AS "blockHash", final, recorded_by AS "recordedBy"
    FROM refunds WHERE NOT final ORDER BY block_number DESC LIMIT ${limit}`
}

/** Notes where a refund's transaction is now. */
export async function moveRefund(
  sql: Sql,
  txHash: Hash,
  at: { blockNumber: number; blockHash: Hash; final: boolean },
): Promise<void> {
  await sql`
    UPDATE refunds SET block_number = ${at.blockNumber}, block_hash = ${at.blockHash}, final = ${at.final}
    WHERE tx_hash = ${txHash}`
}

/**
 * Takes a refund back that is on the chain no more, and holds its payment `recheck`, whatever it was held for: the refund may yet come
 * back, so no pass may decide, as it would about one that waits for room in its wallet.
 * @returns the payment held again; null where it was not refunded (any more).
 */
export async function undoRefund(sql: Sql, refund: Refund): Promise<number | null> {
  const removed = await sql`DELETE FROM refunds WHERE tx_hash = ${refund.txHash} AND block_hash = ${refund.blockHash}`
  if (removed.count === 0) return null
  const [payment] = await sql<{ id: number; state: PaymentState }[]>`
    SELECT id, state FROM payments WHERE ref = ${refund.paymentRef} FOR UPDATE`
  if (!payment) return null
  const strike = payment.state === 'orphaned' ? 'strikeOrphanedRefund' : 'strikeRefund'
  const evidence = { rule: 'refundGone', refundTxHash: refund.txHash }
  // By a name of its own: the operator's last word was that it is refunded, which must not stand again should the block come back.
  const moved = await move(sql, strike, { where: sql`p.id = ${payment.id}`, evidence, by: 'refundCheck' })
  return moved === 0 ? null : payment.id
}
