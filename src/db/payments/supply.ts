// The places of a tier with a supply: what is sold, what undecided payments reserve, and who waits for a place. Hold the tier's lock (lock-order.ts) while you
// count places and take one. We count the sizes of cohorts and the payments in flight, so the cost does not grow with the
// ledger.
import { PLACE_RESERVED_SEC } from '../../domain/payment.ts'
import { selectTier, type TierVersion, waitsForStep } from '../../domain/tiers.ts'
import type { Wei } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { readTierVersions } from '../sale/tiers.ts'

/** An undecided payment with its position on the chain. It reserves a place until it is old. */
export interface Undecided {
  id: number
  blockNumber: number
  txIndex: number
  innerIndex: number
  proof: string | null
  isOld: boolean
}

/** The places of a tier that are taken. */
export interface Places {
  /** How many nodes there are, whatever their origin, and payments accepted or being minted. */
  sold: number
  undecided: Undecided[]
  /** Undecided payments that came before the tier's step opened. They may take places once it opens, and reserve none before. */
  early: Undecided[]
  /** How many places undecided payments reserve. */
  reserved: number
}

/**
 * SQL: how many nodes and payments in flight each tier has. An expelled node keeps its place until its payment is refunded. A payment about to be
 * refunded keeps its place if a mint was signed for it, because that mint may still be executed.
 */
const SALES = `SELECT tier_no, sum(places)::int AS sold FROM (
    SELECT tier_no, size AS places FROM cohorts
    UNION ALL SELECT c.tier_no, 1 FROM expulsions e JOIN cohorts c USING (cohort) JOIN payments p ON p.node_id = e.node_id
      WHERE p.state = 'minted' AND NOT EXISTS (SELECT FROM refunds r WHERE r.payment_ref = p.ref)
    UNION ALL SELECT t.tier_no, 1 FROM (
      SELECT tier_id, tier_version FROM payments WHERE state IN ('accepted', 'minting')
      UNION ALL SELECT tier_id, tier_version FROM payments WHERE state = 'held' AND reason = 'refunding' AND outbox_id IS NOT NULL) p
      JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version) places GROUP BY tier_no`

/** SQL: the contract's cap of each tier that has one, from the events that we followed. A cap can only be lowered. */
export const CAPS = `SELECT (detail ->> 'tier')::int AS tier_no, min((detail ->> 'most')::bigint) AS cap FROM owner_acts
  WHERE name = 'TierCapped' GROUP BY 1`

/**
 * The lower of the supply and the contract's cap of each of these tiers, if the tier has one of them now. If read under the tier's lock, the supply
 * cannot change until the transaction ends.
 */
export async function readSupplies(sql: Sql, tierNos: readonly number[]): Promise<Map<number, number>> {
  if (tierNos.length === 0) return new Map()
  const rows = await sql<{ tierNo: number; supply: number }[]>`
    SELECT tier_no AS "tierNo", least(supply, cap)::bigint AS supply FROM tiers LEFT JOIN (${sql.unsafe(CAPS)}) c USING (tier_no)
    WHERE live AND least(supply, cap) IS NOT NULL AND tier_no = ANY(${[...tierNos]}::int[])`
  return new Map(rows.map(({ tierNo, supply }) => [tierNo, supply]))
}

/**
 * Counts the places of these tiers (by default all), by their numbers. Only followed events count, because a call shows one provider's word. Undecided
 * payments are read first, and count if they are still undecided when we count what is sold. So a payment decided meanwhile counts once.
 */
export async function countPlaces(
  sql: Sql,
  tierNos?: readonly number[],
  versions?: readonly TierVersion[],
): Promise<Map<number, Places>> {
  if (tierNos?.length === 0) return new Map()
  const all = versions ?? (await readTierVersions(sql))
  const wanted = tierNos ?? [...new Set(all.map(({ tierNo }) => tierNo))]
  const seen = await readUndecided(sql, all, wanted)
  const ids = [...seen.values()].flat().map(({ id }) => id)
  const rows = await sql<{ tierNo: number; sold: number; gone: number[] }[]>`
    SELECT tier_no AS "tierNo", coalesce(sold, 0) AS sold,
      to_json(ARRAY(SELECT s.id FROM unnest(${ids}::bigint[]) s (id) WHERE NOT EXISTS (SELECT FROM payments p WHERE p.id = s.id AND p.state = 'seen'))) AS gone
    FROM unnest(${[...wanted]}::int[]) tier_no LEFT JOIN (${sql.unsafe(SALES)}) s USING (tier_no)`
  return new Map(
    rows.map(({ tierNo, sold, gone }) => {
      const still = (group: string) => (seen.get(group) ?? []).filter(({ id }) => !gone.includes(id))
      const [undecided, early] = [still(`${tierNo}`), still(`early ${tierNo}`)]
      return [tierNo, { sold, undecided, early, reserved: undecided.filter(({ isOld }) => !isOld).length }]
    }),
  )
}

