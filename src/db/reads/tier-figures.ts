// Reads what the nodes of a tier really got: of the turns that were due in the last thirty days, as the contract paid them. Read from each cohort's
// newest turns, so that the cost does not grow with the ledger's age.
import type { Fragment, Sql } from '../core/sql.ts'

const DAYS = 30
/** The newest turns of a cohort that are read: a turn an hour for thirty days. */
const TURNS_MAX = 720

/**
 * GET /api/tiers/:id/figures. Null where there is no such tier. Medians are of nodes: a turn of a cohort counts as often as it was paid. A
 * credit for several turns counts as so many of its average. In dollars by the price of the hour in which a turn was due; null where one of
 * those is not known.
 */
export async function readTierFigures(sql: Sql, tierId: string): Promise<string | null> {
  const [row] = await sql<{ json: string }[]>`
    WITH tier AS (SELECT tier_id, tier_no FROM tiers WHERE live AND tier_id = ${tierId}),
    head AS (SELECT coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0) AS time),
    mine AS MATERIALIZED (SELECT cohort, size, next_due FROM cohorts WHERE tier_no = (SELECT tier_no FROM tier)),
    newest AS MATERIALIZED (
      SELECT t.* FROM mine CROSS JOIN LATERAL (
        SELECT cohort, due, turns, amount_wei, node_count FROM turns
        WHERE turns.cohort = mine.cohort AND due > (SELECT time FROM head) - ${DAYS * 86_400}::bigint
        ORDER BY due DESC LIMIT ${sql.unsafe(String(TURNS_MAX))}) t),
    since AS (
      SELECT greatest((SELECT time FROM head) - ${DAYS * 86_400}::bigint, max(oldest)) AS time
      FROM (SELECT min(due) AS oldest FROM newest GROUP BY cohort HAVING count(*) = ${TURNS_MAX}) cut),
    paid AS MATERIALIZED (
      SELECT cohort, turns, node_count, amount_wei, div(amount_wei, turns) AS wei, turns * node_count::bigint AS weight,
        (amount_wei / 1000000000000000000)::float8 * usd AS usd, date_trunc('day', to_timestamp(due), 'UTC') AS day
      FROM newest LEFT JOIN price_history ON hour = date_trunc('hour', to_timestamp(due), 'UTC')
      WHERE node_count > 0 AND due >= (SELECT time FROM since)),
    by_turn AS (
      SELECT wei, usd / turns AS usd, sum(weight) OVER (ORDER BY wei) AS upto, sum(weight) OVER () AS total,
        bool_and(usd IS NOT NULL) OVER () AS is_priced FROM paid),
    by_day AS (
      SELECT day, sum(amount_wei) AS wei, max(node_count) AS nodes, CASE WHEN bool_and(usd IS NOT NULL) THEN sum(usd) END AS usd
      FROM paid
      WHERE day >= to_timestamp((SELECT time FROM since)) AND day + interval '1 day' <= to_timestamp((SELECT time FROM head))
      GROUP BY cohort, day),
    placed AS (
      SELECT *, sum(nodes) OVER (ORDER BY wei) AS upto, sum(nodes) OVER () AS total,
        sum(nodes) OVER (PARTITION BY day ORDER BY wei) AS of_day_upto, sum(nodes) OVER (PARTITION BY day) AS of_day,
        bool_and(usd IS NOT NULL) OVER () AS is_priced, bool_and(usd IS NOT NULL) OVER (PARTITION BY day) AS is_day_priced
      FROM by_day)
    SELECT row_to_json(a)::text AS json FROM (
      SELECT tier_id AS "tierId", (SELECT coalesce(sum(size), 0) FROM mine) AS "nodeCount",
        (SELECT iso(to_timestamp(min(next_due))) FROM mine WHERE size > 0) AS "nextRoundAt",
        (SELECT iso(to_timestamp(time)) FROM since) AS since,
        (SELECT row_to_json(x) FROM (
          SELECT ${spread(sql, sql`upto * 2 >= total`, sql`is_priced`)}, max(total) AS credits
          FROM by_turn HAVING count(*) > 0) x) AS turn,
        (SELECT row_to_json(x) FROM (
          SELECT ${spread(sql, sql`upto * 2 >= total`, sql`is_priced`)}
          FROM placed HAVING count(*) > 0) x) AS day,
        array_to_json(ARRAY(SELECT row_to_json(x) FROM (
          SELECT iso(day) AS "dayAt", ${spread(sql, sql`of_day_upto * 2 >= of_day`, sql`is_day_priced`)}, max(of_day) AS "nodeCount"
          FROM placed GROUP BY day ORDER BY day) x)) AS days
      FROM tier) a`
  return row?.json ?? null
}

/** The lowest, the median and the highest amount: the median is the lowest of the rows for which `upperHalf` holds. In dollars only where all have a price. */
function spread(sql: Sql, upperHalf: Fragment, isPriced: Fragment) {
  return sql`min(wei)::text AS "lowWei", (min(wei) FILTER (WHERE ${upperHalf}))::text AS "medianWei", max(wei)::text AS "highWei",
    CASE WHEN bool_and(${isPriced}) THEN (array_agg(usd ORDER BY wei, usd) FILTER (WHERE ${upperHalf}))[1] END AS "medianUsd"`
}
