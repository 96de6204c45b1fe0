// The public API's reads of the ledger, one statement per route, as objects with the API's fields. Reads of tiers first ask which payments reserve a
// place. Every statement uses indexes, at a cost that does not grow with the ledger. Nothing here writes.
import { readChanges, type TierTerms } from '../../domain/sale/changes.ts'
import { type Address, type Hash, isoOf } from '../../domain/units.ts'
import { STUCK } from '../blocks/stuck.ts'
import { withoutSuccess } from '../core/passes.ts'
import type { Sql } from '../core/sql.ts'
import { SOLD_OUT } from '../nodes/budget.ts'
import { DUE_AND_SCHEDULED } from '../nodes/cohorts.ts'
import { CREDITED } from '../nodes/nodes.ts'
import type { Assurance } from '../payments/assurance.ts'
import { countPlaces, tiersNow } from '../payments/supply.ts'
import { TERMS_IN_FORCE } from '../sale/terms.ts'
import { readTierPlans, readTierVersions } from '../sale/tiers.ts'
import { NOT_SIGNING } from '../sends/signers.ts'

/** The maximum number of entries in a list. */
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

/** A node, as the API shows it. */
export interface NodeRow extends Readonly<Partial<Record<keyof typeof NODE_FIELDS, unknown>>> {
  nodeId: string
  owner: Address
  creditedWei: string
  withdrawnWei: string
  balanceWei: string
}

export interface Stats {
  totalDistributions: number
  totalDistributedWei: string
  lastDistributionAt: string | null
  [other: string]: unknown
}

/** GET /api/stats: stored totals, so zeros on a fresh ledger. */
export async function readStats(sql: Sql): Promise<Stats> {
  const [row] = await sql<Stats[]>`
    SELECT nodes AS "totalNodes", owners AS "totalOwners", rounds AS "totalDistributions",
      distributed_wei::text AS "totalDistributedWei", withdrawn_wei::text AS "totalWithdrawnWei",
      (distributed_wei - withdrawn_wei)::text AS "outstandingWei", sales_wei::text AS "totalSalesWei",
      (SELECT iso(created_at) FROM rounds WHERE node_count > 0 ORDER BY created_at DESC, round DESC LIMIT 1) AS "lastDistributionAt"
    FROM totals`
  if (!row) throw new Error('a query that always returns one row returned none')
  return row
}

/** A tier, as the API shows it. */
export interface ShownTier {
  id: string
  label: string
  priceWei: string
  payoutBps: number
  credit: { minWei: string; maxWei: string; intervalSec: number } | null
  onSale: boolean
  soldOut: boolean
  state: 'upcoming' | 'open' | 'soldOut' | 'closed'
  supply: number | null
  sold: number
  reserved: number
  remaining: number | null
  opensAt: string | null
  planned: ReturnType<typeof plannedTier>[]
}

/** The ids of all tiers. */
export async function readTierIds(sql: Sql): Promise<string[]> {
  return (await sql<{ id: string }[]>`SELECT DISTINCT tier_id AS id FROM tiers`).map(({ id }) => id)
}

/** GET /api/tiers: the latest version of every tier, including those off sale. */
export async function readTiers(sql: Sql): Promise<{ tiers: ShownTier[] }> {
  const places = await countPlaces(sql)
  const tiers = await sql<Omit<ShownTier, 'planned'>[]>`
    SELECT tier_id AS id, label, price_wei::text AS "priceWei", max_per_wallet AS "maxPerWallet",
      holding_wei::text AS "holdingWei", holding_token AS "holdingToken", holding_symbol AS "holdingSymbol",
      holding_decimals AS "holdingDecimals", payout_bps AS "payoutBps", on_sale AS "onSale", ${sql.unsafe(SOLD_OUT)} AS "soldOut",
      state, most AS supply, sold, CASE WHEN most IS NOT NULL THEN greatest(most - sold, 0) END AS remaining, reserved, iso(to_timestamp(opens_at)) AS "opensAt",
      iso(to_timestamp(closes_at)) AS "closesAt", opens_after AS "opensAfter", allowlist AS "allowlistRoot",
      CASE WHEN allowlist IS NOT NULL THEN 'list' WHEN holding_wei > 0 THEN 'holders' ELSE 'everyone' END AS "openTo",
      json_build_object('price', 'operator', 'maxPerWallet', 'operator',
        'holding', CASE WHEN holding_wei = 0 THEN 'none' ELSE 'operator' END, 'supply', "supplyBy") AS "enforcedBy",
      CASE WHEN terms.payouts THEN json_build_object('minWei', div(min_wei * payout_bps, 10000)::text,
        'maxWei', div(max_wei * payout_bps, 10000)::text, 'intervalSec', interval_sec) END AS credit
    FROM (${tiersNow(sql, places)}) now LEFT JOIN (${sql.unsafe(TERMS_IN_FORCE)}) terms ON true ORDER BY tier_no`
  const plans = await readTierPlans(sql)
  const fit = plans.length === 0 ? [] : readChanges(await readTierVersions(sql), plans).fit
  const plannedOf = (id: string) => fit.flatMap(({ version }) => (version.tierId === id ? plannedTier(version) : []))
  return { tiers: tiers.map((tier) => ({ ...tier, planned: plannedOf(tier.id) })) }
}

