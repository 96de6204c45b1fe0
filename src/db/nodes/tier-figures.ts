// What the nodes of a tier really got: of the turns that were due today and in the thirty days before, as the contract paid them. A pass
// works it out and keeps it, so that a read costs one row. Kept figures are void once a turn or a price has changed, which triggers count
// (migrations/0001_schema.sql): then a read works them out itself.
import type { Fragment, Sql } from '../core/sql.ts'

const DAYS = 30
/** The newest turns of a cohort that are read: a turn an hour for thirty days and today. */
const TURNS_MAX = (DAYS + 1) * 24

/** Whose figures, and on which day: that of the followed block, counted from 1970-01-01 in UTC. */
interface Wanted {
  tierNo: number
  day: number
}

/** The day of the followed block. */
const today = (sql: Sql) =>
  sql`(SELECT coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0) / 86400)::int`
const isCurrent = (sql: Sql) => sql`f.day = ${today(sql)} AND f.changes = (SELECT changes FROM tier_figures_basis)`

/**
 * GET /api/tiers/:id/figures. Null where there is no such tier. Medians are of nodes: a turn of a cohort counts as often as it was paid. A
 * credit for several turns counts as so many of its average. In dollars by the price of the hour in which a turn was due; null where one of
 * those is not known.
 */
export async function readTierFigures(sql: Sql, tierId: string): Promise<string | null> {
  const [row] = await sql<(Wanted & { cohorts: string; kept: string | null })[]>`
    SELECT t.tier_no AS "tierNo", ${today(sql)} AS day, f.figures::text AS kept, (
      SELECT row_to_json(a)::text FROM (
        SELECT t.tier_id AS "tierId", coalesce(sum(size), 0) AS "nodeCount", iso(to_timestamp(min(next_due) FILTER (WHERE size > 0))) AS "nextRoundAt"
        FROM cohorts WHERE tier_no = t.tier_no) a) AS cohorts
    FROM tiers t LEFT JOIN tier_figures f ON f.tier_no = t.tier_no AND ${isCurrent(sql)}
    WHERE t.live AND t.tier_id = ${tierId}`
  if (!row) return null
  const figures = row.kept ?? (await computeFigures(sql, row))
  return `${row.cohorts.slice(0, -1)},${figures.slice(1)}`
}

/** Tiers whose figures nobody has kept, or that are void by now. */
export async function readTiersToKeep(sql: Sql): Promise<Wanted[]> {
  return await sql<Wanted[]>`
    SELECT t.tier_no AS "tierNo", ${today(sql)} AS day
    FROM tiers t LEFT JOIN tier_figures f ON f.tier_no = t.tier_no AND ${isCurrent(sql)}
    WHERE t.live AND f.tier_no IS NULL ORDER BY t.tier_no`
}

/** Works the figures of a tier out and keeps them. One statement: what they are worked out from, and its count of changes, are of one moment. */
export async function keepFigures(sql: Sql, wanted: Wanted): Promise<void> {
  await sql`
    INSERT INTO tier_figures AS f (tier_no, changes, day, figures)
    SELECT ${wanted.tierNo}, changes, ${wanted.day}, (${figures(sql, wanted)}) FROM tier_figures_basis
    ON CONFLICT (tier_no) DO UPDATE SET changes = excluded.changes, day = excluded.day, figures = excluded.figures
    WHERE f.changes <= excluded.changes`
}

/** Numbers of the tiers whose kept figures differ from what their turns say. */
export async function findWrongFigures(sql: Sql): Promise<number[]> {
  const kept = await sql<(Wanted & { figures: string })[]>`
    SELECT f.tier_no AS "tierNo", f.day, f.figures::text AS figures FROM tier_figures f WHERE ${isCurrent(sql)} ORDER BY f.tier_no`
  const wrong: number[] = []
  for (const row of kept) if ((await computeFigures(sql, row)) !== row.figures) wrong.push(row.tierNo)
  return wrong
}

async function computeFigures(sql: Sql, wanted: Wanted): Promise<string> {
  const [row] = await sql<{ json: string }[]>`SELECT (${figures(sql, wanted)})::text AS json`
  if (!row) throw new Error('a statement without a table answered no row')
  return row.json
}

