// The operator's terms: tiers with their versions, and the credit terms with the time from which they hold. Rows are
// added, never changed, so that what was in force at any block can always be told.
import type { CreditTerms } from '../domain/credit.ts'
import type { TierVersion } from '../domain/tiers.ts'
import type { Sql } from './sql.ts'

/** A tier as it is entered. */
export type TierInput = Omit<TierVersion, 'version'> & { holdingSymbol: string | null; holdingDecimals: number | null }

/** Every version of every tier. There are as many as the operator ever entered: few. */
export async function readTierVersions(sql: Sql): Promise<TierVersion[]> {
  return await sql<TierVersion[]>`
    SELECT tier_id AS "tierId", version, tier_no AS "tierNo", label, price_wei AS "priceWei",
      max_per_wallet AS "maxPerWallet", holding_wei AS "holdingWei", holding_token AS "holdingToken",
      payout_bps AS "payoutBps", on_sale AS "onSale", from_block AS "fromBlock", from_time AS "fromTime"
    FROM tiers ORDER BY tier_no, version`
}

/** A version of a tier with everything that was entered. Times are ISO 8601. */
export interface TierRow extends TierVersion, Pick<TierInput, 'holdingSymbol' | 'holdingDecimals'> {
  /** The tier's latest version, on sale or not. */
  live: boolean
  enteredAt: string
  enteredBy: string
}

/** Every version of every tier with who entered it when, by tier number and version. */
export async function readTierHistory(sql: Sql): Promise<TierRow[]> {
  return await sql<TierRow[]>`
    SELECT tier_id AS "tierId", version, tier_no AS "tierNo", label, price_wei AS "priceWei",
      max_per_wallet AS "maxPerWallet", holding_wei AS "holdingWei", holding_token AS "holdingToken",
      holding_symbol AS "holdingSymbol", holding_decimals AS "holdingDecimals", payout_bps AS "payoutBps",
      on_sale AS "onSale", live, from_block AS "fromBlock", from_time AS "fromTime", iso(entered_at) AS "enteredAt",
      entered_by AS "enteredBy"
    FROM tiers ORDER BY tier_no, version`
}

/** Enters a tier's next version (its first, where it is new). The database refuses a price that another tier on sale has. */
export async function insertTierVersion(sql: Sql, tier: TierInput, enteredBy: string): Promise<void> {
  await sql`UPDATE tiers SET live = false WHERE tier_id = ${tier.tierId} AND live`
  await sql`
    INSERT INTO tiers (tier_id, version, tier_no, label, price_wei, max_per_wallet, holding_wei, holding_token, holding_symbol,
      holding_decimals, payout_bps, on_sale, from_block, from_time, entered_by)
    VALUES (${tier.tierId}, (SELECT coalesce(max(version), 0) + 1 FROM tiers WHERE tier_id = ${tier.tierId}), ${tier.tierNo},
      ${tier.label}, ${tier.priceWei.toString()}, ${tier.maxPerWallet}, ${tier.holdingWei.toString()}, ${tier.holdingToken},
      ${tier.holdingSymbol}, ${tier.holdingDecimals}, ${tier.payoutBps}, ${tier.onSale}, ${tier.fromBlock},
      ${tier.fromTime}, ${enteredBy})`
}

/** All credit terms, oldest first. */
export async function readCreditTerms(sql: Sql): Promise<CreditTerms[]> {
  return await sql<CreditTerms[]>`
    SELECT from_time AS "fromTime", min_wei AS "minWei", max_wei AS "maxWei", interval_sec AS "intervalSec",
      slot_sec AS "slotSec"
    FROM credit_terms ORDER BY from_time`
}

/** Enters credit terms that hold from `fromTime` on, unless the latest ones say the same. @returns whether a row was added. */
export async function enterCreditTerms(sql: Sql, terms: CreditTerms): Promise<boolean> {
  await sql`LOCK TABLE credit_terms IN SHARE ROW EXCLUSIVE MODE`
  const latest = (await readCreditTerms(sql)).at(-1)
  const same =
    latest &&
    latest.minWei === terms.minWei &&
    latest.maxWei === terms.maxWei &&
    latest.intervalSec === terms.intervalSec &&
    latest.slotSec === terms.slotSec
  if (same) return false
  const fromTime = latest ? Math.max(terms.fromTime, latest.fromTime + 1) : terms.fromTime
  await sql`
    INSERT INTO credit_terms (from_time, min_wei, max_wei, interval_sec, slot_sec)
    VALUES (${fromTime}, ${terms.minWei.toString()}, ${terms.maxWei.toString()}, ${terms.intervalSec}, ${terms.slotSec})`
  return true
}
