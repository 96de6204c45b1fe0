// The public API's reads of the ledger, one statement per route. Reads of tiers first ask which payments reserve a place. The database builds the JSON,
// which we pass on as text. Every statement uses indexes, at a cost that does not grow with the ledger. Nothing here writes.
import type { Address, Hash } from '../../domain/units.ts'
import { STUCK } from '../blocks/stuck.ts'
import { withoutSuccess } from '../core/passes.ts'
import type { Sql } from '../core/sql.ts'
import { PAUSED } from '../core/state.ts'
import { PRICED_ANSWER } from '../nodes/answers.ts'
import { SOLD_OUT } from '../nodes/budget.ts'
import { DUE_AND_SCHEDULED } from '../nodes/cohorts.ts'
import { CREDITED } from '../nodes/nodes.ts'
import { countPlaces, tiersNow } from '../payments/supply.ts'
import { NOT_SIGNING } from '../sends/signers.ts'

/** The maximum number of entries in a list (specification, section 8). */
export const ENTRIES_MAX = 200

export const NODE_TABLES =
  'nodes n LEFT JOIN cohorts c ON c.cohort = n.cohort LEFT JOIN payments p ON p.id = n.payment_id'

/** The fields of a node, in display order. An expelled node is in no cohort and gets no further credits. */
export const NODE_FIELDS = {
  id: 'n.id',
  nodeId: 'n.node_id::text',
  owner: 'n.owner',
  tierId: 'p.tier_id',
  priceWei: 'p.value_wei::text',
  creditedWei: `(${CREDITED})::text`,
  withdrawnWei: 'n.withdrawn_wei::text',
  balanceWei: `(${CREDITED} - n.withdrawn_wei)::text`,
  paymentTxHash: 'p.tx_hash',
  mintTxHash: 'n.mint_tx_hash',
  mintedAt: 'iso(n.minted_at)',
  // For an expelled node, the time of its last round.
  lastCreditedAt: `CASE WHEN c.turn_count > n.turns_at_mint THEN iso(c.last_turn_at)
    WHEN n.cohort IS NULL THEN (SELECT iso(r.created_at) FROM expulsions e JOIN turns t ON t.cohort = e.cohort AND t.turn_no = e.turn_count
      JOIN rounds r USING (round) WHERE e.node_id = n.node_id AND e.turn_count > n.turns_at_mint) END`,
  nextCreditAt: 'iso(to_timestamp(c.next_due))',
  expelledAt: `CASE WHEN n.cohort IS NULL THEN (SELECT iso(e.expelled_at) FROM expulsions e WHERE e.node_id = n.node_id) END`,
  createdAt: 'iso(n.minted_at)',
}
const NODE_COLUMNS = Object.entries(NODE_FIELDS)
  .map(([name, field]) => `${field} AS "${name}"`)
  .join(', ')
/** The names in `NODE_FIELDS`, selected from a row with `NODE_COLUMNS`. */
const SHOWN_NODE_COLUMNS = Object.keys(NODE_FIELDS)
  .map((name) => `"${name}"`)
  .join(', ')

/** GET /api/stats: stored totals, so zeros on a fresh ledger. */
export async function readStats(sql: Sql): Promise<string> {
  return text(
    await sql`
      SELECT row_to_json(s)::text AS json FROM (
        SELECT nodes AS "totalNodes", owners AS "totalOwners", rounds AS "totalDistributions",
          distributed_wei::text AS "totalDistributedWei", withdrawn_wei::text AS "totalWithdrawnWei",
          (distributed_wei - withdrawn_wei)::text AS "outstandingWei", sales_wei::text AS "totalSalesWei",
          (SELECT iso(created_at) FROM rounds WHERE node_count > 0 ORDER BY created_at DESC, round DESC LIMIT 1) AS "lastDistributionAt"
        FROM totals) s`,
  )
}