/** The terms that a planned change will bring, if nothing else changes. */
function plannedTier(version: TierTerms & { fromTime: number }) {
  const { label, maxPerWallet, holdingToken, payoutBps, onSale, supply, opensAfter, allowlist: allowlistRoot } = version
  const [priceWei, holdingWei] = [version.priceWei.toString(), version.holdingWei.toString()]
  const [opensAt, closesAt] = [isoOf(version.opensAt), isoOf(version.closesAt)]
  const startsAt = isoOf(version.fromTime)
  const terms = { label, priceWei, maxPerWallet, holdingWei, holdingToken, payoutBps, onSale }
  return { startsAt, ...terms, supply, opensAt, closesAt, opensAfter, allowlistRoot }
}

/** GET /api/nodes/:address: the wallet's nodes, oldest first; the contract's cap bounds how many there can be. */
export async function readNodesOf(sql: Sql, owner: Address): Promise<NodeRow[]> {
  return await sql<NodeRow[]>`
    SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)} WHERE n.owner = ${owner} ORDER BY n.node_id`
}

/** The nodes minted for a transaction's payments. */
export async function readNodesPaidIn(sql: Sql, txHash: Hash): Promise<NodeRow[]> {
  return await sql<NodeRow[]>`
    SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)}
    WHERE n.node_id IN (SELECT node_id FROM payments WHERE tx_hash = ${txHash}) ORDER BY n.node_id`
}

/** A wallet's nodes among these chain ids. */
export async function readNodesById(sql: Sql, ids: readonly bigint[], owner: Address): Promise<NodeRow[]> {
  const texts = ids.filter((id) => id <= INT8_MAX).map((id) => id.toString())
  // The list is in a separate statement to hide its length from PostgreSQL, which otherwise plans a short list again at each call.
  return await sql<NodeRow[]>`
    SELECT ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)}
    WHERE n.node_id = ANY((SELECT ${texts}::bigint[])::bigint[]) AND n.owner = ${owner} ORDER BY n.node_id`
}

/** The ledger's part of a node's page. */
export interface NodePage {
  node: NodeRow
  matchedBy: 'nodeId' | 'id'
  /** Newest first. */
  credits: { distributionId: number; usdPerEther: number | null }[]
  withdrawals: { usdPerEther: number | null }[]
  /** The followed block at the time of this read; null before the first block. */
  followedTo: number | null
}

/** Joins the price of ether in an hour as `h`; nothing if the price of that hour was never read. */
const priceOfHour = (time: string) => `LEFT JOIN price_history h ON h.hour = date_trunc('hour', ${time}, 'UTC')`

/**
 * GET /api/node/:id. One statement, so all parts show the same moment. Searches chain ids first, then row ids. A node's credits are its cohort's turns
 * after its mint. Null if neither id exists.
 */
export async function readNode(sql: Sql, id: bigint, limit: number): Promise<NodePage | null> {
  // No node has an id above int8. In the query such an id would be a database error.
  if (id > INT8_MAX) return null
  const [page] = await sql<NodePage[]>`
    WITH found AS (
      SELECT coalesce(n.cohort, e.cohort) AS in_cohort, n.turns_at_mint, e.turn_count AS turns_left, n.node_id AS chain_id,
        ${sql.unsafe(NODE_COLUMNS)} FROM ${sql.unsafe(NODE_TABLES)} LEFT JOIN expulsions e ON e.node_id = n.node_id
      WHERE n.node_id = coalesce((SELECT node_id FROM nodes WHERE node_id = ${id}::bigint), (SELECT node_id FROM nodes WHERE id = ${id}::bigint))
    )
    SELECT (SELECT row_to_json(x) FROM (SELECT ${sql.unsafe(SHOWN_NODE_COLUMNS)}) x) AS node,
      CASE WHEN chain_id = ${id}::bigint THEN 'nodeId' ELSE 'id' END AS "matchedBy",
      (SELECT coalesce(json_agg(c), '[]') FROM (
        SELECT t.round AS id, t.round AS "distributionId", t.amount_wei::text AS "amountWei", iso(r.created_at) AS "createdAt", h.usd AS "usdPerEther"
        FROM (
          SELECT * FROM turns WHERE cohort = in_cohort AND turn_no > turns_at_mint AND turn_no <= coalesce(turns_left, turn_no)
          ORDER BY turn_no DESC LIMIT ${entriesMax(sql)}) t
        JOIN rounds r USING (round) ${sql.unsafe(priceOfHour('r.created_at'))}
        ORDER BY t.turn_no DESC LIMIT ${limit}) c) AS credits,
      (SELECT coalesce(json_agg(v), '[]') FROM (
        SELECT w.id, w.amount_wei::text AS "amountWei", '0' AS "cumulativeSignedWei", w.to_address AS "toAddress", 0 AS deadline,
          w.tx_hash AS "txHash", w.status, iso(w.created_at) AS "createdAt", iso(w.confirmed_at) AS "confirmedAt", h.usd AS "usdPerEther"
        FROM (SELECT * FROM withdrawals WHERE node_id = chain_id ORDER BY id DESC LIMIT ${entriesMax(sql)}) w
        ${sql.unsafe(priceOfHour('w.created_at'))}
        ORDER BY w.id DESC LIMIT ${limit}) v) AS withdrawals,
      (SELECT block_number FROM cursors WHERE name = 'follow') AS "followedTo"
    FROM found`
  return page ?? null
}

