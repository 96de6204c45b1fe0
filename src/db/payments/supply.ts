// The places of a tier with a supply: what is sold, what undecided payments reserve, and who waits for a place. Hold the tier's lock (lock-order.ts) while you
// count places and take one. We count the sizes of cohorts and the payments in flight, so the cost does not grow with the
// ledger.
import { PLACE_RESERVED_SEC } from '../../domain/payment.ts'
import { selectTier, type TierVersion } from '../../domain/tiers.ts'
import type { Wei } from '../../domain/units.ts'
import { readCursor } from '../blocks/blocks.ts'
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

/** What a tier has sold, and its undecided payments. */
export interface TierSales {
  /** How many nodes there are, whatever their origin, and payments accepted or being minted. */
  sold: number
  undecided: Undecided[]
}

/**
 * SQL: how many nodes and payments in flight each tier has. An expelled node keeps its place until its payment is refunded. A payment about to be
 * refunded keeps its place if a mint was signed for it, because that mint may still be executed.
 */
export const SALES = `SELECT tier_no, sum(nodes)::int AS nodes, sum(under_way)::int AS under_way FROM (
    SELECT tier_no, size AS nodes, 0 AS under_way FROM cohorts
    UNION ALL SELECT c.tier_no, 1, 0 FROM expulsions e JOIN cohorts c USING (cohort) JOIN payments p ON p.node_id = e.node_id
      WHERE p.state = 'minted' AND NOT EXISTS (SELECT FROM refunds r WHERE r.payment_ref = p.ref)
    UNION ALL SELECT t.tier_no, 0, 1 FROM (
      SELECT tier_id, tier_version FROM payments WHERE state IN ('accepted', 'minting')
      UNION ALL SELECT tier_id, tier_version FROM payments WHERE state = 'held' AND reason = 'refunding' AND outbox_id IS NOT NULL) p
      JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version) places GROUP BY tier_no`

/** What each tier has sold, by its number. */
export async function readSold(sql: Sql): Promise<Map<number, number>> {
  const rows = await sql<{ tierNo: number; sold: number }[]>`
    SELECT tier_no AS "tierNo", nodes + under_way AS sold FROM (${sql.unsafe(SALES)}) s`
  return new Map(rows.map(({ tierNo, sold }) => [tierNo, sold]))
}

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
 * Counts the places of tiers. `onContract`: the contract's node count of each tier at the followed block, which we use if the ledger has fewer. A
 * payment whose block is older than `reservedSince` no longer reserves a place.
 */
export async function readTierSales(
  sql: Sql,
  onContract: ReadonlyMap<number, number>,
  versions: readonly TierVersion[],
  reservedSince: number,
): Promise<Map<number, TierSales>> {
  if (onContract.size === 0) return new Map()
  const counted = await sql<{ tierNo: number; nodes: number; underWay: number }[]>`
    SELECT tier_no AS "tierNo", nodes, under_way AS "underWay" FROM (${sql.unsafe(SALES)}) s`
  const ofTiers = await readUndecided(sql, versions, { tierNos: [...onContract.keys()], reservedSince })
  return new Map(
    [...onContract].map(([tierNo, minted]) => {
      const { nodes, underWay } = counted.find((row) => row.tierNo === tierNo) ?? { nodes: 0, underWay: 0 }
      return [tierNo, { sold: Math.max(nodes, minted) + underWay, undecided: ofTiers.get(tierNo) ?? [] }]
    }),
  )
}

/** The undecided payments of each of these tiers: those whose amount selects the tier in their block. */
async function readUndecided(
  sql: Sql,
  versions: readonly TierVersion[],
  { tierNos, reservedSince }: { tierNos: readonly number[]; reservedSince: number },
): Promise<Map<number | null, Undecided[]>> {
  const prices = versions.filter(({ tierNo }) => tierNos.includes(tierNo)).map(({ priceWei }) => priceWei.toString())
  const seen = await sql<(Undecided & { valueWei: Wei; blockTime: number })[]>`
    SELECT id, proof, block_time <= to_timestamp(${reservedSince}) AS "isOld", value_wei AS "valueWei", block_number AS "blockNumber", tx_index AS "txIndex", inner_index AS "innerIndex",
      floor(extract(epoch FROM block_time))::bigint AS "blockTime"
    FROM payments WHERE state = 'seen' AND succeeded AND value_wei = ANY(${prices}::numeric[])`
  return Map.groupBy(seen, (payment) => {
    const selection = selectTier(versions, payment)
    return selection.kind === 'onSale' ? selection.tier.tierNo : null
  })
}

