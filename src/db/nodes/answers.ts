// The API's answers about rows that never change, stored as JSON beside their columns by the same insert statement: the credits of a node's page
// (`turns`), withdrawals, and distributions (`rounds`). Making JSON of fifty rows takes the database longer than everything else that a page needs.
// Once 0.1.0 is tagged, a change of the fields below needs a migration that rewrites the stored answers.

/**
 * If the row's hour had an ether price when the row was inserted, the answer includes it, because the price of an hour never changes. Otherwise the
 * text ends just before the price, and the row keeps the hour, so every read can look the price up.
 */
interface Priced {
  /** The fields, except the price. */
  fields: string
  /** The hour of the price. */
  hour: string
}

/** A credit of a node's page. The row's name is `t`, and its round is in the ledger. */
const CREDIT: Priced = {
  fields: `t.round AS id, t.round AS "distributionId", t.amount_wei::text AS "amountWei",
    (SELECT iso(r.created_at) FROM rounds r WHERE r.round = t.round) AS "createdAt"`,
  hour: `(SELECT date_trunc('hour', r.created_at, 'UTC') FROM rounds r WHERE r.round = t.round)`,
}

/** A withdrawal. The row's name is `w`. */
const WITHDRAWAL: Priced = {
  fields: `w.id, w.amount_wei::text AS "amountWei", '0' AS "cumulativeSignedWei", w.to_address AS "toAddress", 0 AS deadline,
    w.tx_hash AS "txHash", w.status, iso(w.created_at) AS "createdAt", iso(w.confirmed_at) AS "confirmedAt"`,
  hour: `date_trunc('hour', w.created_at, 'UTC')`,
}

/** A distribution. The row's name is `r`, and `turns` are rows with the columns of a round's turns. */
const distribution = (turns: string) => `(SELECT row_to_json(d)::text FROM (SELECT
  r.round AS id, r.mode, r.total_wei::text AS "totalWei", r.node_count AS "nodeCount", iso(r.created_at) AS "createdAt",
  r.tx_hash AS "txHash", r.block_number AS "blockNumber",
  array_to_json(ARRAY(SELECT row_to_json(t) FROM (
    SELECT cohort, tier_id AS "tierId", iso(to_timestamp(due)) AS due, due AS "dueSec", seed_block AS "seedBlock", seed,
      min_wei::text AS "minWei", max_wei::text AS "maxWei", payout_bps AS "payoutBps", proof AS assurance, turns AS count,
      amount_wei::text AS "amountWei", node_count AS "nodeCount"
    FROM ${turns} ORDER BY cohort) t)) AS turns) d)`

const upToPrice = (fields: string) =>
  `left((SELECT row_to_json(x)::text FROM (SELECT ${fields}) x), -1) || ',"usdPerEther":'`

/** A `FROM` row with the columns `answer` and `unpriced_hour`, to insert with the row that it describes. */
const stored = ({ fields, hour }: Priced) => `(
  SELECT made.text || coalesce(h.usd::text || '}', '') AS answer,
    CASE WHEN h.usd IS NULL THEN made.hour END AS unpriced_hour
  FROM (SELECT ${upToPrice(fields)} AS text, ${hour} AS hour) made LEFT JOIN price_history h ON h.hour = made.hour)`

/** Fragments of statements. They hold no parameter, so they are made once, not at each request. */
export const STORED_CREDIT = stored(CREDIT)
export const STORED_WITHDRAWAL = stored(WITHDRAWAL)

/** The stored API answer for a credit or withdrawal, with that hour's ether price filled in. */
export const PRICED_ANSWER = `CASE WHEN unpriced_hour IS NULL THEN answer
  ELSE answer || coalesce((SELECT h.usd::text FROM price_history h WHERE h.hour = unpriced_hour), 'null') || '}' END`

/** The column `answer` of a round, to insert with the row; null if the round credited no nodes, so it is not a distribution. */
export const storedDistribution = (turns: string) => `CASE WHEN r.node_count > 0 THEN ${distribution(turns)} END`