/** GET /api/tiers: the latest version of every tier, including those off sale. */
export async function readTiers(sql: Sql): Promise<string> {
  const places = await countPlaces(sql)
  return text(
    await sql`
      SELECT row_to_json(a)::text AS json FROM (SELECT array_to_json(ARRAY(SELECT row_to_json(t) FROM (
        SELECT tier_id AS id, label, price_wei::text AS "priceWei", max_per_wallet AS "maxPerWallet",
          holding_wei::text AS "holdingWei", holding_token AS "holdingToken", holding_symbol AS "holdingSymbol",
          holding_decimals AS "holdingDecimals", payout_bps AS "payoutBps", on_sale AS "onSale", ${sql.unsafe(SOLD_OUT)} AS "soldOut",
          state, most AS supply, sold, CASE WHEN most IS NOT NULL THEN greatest(most - sold, 0) END AS remaining, reserved, iso(to_timestamp(opens_at)) AS "opensAt",
          iso(to_timestamp(closes_at)) AS "closesAt", opens_after AS "opensAfter", allowlist AS "allowlistRoot",
          (SELECT row_to_json(e) FROM (SELECT 'operator' AS price, 'operator' AS "maxPerWallet",
            CASE WHEN holding_wei = 0 THEN 'none' ELSE 'operator' END AS holding, "supplyBy" AS supply) e) AS "enforcedBy"
        FROM (${tiersNow(sql, places)}) now ORDER BY tier_no) t)) AS tiers) a`,
  )
}

/** GET /api/nodes/:address: the wallet's nodes, oldest first; the contract's cap bounds how many there can be. */
export async function readNodesOf(sql: Sql, owner: Address): Promise<string> {
  return text(
    await sql`
      SELECT array_to_json(ARRAY(SELECT row_to_json(x) FROM (
        SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)} WHERE n.owner = ${owner} ORDER BY n.node_id) x))::text AS json`,
  )
}

/** The nodes minted for a transaction's payments, as a JSON array. */
export async function readNodesPaidIn(sql: Sql, txHash: Hash): Promise<string> {
  return text(
    await sql`
      SELECT array_to_json(ARRAY(SELECT row_to_json(x) FROM (
        SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)}
        WHERE n.node_id IN (SELECT node_id FROM payments WHERE tx_hash = ${txHash}) ORDER BY n.node_id) x))::text AS json`,
  )
}

/**
 * The ledger's part of a node's page, in pieces, because the chain's part goes between them. The long pieces stay bytes. As text we would decode them
 * only to encode them again, and collecting that garbage took a quarter of the process's time.
 */
export interface NodePage {
  /** JSON object of the node's fields. */
  node: Buffer
  matchedBy: 'nodeId' | 'id'
  /** JSON arrays, newest first. */
  credits: Buffer
  withdrawals: Buffer
  nodeId: string
  owner: Address
  balanceWei: string
  creditedWei: string
  withdrawnWei: string
  /** The followed block at the time of this read; null before the first block. */
  followedTo: number | null
}

/** The statement for one node's page. `nth`: its position among several pages. `id` (a chain id or a row id) and `limit` are SQL expressions. */
const nodePage = (nth: string, id: string, limit: string) => `
  WITH found AS (
    SELECT coalesce(n.cohort, left_it.cohort) AS in_cohort, n.turns_at_mint, left_it.turn_count AS turns_left,
      n.node_id AS chain_id, ${NODE_COLUMNS} FROM ${NODE_TABLES}
    LEFT JOIN expulsions left_it ON left_it.node_id = n.node_id
    WHERE n.node_id = coalesce((SELECT node_id FROM nodes WHERE node_id = ${id}),
      (SELECT node_id FROM nodes WHERE id = ${id}))
  )
  SELECT ${nth} AS nth, (SELECT row_to_json(x)::text FROM (SELECT ${SHOWN_NODE_COLUMNS}) x) AS node,
    CASE WHEN chain_id = ${id} THEN 'nodeId' ELSE 'id' END AS "matchedBy",
    (SELECT '[' || coalesce(string_agg(${PRICED_ANSWER}, ',' ORDER BY t.turn_no DESC), '') || ']' FROM (
      SELECT * FROM (
        SELECT * FROM turns WHERE cohort = in_cohort AND turn_no > turns_at_mint AND turn_no <= coalesce(turns_left, turn_no)
        ORDER BY turn_no DESC LIMIT ${ENTRIES_MAX}) newest
      ORDER BY turn_no DESC LIMIT ${limit}) t) AS credits,
    (SELECT '[' || coalesce(string_agg(${PRICED_ANSWER}, ',' ORDER BY w.id DESC), '') || ']' FROM (
      SELECT * FROM (
        SELECT * FROM withdrawals WHERE node_id = chain_id ORDER BY id DESC LIMIT ${ENTRIES_MAX}) newest
      ORDER BY id DESC LIMIT ${limit}) w) AS withdrawals,
    "nodeId", owner, "balanceWei", "creditedWei", "withdrawnWei",
    (SELECT block_number FROM cursors WHERE name = 'follow') AS "followedTo"
  FROM found`