/** A tier's places. The caller holds its lock. */
export const countPlacesOf = async (sql: Sql, tierNo: number): Promise<Places> =>
  (await countPlaces(sql, [tierNo])).get(tierNo) ?? { sold: 0, undecided: [], early: [], reserved: 0 }

/** The undecided payments of each of these tiers: those whose amount selects the tier in their block, and those that are early for its step. */
async function readUndecided(
  sql: Sql,
  versions: readonly TierVersion[],
  tierNos: readonly number[],
): Promise<Map<string, Undecided[]>> {
  const prices = versions.filter(({ tierNo }) => tierNos.includes(tierNo)).map(({ priceWei }) => priceWei.toString())
  const seen = await sql<(Undecided & { valueWei: Wei; blockTime: number })[]>`
    SELECT id, proof, block_time <= to_timestamp((SELECT block_time FROM cursors WHERE name = 'follow') - ${PLACE_RESERVED_SEC}) AS "isOld", value_wei AS "valueWei", block_number AS "blockNumber", tx_index AS "txIndex", inner_index AS "innerIndex",
      floor(extract(epoch FROM block_time))::bigint AS "blockTime"
    FROM payments WHERE state = 'seen' AND succeeded AND value_wei = ANY(${prices}::numeric[])`
  return Map.groupBy(seen, (payment) => {
    const selection = selectTier(versions, payment)
    if (selection.kind === 'onSale') return `${selection.tier.tierNo}`
    return selection.kind !== 'none' && waitsForStep(selection, payment) !== null
      ? `early ${selection.tier.tierNo}`
      : ''
  })
}

/** For how long a payment that came too late may still get a freed place, seconds of block time. */
const WAITS_FOR_PLACE_SEC = 86_400

/**
 * True for a payment `p`, held for want of a place in a tier `t`, that gets a free place automatically. Either the operator released it, or it is recent,
 * its tier is on sale, the operator has not decided about it, and its payer has got nothing but recorded commissions since. Anything else may have
 * been its ether, so a person decides.
 */
export const waitsForPlace = (sql: Sql, tierNos: readonly number[]): Fragment =>
  sql`t.tier_no = ANY(${[...tierNos]}::int[]) AND ${mayStillBuy(sql)}`

/**
 * True for a payment `p`, held as `notOpenYet` in a tier `t`, if its step was open in its block after all: the payment that took the last place before
 * the step was accepted long after its block. The conditions of a free place apply.
 */
export function waitsForOpening(sql: Sql): Fragment {
  return sql`EXISTS (SELECT FROM tier_openings o
      WHERE o.tier_id = t.tier_id AND o.opens_after = t.opens_after AND o.from_block <= p.block_number)
    AND (to_timestamp(t.opens_at) <= p.block_time) IS NOT FALSE AND ${mayStillBuy(sql)}`
}

/** True for a held payment `p` that takes a place of its tier without a decision, once there is one. */
export function mayStillBuy(sql: Sql): Fragment {
  const now = sql`(SELECT block_time FROM cursors WHERE name = 'follow')`
  // With EXISTS the database may read all verdicts into a hash table.
  return sql`CASE
    WHEN (SELECT true FROM payment_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' LIMIT 1) THEN
      (SELECT verdict FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' ORDER BY id DESC LIMIT 1) = 'accepted'
    ELSE p.block_time > to_timestamp(${now} - ${WAITS_FOR_PLACE_SEC})
      AND EXISTS (SELECT FROM tiers l LEFT JOIN tier_openings s USING (tier_id, opens_after) WHERE l.tier_id = p.tier_id AND l.live AND l.on_sale
        AND (l.opens_at <= ${now}) IS NOT FALSE AND (l.closes_at > ${now}) IS NOT FALSE AND (l.opens_after IS NULL OR s.from_block IS NOT NULL))
      AND NOT EXISTS (SELECT FROM wallet_outflows o WHERE o.to_address = p.from_address AND o.value_wei > 0 AND o.block_number >= p.block_number
        GROUP BY o.tx_hash, o.value_wei HAVING count(*) > (SELECT count(*) FROM refunds f
          WHERE f.commission_of IS NOT NULL AND (f.tx_hash, f.to_address, f.value_wei) = (o.tx_hash, p.from_address, o.value_wei))) END`
}
