// Which held payments still get a place in their tier without a decision: those that came too late, and those that came before their step opened.
// Each function is a condition in SQL on a payment `p` in its tier's version `t`.
import type { Fragment, Sql } from '../core/sql.ts'

/** For how long a payment that came too late may still get a freed place, seconds of block time. */
const WAITS_FOR_PLACE_SEC = 86_400

/** True for a payment, held for want of a place in one of these tiers, that gets a free place automatically. */
export const waitsForPlace = (sql: Sql, tierNos: readonly number[]): Fragment =>
  sql`t.tier_no = ANY(${[...tierNos]}::int[]) AND ${mayStillBuy(sql)}`

/**
 * True for a payment, held as `notOpenYet`, if its step was open at its place after all: the payment that took the last place before the step was
 * accepted long after its block. The conditions of a free place apply.
 */
export function waitsForOpening(sql: Sql): Fragment {
  return sql`EXISTS (SELECT FROM tier_openings o
      WHERE o.tier_id = t.tier_id AND o.opens_after = t.opens_after AND (o.from_block, o.tx_index, o.inner_index) < (p.block_number, p.tx_index, p.inner_index))
    AND (to_timestamp(t.opens_at) <= p.block_time) IS NOT FALSE AND ${mayStillBuy(sql)}`
}

/**
 * True for a held payment that takes a place of its tier without a decision, once there is one. If the operator ever decided about it, the last
 * decision must be a release. Otherwise it must be recent, its tier must be selling, and its ether must not have gone back.
 */
export function mayStillBuy(sql: Sql): Fragment {
  // With EXISTS the database may read all verdicts into a hash table.
  const isDecided = sql`(SELECT true FROM payment_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' LIMIT 1)`
  const isReleased = sql`(SELECT verdict FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' ORDER BY id DESC LIMIT 1) = 'accepted'`
  const isRecent = sql`p.block_time > to_timestamp(${now(sql)} - ${WAITS_FOR_PLACE_SEC})`
  return sql`CASE WHEN ${isDecided} THEN ${isReleased} ELSE ${isRecent} AND ${isSelling(sql)} AND NOT ${mayBePaidBack(sql)} END`
}

const now = (sql: Sql): Fragment => sql`(SELECT block_time FROM cursors WHERE name = 'follow')`

/** True if the latest version of the payment's tier is on sale and open. */
function isSelling(sql: Sql): Fragment {
  return sql`EXISTS (SELECT FROM tiers l LEFT JOIN tier_openings s USING (tier_id, opens_after) WHERE l.tier_id = p.tier_id AND l.live AND l.on_sale
    AND (l.opens_at <= ${now(sql)}) IS NOT FALSE AND (l.closes_at > ${now(sql)}) IS NOT FALSE
    AND (l.opens_after IS NULL OR s.from_block IS NOT NULL))`
}

/** True if the payer has got ether since that no recorded commission explains. It may have been the payment's, so a person decides. */
function mayBePaidBack(sql: Sql): Fragment {
  const commissions = sql`(SELECT count(*) FROM refunds f
    WHERE f.commission_of IS NOT NULL AND (f.tx_hash, f.to_address, f.value_wei) = (o.tx_hash, p.from_address, o.value_wei))`
  return sql`EXISTS (
    SELECT FROM wallet_outflows o WHERE o.to_address = p.from_address AND o.value_wei > 0 AND o.block_number >= p.block_number
    GROUP BY o.tx_hash, o.value_wei HAVING count(*) > ${commissions})`
}
