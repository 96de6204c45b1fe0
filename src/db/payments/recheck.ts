// The recheck block of a ledger that was restored from a backup or rebuilt. A payment without a node may have been refunded in the part that was
// lost, so the service must not mint it automatically. Up to the block noted here, the operator decides about such payments.
import type { PaymentState } from '../../domain/transitions.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'
import { readState } from '../core/state.ts'
import { move } from './moves.ts'

/** The recheck block; null if the ledger was never restored. */
export const readRecheck = (sql: Sql): Promise<number | null> => readState(sql, 'recheck_up_to')

/** Raises the recheck block; nothing lowers it automatically. @returns false if it was already that high. */
export async function raiseRecheck(sql: Sql, block: number): Promise<boolean> {
  const update =
    await sql`UPDATE ledger_state SET recheck_up_to = ${block} WHERE coalesce(recheck_up_to, -1) < ${block}`
  return update.count > 0
}

/** An operator's decision on a payment. */
export interface Word {
  verdict: PaymentState
  reason: string | null
}

/** The operator's last decision on a payment, leaving out withdrawn decisions; null if there is none. */
export async function readLastWord(sql: Sql, paymentId: number): Promise<Word | null> {
  const [word] = await sql<Word[]>`
    SELECT verdict, reason FROM standing_verdicts WHERE payment_id = ${paymentId} AND decided_by <> 'pass'
    ORDER BY id DESC LIMIT 1`
  return word ?? null
}

/** SQL: true if the operator has decided about a payment `p`. */
export const decidedByHand = (sql: Sql) =>
  sql`EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')`

/** The operator's last decision on each of these payments, leaving out withdrawn decisions. */
export async function readLastVerdicts(sql: Sql, paymentIds: readonly number[]): Promise<Map<number, PaymentState>> {
  if (paymentIds.length === 0) return new Map()
  const rows = await sql<{ id: number; verdict: PaymentState }[]>`
    SELECT asked.id, v.verdict FROM unnest(${[...paymentIds]}::bigint[]) AS asked(id) CROSS JOIN LATERAL (
      SELECT verdict FROM standing_verdicts WHERE payment_id = asked.id AND decided_by <> 'pass' ORDER BY id DESC LIMIT 1) v`
  return new Map(rows.map(({ id, verdict }) => [id, verdict]))
}

/** True if the operator's last decision accepted a payment. Then only the contract's cap can delay it. */
export async function isReleased(sql: Sql, paymentId: number): Promise<boolean> {
  return (await readLastWord(sql, paymentId))?.verdict === 'accepted'
}

/**
 * Holds unminted payments at or below the block that a pass had accepted. Payments being minted stay as they are: their transaction is stored and may
 * be on chain, so following settles them. @returns how many.
 */
export async function holdForRecheck(sql: Sql, upToBlock: number): Promise<number> {
  return await move(sql, 'recheck', {
    where: sql`p.block_number <= ${upToBlock}
      AND NOT ${decidedByHand(sql)}`,
    evidence: { rule: 'recheck', recheckUpTo: upToBlock },
    by: 'pass',
  })
}

/**
 * How many of these mints went to the wallet that paid, for a payment that the ledger has not judged, or has no tier for at its amount. A lost part may
 * have judged it, or had the price.
 */
export async function countUnexplained(sql: Sql, mints: readonly { ref: Hash; owner: Address }[]): Promise<number> {
  if (mints.length === 0) return 0
  const [row] = await sql<{ unexplained: number }[]>`
    SELECT count(*) AS unexplained FROM jsonb_to_recordset(${jsonRows(mints)}::text::jsonb) AS r(ref text, owner text)
    JOIN payments p ON p.ref = r.ref AND p.from_address = r.owner
    WHERE p.state = 'seen' OR (p.state = 'held' AND p.reason = 'wrongAmount')`
  return row?.unexplained ?? 0
}

/** Number and sum of the payments at or below a block that would wait for the operator's decision if we raised the recheck block to it. */
export async function countUnminted(sql: Sql, upToBlock: number): Promise<{ payments: number; wei: bigint }> {
  const [row] = await sql<{ payments: number; wei: bigint }[]>`
    SELECT count(*) AS payments, coalesce(sum(value_wei), 0) AS wei FROM payments p
    WHERE p.state IN ('seen', 'accepted') AND p.block_number <= ${upToBlock}
      AND NOT ${decidedByHand(sql)}`
  return row ?? { payments: 0, wei: 0n }
}
