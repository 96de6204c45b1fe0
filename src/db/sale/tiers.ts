// The operator's tiers: their versions, and the changes that are entered ahead. A version is never changed. A planned change is a row without a first
// block; the follower gives it that block, and the terms that it does not name, when its time comes (follower/tier-changes.ts).
import {
  PLAN_AHEAD_SEC,
  type PlannedChange,
  type StoredVersion,
  type TermName,
  type TierTerms,
  termsOf,
} from '../../domain/sale/changes.ts'
import type { PaymentPosition } from '../../domain/sale/position.ts'
import { toJson } from '../../lib/json.ts'
import type { Fragment, Sql } from '../core/sql.ts'

/** The input of a tier's version. */
export type TierInput = TierTerms & Pick<StoredVersion, 'fromBlock' | 'fromTime'>

/** A version of a tier with all its inputs. */
export interface TierRow extends StoredVersion {
  /** True for the tier's latest version, on sale or not. */
  live: boolean
  enteredBy: string
}
export type TierPlan = PlannedChange<TierRow>

const columns = (sql: Sql): Fragment => sql`
  tier_id AS "tierId", version, tier_no AS "tierNo", label, price_wei AS "priceWei", max_per_wallet AS "maxPerWallet", holding_wei AS "holdingWei",
  holding_token AS "holdingToken", holding_symbol AS "holdingSymbol", holding_decimals AS "holdingDecimals", payout_bps AS "payoutBps",
  on_sale AS "onSale", grace_sec AS "graceSec", holding_retry_sec AS "holdingRetrySec", supply, opens_at AS "opensAt", closes_at AS "closesAt",
  opens_after AS "opensAfter", allowlist, live, t.from_block AS "fromBlock", from_time AS "fromTime", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy",
  CASE WHEN o.from_block IS NOT NULL THEN
    jsonb_build_object('blockNumber', o.from_block, 'txIndex', o.tx_index, 'innerIndex', o.inner_index) END AS opened`

/** Every version of every tier, with who entered it and when, by tier number and in the order in which they took effect. There are few. */
export async function readTierVersions(sql: Sql): Promise<TierRow[]> {
  return await sql<TierRow[]>`
    SELECT ${columns(sql)} FROM tiers t LEFT JOIN tier_openings o USING (tier_id, opens_after)
    WHERE t.from_block IS NOT NULL ORDER BY tier_no, from_time, version`
}

/**
 * The planned changes with a time after this one, by default after the followed block's. Leaves out those of a key or passkey that was revoked while
 * they could still be cancelled: later, another change may have relied on them. A plan that stays without a first block did not take effect.
 */
export async function readTierPlans(sql: Sql, afterTime: number | null = null): Promise<TierPlan[]> {
  return await sql<TierPlan[]>`
    SELECT ${columns(sql)}, to_json(names) AS names FROM tiers t LEFT JOIN tier_openings o USING (tier_id, opens_after)
    WHERE t.from_block IS NULL AND NOT cancelled AND from_time > coalesce(${afterTime}::bigint, (SELECT block_time FROM cursors WHERE name = 'follow'), 0)
      AND NOT EXISTS (SELECT FROM admin_keys WHERE digest = made_with AND revoked_at <= ${lastMoment(sql)})
      AND NOT EXISTS (SELECT FROM passkeys WHERE sha256(credential_id) = made_with AND revoked_at <= ${lastMoment(sql)})
    ORDER BY from_time, entered_at, version`
}

/** Until then a planned change can be cancelled. */
const lastMoment = (sql: Sql) => sql`to_timestamp(t.from_time - ${PLAN_AHEAD_SEC}::int)`

/**
 * Notifies all instances if a tier opens or closes in a period of block time (after the first time, up to the second). Its row does not change then.
 */
export async function tellOpenings(sql: Sql, { after, upTo }: { after: number; upTo: number }): Promise<void> {
  await sql`
    SELECT pg_notify('ledger', '') FROM tiers WHERE live
      AND (opens_at > ${after} AND opens_at <= ${upTo} OR closes_at > ${after} AND closes_at <= ${upTo}) LIMIT 1`
}

/** Blocks the entry of tiers until the transaction ends. Reads continue. Taken before the cursor (lock-order.ts). */
export const lockTierTable = async (sql: Sql): Promise<void> =>
  void (await sql`LOCK TABLE tiers IN SHARE ROW EXCLUSIVE MODE`)

/** Enters a tier's next version (the first if the tier is new). */
export async function insertTierVersion(sql: Sql, tier: TierInput, enteredBy: string): Promise<void> {
  const { fromBlock, fromTime } = tier
  await insertTier(sql, tier, { fromBlock, fromTime, enteredBy })
  await setLive(sql, [tier.tierId])
}

/** Enters a planned change with the key of this digest, or on the command line if it is null. @returns its number. */
export async function insertTierPlan(
  sql: Sql,
  plan: TierTerms & { fromTime: number; names: readonly TermName[]; keyDigest: string | null },
  enteredBy: string,
): Promise<number> {
  const { keyDigest, fromTime, names } = plan
  const madeWith = keyDigest && `\\x${keyDigest}`
  return await insertTier(sql, plan, { fromBlock: null, fromTime, names, madeWith, enteredBy })
}