/**
 * How many pages one prepared statement can read. Each page is a row of VALUES, so the database knows their number. A page read with seven others
 * takes half the time of one alone. With sixteen pages of 200 entries the database might compile the statement each time.
 */
export const NODES_AT_ONCE = [8, 4, 2, 1] as const

/** The statements, by number of pages. Built once: the driver would otherwise assemble each from its many pieces at each request. */
const NODE_PAGES = new Map<number, string>(
  NODES_AT_ONCE.map((count) => {
    if (count === 1) return [count, nodePage('0', '$1::bigint', '$2')]
    const rows = Array.from({ length: count }, (_, nth) => `(${nth}, $${2 * nth + 1}::bigint, $${2 * nth + 2}::bigint)`)
    const page = nodePage('asked.nth', 'asked.id', 'asked.entries')
    return [count, `SELECT page.* FROM (VALUES ${rows}) asked (nth, id, entries) CROSS JOIN LATERAL (${page}) page`]
  }),
)

export interface AskedNode {
  id: bigint
  limit: number
}

/**
 * GET /api/node/:id for several nodes, in their order; their number must be one of `NODES_AT_ONCE`. One statement, so all show the same moment.
 * Searches chain ids first, then row ids. A node's credits are its cohort's turns after its mint. A page is null if neither id exists.
 */
export async function readNodes(sql: Sql, asked: readonly AskedNode[]): Promise<(NodePage | null)[]> {
  const statement = NODE_PAGES.get(asked.length)
  if (statement === undefined) throw new RangeError(`no statement reads ${asked.length} nodes`)
  // No node has an id above int8. In the query such an id would be a database error.
  const given = asked.flatMap(({ id, limit }) => [id > INT8_MAX ? null : id.toString(), limit])
  const rows = await sql.unsafe(statement, given, { prepare: true }).raw()
  const pages = asked.map((): NodePage | null => null)
  for (const row of rows.splice(0) as (Buffer | null)[][]) pages[Number(row[0])] = pageOf(row)
  return pages
}

/** The columns of `nodePage` after the page's position. */
function pageOf([, node, matchedBy, credits, withdrawals, ...more]: (Buffer | null)[]): NodePage {
  if (!node || !credits || !withdrawals) throw new Error('a node’s page lacks a part')
  const [nodeId = '', owner = '', balanceWei = '', creditedWei = '', withdrawnWei = '', followedTo = ''] = more.map(
    (field) => field?.toString('latin1'),
  )
  return {
    node,
    credits,
    withdrawals,
    matchedBy: matchedBy?.toString('latin1') === 'id' ? 'id' : 'nodeId',
    owner: owner as Address,
    nodeId,
    balanceWei,
    creditedWei,
    withdrawnWei,
    followedTo: followedTo === '' ? null : Number(followedTo),
  }
}

export async function readNode(sql: Sql, id: bigint, limit: number): Promise<NodePage | null> {
  const [page = null] = await readNodes(sql, [{ id, limit }])
  return page
}

/**
 * How many rounds make one row of the result. Fifty rounds in a single row make a text of a third of a megabyte. The database frees that memory after
 * each statement, and allocating it again costs as much as the rest. With several rows it sends small pieces.
 */
const ROUNDS_A_ROW = 8

/** GET /api/distributions: the rounds that credited nodes, each with its turns, newest first by creation time, then id. */
export async function readDistributions(sql: Sql, limit: number): Promise<string> {
  const perRow = sql.unsafe(String(ROUNDS_A_ROW))
  const rows = await sql<{ json: string }[]>`
    SELECT string_agg(answer, ',' ORDER BY nth) AS json FROM (
      SELECT r.answer, row_number() OVER (ORDER BY r.created_at DESC, r.round DESC) - 1 AS nth FROM (
        SELECT * FROM (SELECT * FROM rounds WHERE node_count > 0 ORDER BY created_at DESC, round DESC LIMIT ${entriesMax(sql)}) newest
        ORDER BY created_at DESC, round DESC LIMIT ${limit}) r) shown
    GROUP BY nth / ${perRow} ORDER BY nth / ${perRow}`
  // Removed from the result for the reason given at `takeOnly`.
  const texts = rows.splice(0).map(({ json }) => json)
  return `[${texts.join(',')}]`
}