/** The payments that reserve a place now, each with its tier's number at the same position. */
export interface Reserving {
  ids: number[]
  tierNos: number[]
}

export async function readReserving(sql: Sql): Promise<Reserving> {
  const [versions, since] = [await readTierVersions(sql), await readReservedSince(sql)]
  const tierNos = [...new Set(versions.map(({ tierNo }) => tierNo))]
  const undecided = await readUndecided(sql, versions, { tierNos, reservedSince: since })
  const found = tierNos.flatMap((tierNo) =>
    (undecided.get(tierNo) ?? []).flatMap(({ id, isOld }) => (isOld ? [] : { id, tierNo })),
  )
  return { ids: found.map(({ id }) => id), tierNos: found.map(({ tierNo }) => tierNo) }
}

/** How many of these payments reserve a place of tier `now.tier_no`. A payment that was decided since they were read counts as sold, or not at all. */
export function reservedOf(sql: Sql, { ids, tierNos }: Reserving): Fragment {
  return sql`(SELECT count(*)::int FROM unnest(${ids}::bigint[], ${tierNos}::int[]) r (id, tier_no) JOIN payments p ON p.id = r.id
    WHERE r.tier_no = now.tier_no AND p.state = 'seen')`
}

const readReservedSince = async (sql: Sql): Promise<number> => ((await readCursor(sql))?.time ?? 0) - PLACE_RESERVED_SEC

/** How many nodes a tier has sold according to the ledger, and how many undecided payments reserve a place. The caller holds the tier's lock. */
export async function countSales(sql: Sql, tierNo: number): Promise<{ sold: number; reserved: number }> {
  const since = await readReservedSince(sql)
  const sales = await readTierSales(sql, new Map([[tierNo, 0]]), await readTierVersions(sql), since)
  const { sold = 0, undecided = [] } = sales.get(tierNo) ?? {}
  return { sold, reserved: undecided.filter(({ isOld }) => !isOld).length }
}

/** For how long a payment that came too late may still get a freed place, seconds of block time. */
const WAITS_FOR_PLACE_SEC = 86_400

/**
 * True for a payment `p`, held for want of a place in a tier `t`, that gets a free place automatically. Either the operator released it, or it is recent,
 * its tier is on sale, the operator has not decided about it, and its payer has got nothing but recorded commissions since. Anything else may have
 * been its ether, so a person decides.
 */
export function waitsForPlace(sql: Sql, { tierNos, now }: { tierNos: readonly number[]; now: number }): Fragment {
  return sql`t.tier_no = ANY(${[...tierNos]}::int[]) AND ${mayStillBuy(sql, now)}`
}

/**
 * True for a payment `p`, held as `notOpenYet` in a tier `t`, if its step was open in its block after all: the payment that took the last place before
 * the step was accepted long after its block. The conditions of a free place apply.
 */
export function waitsForOpening(sql: Sql, now: number): Fragment {
  return sql`EXISTS (SELECT FROM tier_openings o
      WHERE o.tier_id = t.tier_id AND o.opens_after = t.opens_after AND o.from_block <= p.block_number)
    AND (to_timestamp(t.opens_at) <= p.block_time) IS NOT FALSE AND ${mayStillBuy(sql, now)}`
}

function mayStillBuy(sql: Sql, now: number): Fragment {
  // With EXISTS the database may read all verdicts into a hash table.
  return sql`CASE
    WHEN (SELECT true FROM payment_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' LIMIT 1) THEN
      (SELECT verdict FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass' ORDER BY id DESC LIMIT 1) = 'accepted'
    ELSE p.block_time > to_timestamp(${now - WAITS_FOR_PLACE_SEC})
      AND EXISTS (SELECT FROM tiers l LEFT JOIN tier_openings s USING (tier_id, opens_after) WHERE l.tier_id = p.tier_id AND l.live AND l.on_sale
        AND (l.opens_at <= ${now}) IS NOT FALSE AND (l.closes_at > ${now}) IS NOT FALSE AND (l.opens_after IS NULL OR s.from_block IS NOT NULL))
      AND NOT EXISTS (SELECT FROM wallet_outflows o WHERE o.to_address = p.from_address AND o.value_wei > 0 AND o.block_number >= p.block_number
        GROUP BY o.tx_hash, o.value_wei HAVING count(*) > (SELECT count(*) FROM refunds f
          WHERE f.commission_of IS NOT NULL AND (f.tx_hash, f.to_address, f.value_wei) = (o.tx_hash, p.from_address, o.value_wei))) END`
}