/** Inserts the terms of a tier, and nothing else that `terms` may carry, with further columns. */
async function insertTier(
  sql: Sql,
  terms: TierTerms,
  further: { readonly [column: string]: unknown },
): Promise<number> {
  const row = { ...termsOf(terms), ...further }
  const [numbering] = await sql<{ version: number }[]>`
    INSERT INTO tiers (version, live, entered_at, ${sql.unsafe(namesOf(row))})
    SELECT (SELECT coalesce(max(version), 0) + 1 FROM tiers WHERE tier_id = ${row.tierId}), false, clock_timestamp(), ${sql.unsafe(namesOf(row))}
    FROM jsonb_populate_record(NULL::tiers, ${rowOf(row)}::text::jsonb) RETURNING version`
  return numbering?.version ?? Promise.reject(new Error('an inserted tier came back without its row'))
}

/** Cancels a planned change. Its row stays, so that no other change gets its number. */
export async function cancelTierPlan(
  sql: Sql,
  { tierId, version }: Pick<TierPlan, 'tierId' | 'version'>,
): Promise<void> {
  await sql`UPDATE tiers SET cancelled = true WHERE tier_id = ${tierId} AND version = ${version} AND from_block IS NULL`
}

/** Gives planned changes their first blocks, and the terms to which they resolve. */
export async function storeTierChanges(
  sql: Sql,
  changes: readonly (TierTerms & Pick<StoredVersion, 'version' | 'fromBlock'>)[],
): Promise<void> {
  for (const { tierId, version, ...terms } of changes) {
    const names = sql.unsafe(namesOf(terms))
    await sql`
      UPDATE tiers SET (${names}) = (SELECT ${names} FROM jsonb_populate_record(NULL::tiers, ${rowOf(terms)}::text::jsonb))
      WHERE tier_id = ${tierId} AND version = ${version}`
  }
  await setLive(
    sql,
    changes.map(({ tierId }) => tierId),
  )
}

/** A version or a planned change, with its first block; null if a planned change has not begun. */
export type FirstBlock = Pick<StoredVersion, 'tierId' | 'version' | 'fromTime'> & { fromBlock: number | null }

/** The versions and planned changes that have not begun up to the followed block. */
export async function readNotBegun(sql: Sql, followed: { number: number; time: number } | null): Promise<FirstBlock[]> {
  return await sql<FirstBlock[]>`
    SELECT tier_id AS "tierId", version, from_block AS "fromBlock", from_time AS "fromTime" FROM tiers
    WHERE from_block > ${followed?.number ?? -1} OR (from_block IS NULL AND NOT cancelled AND from_time > ${followed?.time ?? 0})`
}

/** Gives versions that have not begun another first block. A planned change gets its own with its terms. */
export async function moveFirstBlocks(sql: Sql, versions: readonly FirstBlock[]): Promise<void> {
  for (const { tierId, version, fromBlock } of versions)
    await sql`
      UPDATE tiers SET from_block = ${fromBlock} WHERE tier_id = ${tierId} AND version = ${version} AND from_block IS NOT NULL`
}

/** Takes their first blocks above a height from planned changes, because times of other blocks may differ. */
export async function rewindTierChanges(sql: Sql, height: number): Promise<void> {
  const undone = await sql<{ tierId: string }[]>`
    UPDATE tiers SET from_block = NULL, live = false WHERE names IS NOT NULL AND from_block > ${height} RETURNING tier_id AS "tierId"`
  await setLive(
    sql,
    undone.map(({ tierId }) => tierId),
  )
}

/** Marks the latest version of each of these tiers, and no other. */
async function setLive(sql: Sql, tierIds: readonly string[]): Promise<void> {
  if (tierIds.length === 0) return
  await sql`UPDATE tiers SET live = false WHERE live AND tier_id = ANY(${[...tierIds]})`
  await sql`
    UPDATE tiers SET live = true WHERE (tier_id, version) IN (
      SELECT DISTINCT ON (tier_id) tier_id, version FROM tiers WHERE from_block IS NOT NULL AND tier_id = ANY(${[...tierIds]})
      ORDER BY tier_id, from_time DESC, version DESC)`
}

const columnOf = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const namesOf = (row: object) => Object.keys(row).map(columnOf).join(', ')
const rowOf = (row: object) =>
  toJson(Object.fromEntries(Object.entries(row).map(([name, value]) => [columnOf(name), value])))

/** Opens the steps that wait until this tier is sold out, behind the payment that took its last place. Open steps stay open. */
export async function openSteps(
  sql: Sql,
  tierId: string,
  { blockNumber, txIndex, innerIndex }: PaymentPosition,
): Promise<string[]> {
  const rows = await sql<{ tierId: string }[]>`
    INSERT INTO tier_openings (tier_id, opens_after, from_block, tx_index, inner_index)
    SELECT tier_id, opens_after, ${blockNumber}, ${txIndex}, ${innerIndex} FROM tiers WHERE live AND opens_after = ${tierId}
    ON CONFLICT DO NOTHING RETURNING tier_id AS "tierId"`
  return rows.map((row) => row.tierId)
}

/** Where the last payment is, in the order of the chain, that took one of the tier's places. Only for a tier that has sold a place. */
export async function readLastSale(sql: Sql, tierId: string): Promise<PaymentPosition> {
  const [row] = await sql<PaymentPosition[]>`
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
