// What the pictures for previews say of a node and of a round: a statement each, answered from indexes.
import type { Sql } from '../core/sql.ts'
import { INT8_MAX } from './public-api.ts'

export interface PicturedNode {
  nodeId: string
  tierId: string | null
  /** The tier's name today; null where the node belongs to no tier that is known. */
  tierLabel: string | null
  creditedWei: bigint
  /** The time of the block that this was read at, in seconds. */
  asOfSec: number
}

/** A node by its chain id, else by its row id, as /api/node/:id has it. Null where neither exists. */
export async function readPicturedNode(sql: Sql, id: bigint): Promise<PicturedNode | null> {
  if (id > INT8_MAX) return null
  const [row] = await sql<(Omit<PicturedNode, 'creditedWei'> & { creditedWei: string })[]>`
    SELECT n.node_id::text AS "nodeId", t.tier_id AS "tierId", t.label AS "tierLabel",
      coalesce(c.per_node_wei - n.per_node_at_mint_wei, 0)::text AS "creditedWei",
      (SELECT block_time FROM cursors WHERE name = 'follow') AS "asOfSec"
    FROM nodes n LEFT JOIN cohorts c ON c.cohort = n.cohort LEFT JOIN payments p ON p.id = n.payment_id
      LEFT JOIN tiers t ON t.live AND (t.tier_id = p.tier_id OR (p.tier_id IS NULL AND t.tier_no = c.tier_no))
    WHERE n.node_id = ${id.toString()} OR n.id = ${id.toString()}
    ORDER BY n.node_id = ${id.toString()} DESC LIMIT 1`
  return row ? { ...row, creditedWei: BigInt(row.creditedWei), asOfSec: Number(row.asOfSec) } : null
}

export interface PicturedRound {
  round: string
  nodeCount: number
  totalWei: bigint
  createdAt: Date
}

/** A round that credited nodes. */
export async function readPicturedRound(sql: Sql, round: bigint): Promise<PicturedRound | null> {
  if (round > INT8_MAX) return null
  const [row] = await sql<{ round: string; nodeCount: string; totalWei: string; createdSec: string }[]>`
    SELECT round::text, node_count::text AS "nodeCount", total_wei::text AS "totalWei",
      floor(extract(epoch FROM created_at))::text AS "createdSec"
    FROM rounds WHERE round = ${round.toString()} AND node_count > 0`
  if (!row) return null
  return {
    round: row.round,
    nodeCount: Number(row.nodeCount),
    totalWei: BigInt(row.totalWei),
    createdAt: new Date(Number(row.createdSec) * 1000),
  }
}