/** GET /api/distributions/:id/turns: a round's single turns, by cohort and time. Null if no such round credited nodes. */
export async function readTurns(
  sql: Sql,
  { round, limit, offset }: { round: bigint; limit: number; offset: number },
): Promise<string | null> {
  if (round > INT8_MAX) return null
  const [row] = await sql<{ json: string }[]>`
    WITH credited AS (SELECT * FROM turns WHERE round = ${round.toString()})
    SELECT row_to_json(a)::text AS json FROM (
      SELECT (SELECT sum(turns) FROM credited) AS total, array_to_json(ARRAY(SELECT row_to_json(t) FROM (
        SELECT cohort, tier_id AS "tierId", iso(to_timestamp(due)) AS due, due AS "dueSec", seed_block AS "seedBlock", seed,
          min_wei::text AS "minWei", max_wei::text AS "maxWei", payout_bps AS "payoutBps", proof AS assurance,
          amount_wei::text AS "amountWei", node_count AS "nodeCount"
        FROM (
          SELECT cohort, tier_id, due, seed_block, seed, min_wei, max_wei, payout_bps, proof, amount_wei, node_count
          FROM credited WHERE turns = 1
          UNION ALL
          SELECT s.cohort, c.tier_id, s.due, s.seed_block, s.seed, s.min_wei, s.max_wei, s.payout_bps, s.proof, s.amount_wei, c.node_count
          FROM single_turns s JOIN credited c USING (round, cohort)
          WHERE s.round = ${round.toString()}) single
        ORDER BY cohort, single.due LIMIT ${limit} OFFSET ${offset}) t)) AS turns) a
    WHERE EXISTS (SELECT FROM credited)`
  return row?.json ?? null
}

/** A tier, as a quote shows it. */
export interface QuotedTier {
  tierId: string
  priceWei: string
  soldOut: boolean
  state: 'upcoming' | 'open' | 'soldOut' | 'closed'
  sold: number
  /** Undecided payments of the last hour whose amount selects it in their block. */
  reserved: number
  /** The most nodes that it may ever have; null for no limit. */
  most: number | null
}

/** GET /api/deploy-quote: the price of the named tier or, if none is named, of the first tier on sale, open ones first. Null if there is none. */
export async function readQuote(sql: Sql, tierId: string | null): Promise<QuotedTier | null> {
  const [row] = await sql<QuotedTier[]>`
    SELECT tier_id AS "tierId", price_wei::text AS "priceWei", ${sql.unsafe(SOLD_OUT)} AS "soldOut", state, sold, reserved, most::float8 FROM (${tiersNow(sql, await countPlaces(sql))}) now
    WHERE on_sale ${tierId === null ? sql`` : sql`AND tier_id = ${tierId}`} ORDER BY state = 'open' DESC, state = 'closed', tier_no LIMIT 1`
  return row ?? null
}

/** GET /api/me: the wallet's nodes and their totals. */
export interface WalletPage {
  /** JSON array of nodes. */
  nodes: string
  /** JSON object: nodeCount, creditedWei, withdrawnWei, balanceWei. */
  totals: string
  /** Chain ids of the nodes. */
  nodeIds: string[]
}

export async function readWallet(sql: Sql, owner: Address): Promise<WalletPage> {
  const [row] = await sql<WalletPage[]>`
    WITH mine AS MATERIALIZED (
      SELECT n.node_id AS chain_id, ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)} WHERE n.owner = ${owner}
    )
    SELECT array_to_json(ARRAY(SELECT row_to_json(x) FROM (
        SELECT ${sql.unsafe(SHOWN_NODE_COLUMNS)} FROM mine ORDER BY chain_id) x))::text AS nodes,
      (SELECT row_to_json(x)::text FROM (
        SELECT count(*) AS "nodeCount", coalesce(sum("creditedWei"::numeric), 0)::text AS "creditedWei",
          coalesce(sum("withdrawnWei"::numeric), 0)::text AS "withdrawnWei",
          coalesce(sum("balanceWei"::numeric), 0)::text AS "balanceWei" FROM mine) x) AS totals,
      array_to_json(ARRAY(SELECT chain_id::text FROM mine)) AS "nodeIds"`
  if (!row) throw new Error('a query that always returns one row returned none')
  return row
}

