// The places of tiers: what is sold, what undecided payments reserve, and what a supply or the contract's cap leaves. Hold the tier's lock (lock-order.ts)
// while you count places and take one. We count the sizes of cohorts and the payments in flight, so the cost does not grow with the ledger.
import { PLACE_RESERVED_SEC } from '../../domain/judgement.ts'
import type { PaymentPosition } from '../../domain/sale/position.ts'
import { selectTier, type TierVersion, waitsForStep } from '../../domain/tiers.ts'
import type { Wei } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { readTierVersions } from '../sale/tiers.ts'

/** An undecided payment with its position on the chain. It reserves a place until it is old. */
export interface Undecided extends PaymentPosition {
  id: number
  proof: string | null
  isOld: boolean
}

/** The places of a tier that are taken. */
export interface TakenPlaces {
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
    WHERE live AND coalesce(supply, cap) IS NOT NULL AND tier_no = ANY(${[...tierNos]}::int[])`
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
): Promise<Map<number, TakenPlaces>> {
  if (tierNos?.length === 0) return new Map()
  const all = versions ?? (await readTierVersions(sql))
  const numbers = tierNos ?? [...new Set(all.map(({ tierNo }) => tierNo))]
  const undecidedGroups = await readUndecided(sql, all, numbers)
  const ids = [...undecidedGroups.values()].flat().map(({ id }) => id)
  const rows = await sql<{ tierNo: number; sold: number; gone: number[] }[]>`
    SELECT tier_no AS "tierNo", coalesce(sold, 0) AS sold,
      to_json(ARRAY(SELECT s.id FROM unnest(${ids}::bigint[]) s (id) WHERE NOT EXISTS (SELECT FROM payments p WHERE p.id = s.id AND p.state = 'seen'))) AS gone
    FROM unnest(${[...numbers]}::int[]) tier_no LEFT JOIN (${sql.unsafe(SALES)}) s USING (tier_no)`
  return new Map(
    rows.map(({ tierNo, sold, gone: decidedIds }) => {
      const still = (group: string) => (undecidedGroups.get(group) ?? []).filter(({ id }) => !decidedIds.includes(id))
      const [undecidedPayments, early] = [still(`${tierNo}`), still(`early ${tierNo}`)]
      return [
        tierNo,
        { sold, undecided: undecidedPayments, early, reserved: undecidedPayments.filter(({ isOld }) => !isOld).length },
      ]
    }),
  )
}

/** A tier that has a supply or a cap, or had one before, with its places. */
export interface LimitedTier extends TakenPlaces {
  tierNo: number
  /** Null if it has none now. */
  supply: number | null
}

/** Those of these tiers that are or were limited, by their numbers. The caller holds their locks. */
export async function readLimitedTiers(
  sql: Sql,
  tierNos: readonly number[],
  versions: readonly TierVersion[],
): Promise<Map<number, LimitedTier>> {
  const supplies = await readSupplies(sql, tierNos)
  const hadSupply = (no: number) => versions.some(({ tierNo, supply }) => tierNo === no && supply !== null)
  const limitedNos = tierNos.filter((no) => supplies.has(no) || hadSupply(no))
  const counts = [...(await countPlaces(sql, limitedNos, versions))]
  return new Map(
    counts.map(([tierNo, places]) => [tierNo, { ...places, tierNo, supply: supplies.get(tierNo) ?? null }]),
  )
}

/** A tier's places. The caller holds its lock. */
export const countPlacesOf = async (sql: Sql, tierNo: number): Promise<TakenPlaces> =>
  (await countPlaces(sql, [tierNo])).get(tierNo) ?? { sold: 0, undecided: [], early: [], reserved: 0 }

/** The undecided payments of each of these tiers: those whose amount selects the tier in their block, and those that are early for its step. */
async function readUndecided(
  sql: Sql,
  versions: readonly TierVersion[],
  tierNos: readonly number[],
): Promise<Map<string, Undecided[]>> {
  const prices = versions.filter(({ tierNo }) => tierNos.includes(tierNo)).map(({ priceWei }) => priceWei.toString())
  const payments = await sql<(Undecided & { valueWei: Wei; blockTime: number })[]>`
    SELECT id, proof, block_time <= to_timestamp((SELECT block_time FROM cursors WHERE name = 'follow') - ${PLACE_RESERVED_SEC}) AS "isOld", value_wei AS "valueWei", block_number AS "blockNumber", tx_index AS "txIndex", inner_index AS "innerIndex",
      floor(extract(epoch FROM block_time))::bigint AS "blockTime"
    FROM payments WHERE state = 'seen' AND succeeded AND value_wei = ANY(${prices}::numeric[])`
  return Map.groupBy(payments, (payment) => {
    const selection = selectTier(versions, payment)
    if (selection.kind === 'onSale') return `${selection.tier.tierNo}`
    return selection.kind !== 'none' && waitsForStep(selection, payment) !== null
      ? `early ${selection.tier.tierNo}`
      : ''
  })
}

/**
 * SQL: the latest version of every tier with what it has sold, the largest supply that both ledger and contract allow, and the state of its sale at
 * the followed block's time. The ledger's supply is the lower of the latest version's and of that in force at
 * the followed block, because a raise counts only from its block on. A supply lowered ahead may be below what is sold; then what is sold is shown.
 */
export function tiersNow(sql: Sql, places: ReadonlyMap<number, TakenPlaces>): Fragment {
  const of = [...places.values()]
  const [soldOf, reservedOf] = [of.map((tier) => tier.sold), of.map((tier) => tier.reserved)]
  return sql`SELECT t.*, sold, reserved, cap, least(own, cap) AS most,
    CASE WHEN cap <= coalesce(own, cap) THEN 'contract' WHEN own IS NOT NULL THEN 'operator' ELSE 'none' END AS "supplyBy",
    CASE WHEN NOT on_sale OR closes_at <= now THEN 'closed' WHEN opens_at > now OR (opens_after IS NOT NULL AND o.from_block IS NULL) THEN 'upcoming' WHEN sold >= least(own, cap) THEN 'soldOut' ELSE 'open' END AS state
  FROM tiers t JOIN unnest(${[...places.keys()]}::int[], ${soldOf}::int[], ${reservedOf}::int[]) s (tier_no, sold, reserved) USING (tier_no)
    LEFT JOIN tier_openings o USING (tier_id, opens_after)
    LEFT JOIN (${sql.unsafe(CAPS)}) c USING (tier_no) LEFT JOIN cursors f ON f.name = 'follow', coalesce(f.block_time, 0) now,
    least(supply, (SELECT v.supply FROM tiers v WHERE v.tier_id = t.tier_id AND v.from_block <= f.block_number
      ORDER BY v.from_time DESC, v.version DESC LIMIT 1)) lowest, LATERAL (SELECT CASE WHEN lowest IS NOT NULL THEN greatest(lowest, sold) END AS own) shown
  WHERE live`
}

/** A tier as it is now: what it has sold, and how much ledger and contract still allow; null for no limit. */
export interface TierNow {
  tierId: string
  onSale: boolean
  state: 'upcoming' | 'open' | 'soldOut' | 'closed'
  sold: number
  reserved: number
  supply: number | null
  cap: number | null
}

/** The latest version of every tier, as it is now. */
export async function readTiersNow(sql: Sql): Promise<TierNow[]> {
  return await sql<TierNow[]>`
    SELECT tier_id AS "tierId", on_sale AS "onSale", state, sold, reserved, supply, cap FROM (${tiersNow(sql, await countPlaces(sql))}) now
    ORDER BY tier_no`
}

/** Tiers whose last place is sold, by the ledger's supply or the contract's cap. */
export async function readSoldOut(sql: Sql): Promise<string[]> {
  const rows = await sql<{ tierId: string }[]>`
    SELECT tier_id AS "tierId" FROM (${tiersNow(sql, await countPlaces(sql))}) now WHERE sold >= most`
  return rows.map(({ tierId }) => tierId)
}

/** The numbers of the tiers with a free place. */
export async function readTiersWithRoom(sql: Sql, versions: readonly TierVersion[]): Promise<number[]> {
  const places = [...(await countPlaces(sql, undefined, versions))]
  const supplies = await readSupplies(
    sql,
    places.map(([tierNo]) => tierNo),
  )
  return places.flatMap(([tierNo, { sold }]) => (sold < (supplies.get(tierNo) ?? sold + 1) ? tierNo : []))
}