/** A round that credited nodes, as the API shows it; api/openapi.yaml has all of its fields. */
export interface DistributionRow {
  id: number
  txHash: Hash
  totalWei: string
  nodeCount: number
  turns: {
    tierId: string | null
    minWei: string | null
    maxWei: string | null
    amountWei: string
    count: number
    dueSec: number
    seedBlock: number | null
    seed: Hash | null
    assurance: Assurance | null
  }[]
}

/** GET /api/distributions: the rounds that credited nodes, each with its turns, newest first by creation time, then id. */
export async function readDistributions(sql: Sql, limit: number): Promise<DistributionRow[]> {
  return await sql<DistributionRow[]>`
    SELECT r.round AS id, r.mode, r.total_wei::text AS "totalWei", r.node_count AS "nodeCount", iso(r.created_at) AS "createdAt",
      r.tx_hash AS "txHash", r.block_number AS "blockNumber",
      (SELECT coalesce(json_agg(t), '[]') FROM (
        SELECT cohort, tier_id AS "tierId", iso(to_timestamp(due)) AS due, due AS "dueSec", seed_block AS "seedBlock", seed,
          min_wei::text AS "minWei", max_wei::text AS "maxWei", payout_bps AS "payoutBps", proof AS assurance, turns AS count,
          amount_wei::text AS "amountWei", node_count AS "nodeCount"
        FROM turns WHERE turns.round = r.round ORDER BY cohort) t) AS turns
    FROM (SELECT * FROM rounds WHERE node_count > 0 ORDER BY created_at DESC, round DESC LIMIT ${entriesMax(sql)}) r
    ORDER BY r.created_at DESC, r.round DESC LIMIT ${limit}`
}

/** GET /api/distributions/:id/turns: a round's single turns, by cohort and time. Null if no such round credited nodes. */
export async function readTurns(
  sql: Sql,
  { round, limit, offset }: { round: bigint; limit: number; offset: number },
): Promise<{ total: number; turns: { dueSec: number }[] } | null> {
  if (round > INT8_MAX) return null
  const [row] = await sql<{ total: number; turns: { dueSec: number }[] }[]>`
    WITH credited AS (SELECT * FROM turns WHERE round = ${round.toString()})
    SELECT (SELECT sum(turns) FROM credited) AS total, (SELECT coalesce(json_agg(t), '[]') FROM (
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
        ORDER BY cohort, single.due LIMIT ${limit} OFFSET ${offset}) t) AS turns
    WHERE EXISTS (SELECT FROM credited)`
  return row ?? null
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
  /** The tier that must sell out before this one opens; null if none must. */
  awaits: string | null
}

/** GET /api/deploy-quote: the price of the named tier or, if none is named, of the first tier on sale, open ones first. Null if there is none. */
export async function readQuote(sql: Sql, tierId: string | null): Promise<QuotedTier | null> {
  const [row] = await sql<QuotedTier[]>`
    SELECT tier_id AS "tierId", price_wei::text AS "priceWei", ${sql.unsafe(SOLD_OUT)} AS "soldOut", state, sold, reserved, most::float8,
      CASE WHEN NOT EXISTS (SELECT FROM tier_openings o WHERE (o.tier_id, o.opens_after) = (now.tier_id, now.opens_after)) THEN opens_after END AS awaits
    FROM (${tiersNow(sql, await countPlaces(sql))}) now
    WHERE on_sale ${tierId === null ? sql`` : sql`AND tier_id = ${tierId}`} ORDER BY state = 'open' DESC, state = 'closed', tier_no LIMIT 1`
  return row ?? null
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
      (SELECT paused FROM ledger_state) AS paused,
      (SELECT jsonb_build_object('reason', value -> 'reason', 'since', value -> 'since') FROM troubles WHERE name = 'halted') AS halted,
      ${sql.unsafe(STUCK)} AS stuck,
      ${sql.unsafe(NOT_SIGNING)} AS "notSigning",
      coalesce((SELECT payouts FROM (${sql.unsafe(TERMS_IN_FORCE)}) terms), false) AS payouts,
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