/** A wallet's nodes among these chain ids, as JSON objects by id; others are absent. */
export async function readNodesById(sql: Sql, ids: readonly bigint[], owner: Address): Promise<Map<string, string>> {
  const asked = ids.filter((id) => id <= INT8_MAX).map((id) => id.toString())
  // The list is in a separate statement to hide its length from PostgreSQL, which otherwise plans a short list again at each call.
  const rows = await sql<{ nodeId: string; node: string }[]>`
    SELECT "nodeId", row_to_json(x)::text AS node FROM (
      SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)} WHERE n.node_id = ANY((SELECT ${asked}::bigint[])::bigint[]) AND n.owner = ${owner} ORDER BY n.node_id) x`
  return new Map(rows.map((row) => [row.nodeId, row.node]))
}

/** The ledger's part of GET /api/cron/health. */
export interface LedgerHealth {
  lastTickAt: string | null
  /** Measured by the database's clock, which also stamps the tick. */
  secondsSinceLastTick: number | null
  /** As in `withoutSuccess`. Null before the first start. */
  secondsWithoutSuccess: number | null
  /** The operator's switch. */
  paused: boolean
  /** True if the ledger's terms owe the turns that are due at the followed head's time. */
  payouts: boolean
  /** The reason and start of a halt of the passes; null if there is none. */
  halted: { reason: string; since: string } | null
  /** The block that repeatedly stops the passes; null if none does. */
  stuck: { block: number; since: string } | null
  /** Roles whose signer did not sign at the last request. */
  notSigning: string[]
  /** Nodes due at the followed head's time, and nodes with a next credit time. */
  dueNodes: number
  scheduledNodes: number
}

export async function readHealth(sql: Sql): Promise<LedgerHealth> {
  const [row] = await sql<LedgerHealth[]>`
    SELECT iso(tick.started_at) AS "lastTickAt",
      CASE WHEN tick.started_at IS NOT NULL
        THEN greatest(0, floor(extract(epoch FROM clock_timestamp() - tick.started_at)))::int END AS "secondsSinceLastTick",
      ${withoutSuccess(sql, sql`tick`)} AS "secondsWithoutSuccess",
      ${sql.unsafe(PAUSED)} AS paused,
      (SELECT jsonb_build_object('reason', value -> 'reason', 'since', value -> 'since') FROM settings WHERE name = 'halted') AS halted,
      ${sql.unsafe(STUCK)} AS stuck,
      ${sql.unsafe(NOT_SIGNING)} AS "notSigning",
      coalesce((SELECT payouts FROM credit_terms
        WHERE from_time <= coalesce((SELECT block_time FROM cursors WHERE name = 'follow'), 0)
        ORDER BY from_time DESC LIMIT 1), false) AS payouts,
      c.due AS "dueNodes", c.scheduled AS "scheduledNodes"
    FROM (${sql.unsafe(DUE_AND_SCHEDULED)}) c
    LEFT JOIN passes tick ON tick.name = 'credit'`
  if (!row) throw new Error('a query that always returns one row returned none')
  return row
}

export const INT8_MAX = 2n ** 63n - 1n

/**
 * The maximum number of entries, as a literal in the statement, beside the requested limit. If the limit is only a parameter, PostgreSQL assumes a
 * tenth of all rows. In a large ledger its generic plan then looks so expensive that PostgreSQL plans each request again, which takes longer than the
 * request itself.
 */
export function entriesMax(sql: Sql) {
  return sql.unsafe(String(ENTRIES_MAX))
}

/**
 * Returns the only row, and removes it from its result. The driver's record of a query keeps the result alive through the quick garbage collections.
 * Three quarters of all texts were therefore copied twice, and stayed until a slow collection.
 */
function takeOnly<Row>(rows: Row[]): Row | undefined {
  const [row] = rows
  rows.length = 0
  return row
}

/** The JSON of a read that always has one row. */
export function text(rows: { json?: unknown }[]): string {
  const json = takeOnly(rows)?.json
  if (typeof json !== 'string') throw new Error('a read that always has one row had none')
  return json
}
