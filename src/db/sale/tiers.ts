// The operator's tiers with their versions. Rows are added, never changed, so the version in force at any block stays known.
import type { Place } from '../../domain/sale/place.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { Sql } from '../core/sql.ts'

/** The input of a tier's version. */
export type TierInput = Omit<TierVersion, 'version' | 'opened'> & {
  holdingSymbol: string | null
  holdingDecimals: number | null
}

/** A version of a tier with all its inputs. Times are ISO 8601. */
export interface TierRow extends TierVersion, Pick<TierInput, 'holdingSymbol' | 'holdingDecimals'> {
  /** True for the tier's latest version, on sale or not. */
  live: boolean
  enteredAt: string
  enteredBy: string
}

/** Every version of every tier, with who entered it and when, by tier number and version. There are few. */
export async function readTierVersions(sql: Sql): Promise<TierRow[]> {
  return await sql<TierRow[]>`
    SELECT tier_id AS "tierId", version, tier_no AS "tierNo", label, price_wei AS "priceWei",
      max_per_wallet AS "maxPerWallet", holding_wei AS "holdingWei", holding_token AS "holdingToken",
      holding_symbol AS "holdingSymbol", holding_decimals AS "holdingDecimals", payout_bps AS "payoutBps",
      on_sale AS "onSale", grace_sec AS "graceSec", holding_retry_sec AS "holdingRetrySec", supply, opens_at AS "opensAt", closes_at AS "closesAt",
      opens_after AS "opensAfter", CASE WHEN o.from_block IS NOT NULL THEN jsonb_build_object('blockNumber', o.from_block, 'txIndex', o.tx_index, 'innerIndex', o.inner_index) END AS opened, allowlist, live, t.from_block AS "fromBlock", from_time AS "fromTime", iso(entered_at) AS "enteredAt",
      entered_by AS "enteredBy"
    FROM tiers t LEFT JOIN tier_openings o USING (tier_id, opens_after) ORDER BY tier_no, version`
}

/**
 * Notifies all instances if a tier opens or closes in a period of block time (after the first time, up to the second). Its row does not change then.
 */
export async function tellOpenings(sql: Sql, { after, upTo }: { after: number; upTo: number }): Promise<void> {
  await sql`
    SELECT pg_notify('ledger', '') FROM tiers WHERE live
      AND (opens_at > ${after} AND opens_at <= ${upTo} OR closes_at > ${after} AND closes_at <= ${upTo}) LIMIT 1`
}

/** Enters a tier's next version (the first if the tier is new). The database rejects a price that another tier on sale has. */
export async function insertTierVersion(sql: Sql, tier: TierInput, enteredBy: string): Promise<void> {
  await sql`UPDATE tiers SET live = false WHERE tier_id = ${tier.tierId} AND live`
  await sql`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, holding_wei, holding_token, holding_symbol,
      holding_decimals, payout_bps, on_sale, grace_sec, holding_retry_sec, supply, opens_at, closes_at, opens_after, allowlist, from_block, from_time, entered_by)
    VALUES (${tier.tierId}, (SELECT coalesce(max(version), 0) + 1 FROM tiers WHERE tier_id = ${tier.tierId}), ${tier.tierNo},
      ${tier.label}, ${tier.priceWei.toString()}, ${tier.maxPerWallet}, ${tier.holdingWei.toString()}, ${tier.holdingToken},
      ${tier.holdingSymbol}, ${tier.holdingDecimals}, ${tier.payoutBps}, ${tier.onSale}, ${tier.graceSec}, ${tier.holdingRetrySec},
      ${tier.supply}, ${tier.opensAt}, ${tier.closesAt}, ${tier.opensAfter}, ${tier.allowlist},
      ${tier.fromBlock}, ${tier.fromTime}, ${enteredBy})`
}

/** Opens the steps that wait until this tier is sold out, behind the payment that took its last place. Open steps stay open. */
export async function openSteps(
  sql: Sql,
  tierId: string,
  { blockNumber, txIndex, innerIndex }: Place,
): Promise<string[]> {
  const opened = await sql<{ tierId: string }[]>`
    INSERT INTO tier_openings (tier_id, opens_after, from_block, tx_index, inner_index)
    SELECT tier_id, opens_after, ${blockNumber}, ${txIndex}, ${innerIndex} FROM tiers WHERE live AND opens_after = ${tierId}
    ON CONFLICT DO NOTHING RETURNING tier_id AS "tierId"`
  return opened.map((row) => row.tierId)
}

/** Where the last payment is, in the order of the chain, that took one of the tier's places. Only for a tier that has sold a place. */
export async function readLastSale(sql: Sql, tierId: string): Promise<Place> {
  const [row] = await sql<Place[]>`
    SELECT block_number AS "blockNumber", tx_index AS "txIndex", inner_index AS "innerIndex" FROM payments
    WHERE tier_id = ${tierId} AND state IN ('accepted', 'minting', 'minted') ORDER BY 1 DESC, 2 DESC, 3 DESC LIMIT 1`
  return row ?? Promise.reject(new Error(`no payment took a place of ${tierId}`))
}

/** The numbers of the tiers that must sell out before a waiting step opens. */
export async function readAwaited(sql: Sql): Promise<number[]> {
  const rows = await sql<{ tierNo: number }[]>`
    SELECT DISTINCT before.tier_no AS "tierNo" FROM tiers t JOIN tiers before ON before.live AND before.tier_id = t.opens_after
    WHERE t.live AND NOT EXISTS (SELECT FROM tier_openings o WHERE o.tier_id = t.tier_id AND o.opens_after = t.opens_after)`
  return rows.map(({ tierNo }) => tierNo)
}

/** Closes the steps that opened above a height, because the payments that opened them are gone. */
export async function rewindOpenings(sql: Sql, height: number): Promise<void> {
  await sql`DELETE FROM tier_openings WHERE from_block > ${height}`
}