/** The figures as one JSON object, read from each cohort's newest turns, so that they do not cost more in an older ledger. */
function figures(sql: Sql, { tierNo, day }: Wanted): Fragment {
  return sql`
    WITH bounds AS (SELECT (${day}::bigint - ${DAYS}) * 86400 AS first, ${day}::bigint * 86400 AS today),
    newest AS MATERIALIZED (
      SELECT t.* FROM cohorts c CROSS JOIN LATERAL (
        SELECT cohort, due, turns, amount_wei, node_count FROM turns
        WHERE turns.cohort = c.cohort AND due >= (SELECT first FROM bounds)
        ORDER BY due DESC LIMIT ${sql.unsafe(String(TURNS_MAX))}) t
      WHERE c.tier_no = ${tierNo}),
    since AS (
      SELECT greatest((SELECT first FROM bounds), max(oldest)) AS time
      FROM (SELECT min(due) AS oldest FROM newest GROUP BY cohort HAVING count(*) = ${TURNS_MAX}) cut),
    paid AS MATERIALIZED (
      SELECT cohort, due, turns, node_count, amount_wei, div(amount_wei, turns) AS wei, turns * node_count::bigint AS weight,
        (amount_wei / 1000000000000000000)::float8 * usd AS usd, due / 86400 AS day
      FROM newest LEFT JOIN price_history ON hour = date_trunc('hour', to_timestamp(due), 'UTC')
      WHERE node_count > 0 AND due >= (SELECT time FROM since)),
    by_turn AS (
      SELECT wei, usd / turns AS usd, sum(weight) OVER (ORDER BY wei) AS upto, sum(weight) OVER () AS total,
        bool_and(usd IS NOT NULL) OVER () AS is_priced FROM paid),
    by_day AS (
      SELECT day, sum(amount_wei) AS wei, max(node_count) AS nodes, CASE WHEN bool_and(usd IS NOT NULL) THEN sum(usd ORDER BY due) END AS usd
      FROM paid WHERE day * 86400 >= (SELECT time FROM since) AND due < (SELECT today FROM bounds)
      GROUP BY cohort, day),
    placed AS (
      SELECT *, sum(nodes) OVER (ORDER BY wei) AS upto, sum(nodes) OVER () AS total,
        sum(nodes) OVER (PARTITION BY day ORDER BY wei) AS of_day_upto, sum(nodes) OVER (PARTITION BY day) AS of_day,
        bool_and(usd IS NOT NULL) OVER () AS is_priced, bool_and(usd IS NOT NULL) OVER (PARTITION BY day) AS is_day_priced
      FROM by_day)
    SELECT row_to_json(a) FROM (
      SELECT (SELECT iso(to_timestamp(time)) FROM since) AS since,
        (SELECT row_to_json(x) FROM (
          SELECT ${spread(sql, sql`upto * 2 >= total`, sql`is_priced`)}, max(total) AS credits
          FROM by_turn HAVING count(*) > 0) x) AS turn,
        (SELECT row_to_json(x) FROM (
          SELECT ${spread(sql, sql`upto * 2 >= total`, sql`is_priced`)}
          FROM placed HAVING count(*) > 0) x) AS day,
        array_to_json(ARRAY(SELECT row_to_json(x) FROM (
          SELECT iso(to_timestamp(day * 86400)) AS "dayAt", ${spread(sql, sql`of_day_upto * 2 >= of_day`, sql`is_day_priced`)},
            max(of_day) AS "nodeCount"
          FROM placed GROUP BY day ORDER BY day) x)) AS days) a`
}

/** The lowest, the median and the highest amount: the median is the lowest of the rows for which `upperHalf` holds. In dollars only where all have a price. */
function spread(sql: Sql, upperHalf: Fragment, isPriced: Fragment) {
  return sql`min(wei)::text AS "lowWei", (min(wei) FILTER (WHERE ${upperHalf}))::text AS "medianWei", max(wei)::text AS "highWei",
    CASE WHEN bool_and(${isPriced}) THEN (array_agg(usd ORDER BY wei, usd) FILTER (WHERE ${upperHalf}))[1] END AS "medianUsd"`
}
