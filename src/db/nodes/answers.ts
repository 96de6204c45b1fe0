// What the API shows of rows that never change, stored beside their columns as JSON by who inserts them, in the same statement: the credits of a
// node's page (`turns`), withdrawals, and distributions (`rounds`). To make JSON of fifty rows takes the database longer than everything
// else that a page asks of it. The format says by which fields a text was made: a row of another format, or of none, is made of its columns.
import type { Fragment, Sql } from '../core/sql.ts'

/** The format of stored answers. Raise it with every change of the fields below: no row has to be rewritten. */
export const ANSWER_FORMAT = 1

/**
 * An ether's worth is known to a row only where its hour had a price when it was inserted; a price of an hour never changes. Else the text ends
 * where the price goes, and the hour is kept, to look it up with every read.
 */
interface Priced {
  /** The fields, but for the price. */
  fields: Fragment
  /** The hour of the price. */
  hour: Fragment
}

/** A credit of a node's page. The row's name is `t`, and its round is in the ledger. */
function credit(sql: Sql): Priced {
  return {
    fields: sql`t.round AS id, t.round AS "distributionId", t.amount_wei::text AS "amountWei",
      (SELECT iso(r.created_at) FROM rounds r WHERE r.round = t.round) AS "createdAt"`,
    hour: sql`(SELECT date_trunc('hour', r.created_at, 'UTC') FROM rounds r WHERE r.round = t.round)`,
  }
}

/** A withdrawal. The row's name is `w`. */
function withdrawal(sql: Sql): Priced {
  return {
    fields: sql`w.id, w.amount_wei::text AS "amountWei", '0' AS "cumulativeSignedWei", w.to_address AS "toAddress", 0 AS deadline,
      w.tx_hash AS "txHash", w.status, iso(w.created_at) AS "createdAt", iso(w.confirmed_at) AS "confirmedAt"`,
    hour: sql`date_trunc('hour', w.created_at, 'UTC')`,
  }
}

/** A distribution without its end, the turns. The row's name is `r`. */
function distributionFields(sql: Sql): Fragment {
  return sql`r.round AS id, r.mode, r.total_wei::text AS "totalWei", r.node_count AS "nodeCount", iso(r.created_at) AS "createdAt",
    r.tx_hash AS "txHash", r.block_number AS "blockNumber"`
}

/** A distribution. The row's name is `r`, and `turns` are rows with the columns of a round's turns. */
function distribution(sql: Sql, turns: Fragment): Fragment {
  return sql`(SELECT row_to_json(d)::text FROM (SELECT ${distributionFields(sql)},
    array_to_json(ARRAY(SELECT row_to_json(t) FROM (
      SELECT cohort, tier_id AS "tierId", iso(to_timestamp(due)) AS due, due AS "dueSec", seed_block AS "seedBlock", seed,
        min_wei::text AS "minWei", max_wei::text AS "maxWei", payout_bps AS "payoutBps", turns AS count,
        amount_wei::text AS "amountWei", node_count AS "nodeCount"
      FROM ${turns} ORDER BY cohort) t)) AS turns) d)`
}

const format = (sql: Sql) => sql.unsafe(String(ANSWER_FORMAT))

const upToPrice = (sql: Sql, fields: Fragment) =>
  sql`left((SELECT row_to_json(x)::text FROM (SELECT ${fields}) x), -1) || ',"usdPerEther":'`

/** A row of `FROM` with the columns `answer`, `answer_format` and `unpriced_hour`, to insert beside the row that it is made of. */
function stored(sql: Sql, { fields, hour }: Priced): Fragment {
  return sql`(
    SELECT made.text || coalesce(h.usd::text || '}', '') AS answer, ${format(sql)} AS answer_format,
      CASE WHEN h.usd IS NULL THEN made.hour END AS unpriced_hour
    FROM (SELECT ${upToPrice(sql, fields)} AS text, ${hour} AS hour) made LEFT JOIN price_history h ON h.hour = made.hour)`
}

/** The answer of a row: as it is stored, or else made of its columns. */
function shown(sql: Sql, { fields, hour }: Priced): Fragment {
  const isStored = sql`answer_format = ${format(sql)}`
  return sql`CASE WHEN ${isStored} AND unpriced_hour IS NULL THEN answer
    ELSE CASE WHEN ${isStored} THEN answer ELSE ${upToPrice(sql, fields)} END || coalesce((SELECT h.usd::text FROM price_history h
      WHERE h.hour = CASE WHEN ${isStored} THEN unpriced_hour ELSE ${hour} END), 'null') || '}' END`
}

export const storedCredit = (sql: Sql) => stored(sql, credit(sql))
export const shownCredit = (sql: Sql) => shown(sql, credit(sql))
export const storedWithdrawal = (sql: Sql) => stored(sql, withdrawal(sql))
export const shownWithdrawal = (sql: Sql) => shown(sql, withdrawal(sql))

/** The columns `answer` and `answer_format` of a round, to insert beside the row; null for one that is no distribution. */
export function storedDistribution(sql: Sql, turns: Fragment): Fragment {
  return sql`CASE WHEN r.node_count > 0 THEN ${distribution(sql, turns)} END, CASE WHEN r.node_count > 0 THEN ${format(sql)} END`
}

/** The answer of a round: as it is stored, or else made of its columns and its turns. */
export function shownDistribution(sql: Sql): Fragment {
  const turns = sql`turns WHERE round = r.round`
  return sql`CASE WHEN r.answer_format = ${format(sql)} THEN r.answer ELSE ${distribution(sql, turns)} END`
}
