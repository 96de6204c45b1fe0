// The operator's trends: what happened in each hour or day of a range. Each part uses an index on its time, so the cost depends on the range and not
// on the ledger's age. Hours that the ledger has not reached are null.
import type { Sql } from '../core/sql.ts'

interface TrendsAsked {
  /** The length of the range, which ends now. */
  hours: number
  by: 'hour' | 'day'
  /** The accounts that send; null if a key is not configured. */
  signers: { readonly minter: string | null; readonly distributor: string | null }
}

/** An hour or a day of the trends, as in api/admin.yaml. */
export interface TrendBin {
  startAt: string
  ledger: object | null
}

/**
 * The hours or days that a range touches, oldest first. If an account has only one role, the role shows what its transactions were for, even in a
 * rebuilt ledger. For any other account, the kind of the intent shows it.
 */
export async function readTrends(sql: Sql, { hours, by, signers }: TrendsAsked): Promise<TrendBin[]> {
  const unit = sql`${by}::text`
  const bin = (column: string) => sql`date_trunc(${unit}, ${sql.unsafe(column)}, 'UTC') AS bin`
  const since = sql`(SELECT since FROM span)`
  return sql<TrendBin[]>`
    WITH head AS (SELECT (SELECT to_timestamp(block_time) FROM cursors WHERE name = 'follow') AS at),
    span AS (SELECT date_trunc(${unit}, until - make_interval(hours => ${hours}::int), 'UTC') AS since, until
      FROM (SELECT greatest(clock_timestamp(), at) AS until FROM head) now),
    paid AS (
      SELECT ${bin('block_time')}, ${standing(sql, 'minted')} AS sold, ${standing(sql, 'held')} AS held,
        ${standing(sql, 'refunded')} AS refunded, ${standing(sql, 'dismissed')} AS dismissed
      FROM payments WHERE state <> 'ignored' AND block_time >= ${since} GROUP BY 1),
    made AS (SELECT ${bin('minted_at')}, count(*) AS nodes FROM nodes WHERE minted_at >= ${since} GROUP BY 1),
    credited AS (
      SELECT ${bin('created_at')}, json_build_object('count', count(*), 'valueWei', sum(total_wei)::text) AS rounds
      FROM rounds WHERE node_count > 0 AND created_at >= ${since} GROUP BY 1),
    sent AS (
      SELECT ${bin('block_time')}, fee_wei, gas_used, ${purposeOf(sql, signers)} AS purpose
      FROM outbox WHERE block_time IS NOT NULL AND block_time >= ${since} AND tx_hash IS NOT NULL),
    spent AS (
      SELECT bin, ${gasFor(sql, 'mint')} AS mint, ${gasFor(sql, 'round')} AS round, ${gasFor(sql, 'other')} AS other FROM sent GROUP BY bin)
    SELECT iso(bin) AS "startAt",
      CASE WHEN bin <= (SELECT at FROM head) THEN json_build_object(
        'sold', coalesce(sold, ${NO_PAYMENTS}::text::json), 'held', coalesce(held, ${NO_PAYMENTS}::text::json),
        'refunded', coalesce(refunded, ${NO_PAYMENTS}::text::json), 'dismissed', coalesce(dismissed, ${NO_PAYMENTS}::text::json),
        'nodes', coalesce(nodes, 0), 'rounds', coalesce(rounds, ${NO_PAYMENTS}::text::json),
        'mintGas', coalesce(mint, ${NO_GAS}::text::json), 'roundGas', coalesce(round, ${NO_GAS}::text::json), 'otherGas', coalesce(other, ${NO_GAS}::text::json)) END AS ledger
    FROM generate_series((SELECT since FROM span), (SELECT until FROM span), ('1 ' || ${unit})::interval) AS bin
    LEFT JOIN paid USING (bin) LEFT JOIN made USING (bin) LEFT JOIN credited USING (bin) LEFT JOIN spent USING (bin)
    ORDER BY bin`
}

const NO_PAYMENTS = '{"count": 0, "valueWei": "0"}'
const NO_GAS = '{"transactions": 0, "gasUsed": 0, "feeWei": "0"}'

const standing = (sql: Sql, state: string) =>
  sql`json_build_object('count', count(*) FILTER (WHERE state = ${state}),
    'valueWei', coalesce(sum(value_wei) FILTER (WHERE state = ${state}), 0)::text)`

/** An authorization has no fee of its own; the transaction that carried it paid. */
const gasFor = (sql: Sql, purpose: string) =>
  sql`json_build_object('transactions', count(*) FILTER (WHERE purpose = ${purpose}),
    'gasUsed', coalesce(sum(gas_used) FILTER (WHERE purpose = ${purpose}), 0),
    'feeWei', coalesce(sum(fee_wei) FILTER (WHERE purpose = ${purpose}), 0)::text)`

function purposeOf(sql: Sql, { minter, distributor }: TrendsAsked['signers']) {
  const byKind = sql`CASE WHEN kind IN ('mint', 'openCohorts') THEN 'mint' WHEN kind = 'credit' THEN 'round' ELSE 'other' END`
  if (minter === distributor) return byKind
  return sql`CASE sender WHEN ${minter ?? ''} THEN 'mint' WHEN ${distributor ?? ''} THEN 'round' ELSE ${byKind} END`
}
