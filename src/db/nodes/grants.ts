// Nodes without a payment. The operator may grant such a node; without a grant, its cohort is not credited.
import type { Address, Hash, Wei } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { countUnpaid } from './cohorts.ts'
import { CREDITED } from './nodes.ts'

/** A page of nodes without a payment, newest first, each with its grant, if any. `open` leaves out granted and expelled nodes. */
export async function listUnpaidNodes(
  sql: Sql,
  { open, before, limit }: { open: boolean; before: number | null; limit: number },
): Promise<{ id: number; owner: Address }[]> {
  return await sql<{ id: number; owner: Address }[]>`
    SELECT n.node_id AS id, n.node_id::text AS "nodeId", n.owner, coalesce(n.cohort, 0) AS cohort, c.tier_no AS "tierNo", n.ref,
      n.mint_tx_hash AS "mintTxHash", iso(n.minted_at) AS "mintedAt",
      (SELECT row_to_json(x) FROM (SELECT g.reason, g.granted_by AS "grantedBy", iso(g.granted_at) AS "grantedAt") x
        WHERE g.ref IS NOT NULL) AS "grant"
    FROM nodes n LEFT JOIN cohorts c USING (cohort) LEFT JOIN grants g ON g.ref = n.ref
    WHERE n.payment_id IS NULL ${before === null ? sql`` : sql`AND n.node_id < ${before}`}
      ${open ? sql`AND g.ref IS NULL AND n.cohort IS NOT NULL` : sql``}
    ORDER BY n.node_id DESC LIMIT ${limit}`
}

/** Counts the nodes that `listUnpaidNodes` lists with `open`, up to a limit. */
export async function countUnpaidNodes(sql: Sql, most: number): Promise<number> {
  const [row] = await sql<{ nodes: number }[]>`SELECT ${sql.unsafe(countUnpaid(most))} AS nodes`
  return row?.nodes ?? 0
}

/** A node's ref, and its payment if any; null if the ledger has no such node. Locked until the transaction ends. */
export async function lockNode(sql: Sql, nodeId: number): Promise<{ ref: Hash; paid: boolean } | null> {
  const [row] = await sql<{ ref: Hash; paid: boolean }[]>`
    SELECT ref, payment_id IS NOT NULL AS paid FROM nodes WHERE node_id = ${nodeId} FOR UPDATE`
  return row ?? null
}

/** Grants the node of a ref. @returns false if it was granted already. */
export async function insertGrant(sql: Sql, ref: Hash, reason: string, by: string): Promise<boolean> {
  const insertion = await sql`
    INSERT INTO grants (ref, reason, granted_by) VALUES (${ref}, ${reason}, ${by}) ON CONFLICT DO NOTHING`
  return insertion.count > 0
}

/** Revokes a grant. @returns its note, or null if there was none. */
export async function deleteGrant(sql: Sql, ref: Hash): Promise<{ reason: string; grantedBy: string } | null> {
  const [row] = await sql<{ reason: string; grantedBy: string }[]>`
    DELETE FROM grants WHERE ref = ${ref} RETURNING reason, granted_by AS "grantedBy"`
  return row ?? null
}

/** What the ledger knows for and against expelling the node of a ref. */
export interface NodeOfRef {
  ref: Hash
  nodeId: number
  owner: Address
  /** Null once the node was expelled. */
  cohort: number | null
  granted: boolean
  /** What the node was credited since its mint. After its first credit it can be expelled only for a while. */
  creditedWei: Wei
  /** Unix seconds. */
  mintedAt: number
  /** The cohort's interval; null once the node was expelled. */
  intervalSec: number | null
}

/** The nodes of these refs, ordered by id. A ref without a node is left out. */
export async function readNodesOfRefs(sql: Sql, refs: readonly Hash[]): Promise<NodeOfRef[]> {
  return await sql<NodeOfRef[]>`
    SELECT n.ref, n.node_id AS "nodeId", n.owner, n.cohort, g.ref IS NOT NULL AS granted,
      ${sql.unsafe(CREDITED)} AS "creditedWei", extract(epoch FROM n.minted_at)::bigint AS "mintedAt", c.interval_sec AS "intervalSec"
    FROM nodes n LEFT JOIN cohorts c USING (cohort) LEFT JOIN grants g ON g.ref = n.ref
    WHERE n.ref = ANY(${[...refs]}) ORDER BY n.node_id`
}
