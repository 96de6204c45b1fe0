// Nodes, their owners, and the owners' withdrawals, all from the chain's events.
import type { FailedWithdrawal } from '../../domain/observed.ts'
import {
  lastOwners,
  type NewExpulsion,
  type NewNode,
  type NewWithdrawal,
  type OwnershipChange,
} from '../../domain/replay.ts'
import type { Address, Hash, Wei } from '../../domain/units.ts'
import { column, jsonRows, type Sql } from '../core/sql.ts'

/** What a node `n` was credited; `c` is its cohort, which an expelled node does not have. */
export const CREDITED = `CASE WHEN n.cohort IS NULL THEN (SELECT e.credited_wei FROM expulsions e WHERE e.node_id = n.node_id)
  ELSE c.per_node_wei - n.per_node_at_mint_wei END`

/** Stores minted nodes. `adoptNodes` assigns them to payments. */
export async function insertNodes(sql: Sql, nodes: readonly NewNode[]): Promise<void> {
  if (nodes.length === 0) return
  await sql`
    INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number,
      block_hash, proof)
    SELECT r."nodeId", r.owner, r.cohort, r.ref, r."perNodeAtMintWei", r."turnsAtMint", r."txHash",
      to_timestamp(r."blockTime"), r."blockNumber", r."blockHash", coalesce(r.proof, 'believed')
    FROM jsonb_to_recordset(${jsonRows(nodes)}::text::jsonb) AS r("nodeId" bigint, owner text, cohort int, ref text, proof text,
      "perNodeAtMintWei" numeric, "turnsAtMint" int, "txHash" text, "blockTime" bigint, "blockNumber" bigint,
      "blockHash" text)`
}

/** Updates what backs the mints of a block that rested on one provider's word. */
export async function noteMintProofs(sql: Sql, blockHash: Hash, mints: readonly NodeMinted[]): Promise<void> {
  for (const proof of ['proven', 'agreed'] as const) {
    const nodeIds = mints.filter((event) => event.proof === proof).map(({ nodeId }) => nodeId)
    if (nodeIds.length > 0)
      await sql`
        UPDATE nodes SET proof = ${proof}
        WHERE block_hash = ${blockHash} AND node_id = ANY(${nodeIds.map(String)}::bigint[]) AND proof = 'believed'`
  }
}

type NodeMinted = Pick<NewNode, 'nodeId' | 'proof'>

/**
 * Stores transfers of nodes and gives each node its last owner. If the ledger lacks the node, skips the transfer, because following must not stop at
 * it. Both are stored when the block of the mint is read again (mending/compare.ts).
 */
export async function insertOwnershipChanges(sql: Sql, transfers: readonly OwnershipChange[]): Promise<void> {
  if (transfers.length === 0) return
  await sql`
    INSERT INTO node_transfers (block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
    SELECT r.* FROM unnest(${column(transfers, 'blockNumber')}::bigint[], ${column(transfers, 'logIndex')}::int[],
      ${column(transfers, 'nodeId')}::bigint[], ${column(transfers, 'from')}::text[], ${column(transfers, 'to')}::text[],
      ${column(transfers, 'txHash')}::text[], ${column(transfers, 'blockHash')}::text[])
      AS r(block_number, log_index, node_id, from_address, to_address, tx_hash, block_hash)
    WHERE EXISTS (SELECT FROM nodes n WHERE n.node_id = r.node_id)`
  const owners = [...lastOwners(transfers)].map(([nodeId, owner]) => ({ nodeId, owner }))
  if (owners.length === 0) return
  await sql`
    UPDATE nodes n SET owner = r.owner
    FROM jsonb_to_recordset(${jsonRows(owners)}::text::jsonb) AS r("nodeId" bigint, owner text)
    WHERE n.node_id = r."nodeId"`
}

/**
 * Stores successful withdrawals, and each node's total, which the event itself carries. Skips withdrawals of a node that the ledger lacks, as
 * `insertOwnershipChanges` does.
 */
export async function insertWithdrawals(sql: Sql, withdrawals: readonly NewWithdrawal[]): Promise<void> {
  if (withdrawals.length === 0) return
  await sql`
    INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, confirmed_at,
      block_number, block_hash)
    SELECT r.node_id, r.amount_wei, r.withdrawn_total_wei, r.to_address, r.tx_hash, r.log_index, 'sent',
      to_timestamp(r.time), to_timestamp(r.time), r.block_number, r.block_hash
    FROM unnest(${column(withdrawals, 'nodeId')}::bigint[], ${column(withdrawals, 'amountWei')}::numeric[],
      ${column(withdrawals, 'withdrawnTotalWei')}::numeric[], ${column(withdrawals, 'to')}::text[],
      ${column(withdrawals, 'txHash')}::text[], ${column(withdrawals, 'logIndex')}::int[],
      ${column(withdrawals, 'blockTime')}::bigint[], ${column(withdrawals, 'blockNumber')}::bigint[],
      ${column(withdrawals, 'blockHash')}::text[])
      AS r(node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, time, block_number, block_hash)
    WHERE EXISTS (SELECT FROM nodes n WHERE n.node_id = r.node_id)
    ORDER BY r.block_number, r.log_index`
  const totals = [...Map.groupBy(withdrawals, ({ nodeId }) => nodeId)].map(([nodeId, ofNode]) => ({
    nodeId,
    total: ofNode.reduce((most, { withdrawnTotalWei: wei }) => (wei > most ? wei : most), 0n),
  }))
  await sql`
    UPDATE nodes n SET withdrawn_wei = r.total
    FROM unnest(${column(totals, 'nodeId')}::bigint[], ${column(totals, 'total')}::numeric[]) AS r(node_id, total)
    WHERE n.node_id = r.node_id`
}

/** Refs of nodes without a payment in these cohorts. */
export async function readUnpaidRefs(sql: Sql, cohorts: readonly number[]): Promise<Hash[]> {
  if (cohorts.length === 0) return []
  const rows = await sql<{ ref: Hash }[]>`
    SELECT ref FROM nodes WHERE cohort = ANY(${[...cohorts]}) AND payment_id IS NULL ORDER BY node_id`
  return rows.map(({ ref }) => ref)
}

/** Removes expelled nodes from their cohorts, and records which cohorts those were. Skips nodes that the ledger lacks. */
export async function insertExpulsions(sql: Sql, expulsions: readonly NewExpulsion[]): Promise<void> {
  if (expulsions.length === 0) return
  await sql`
    WITH expelled AS (
      INSERT INTO expulsions (node_id, cohort, credited_wei, turn_count, expelled_at, tx_hash, block_number, block_hash)
      SELECT r."nodeId", r.cohort, r."creditedWei", r."turnCount", to_timestamp(r."blockTime"), r."txHash", r."blockNumber",
        r."blockHash"
      FROM jsonb_to_recordset(${jsonRows(expulsions)}::text::jsonb) AS r("nodeId" bigint, cohort int, "creditedWei" numeric,
        "turnCount" int, "blockTime" bigint, "txHash" text, "blockNumber" bigint, "blockHash" text)
      WHERE EXISTS (SELECT FROM nodes n WHERE n.node_id = r."nodeId")
      RETURNING node_id)
    UPDATE nodes n SET cohort = NULL FROM expelled WHERE expelled.node_id = n.node_id`
}

/** The expelled nodes among these that have a payment. */
export async function readPaidExpulsions(
  sql: Sql,
  expulsions: readonly NewExpulsion[],
): Promise<{ nodeId: number; ref: Hash }[]> {
  if (expulsions.length === 0) return []
  return await sql<{ nodeId: number; ref: Hash }[]>`
    SELECT node_id AS "nodeId", ref FROM nodes
    WHERE node_id = ANY(${column(expulsions, 'nodeId')}::bigint[]) AND payment_id IS NOT NULL ORDER BY node_id`
}

/** True if the payment's own node was expelled. Its ref stays used, so the payment gets no other node. */
export async function isExpelled(sql: Sql, { id }: { id: number }): Promise<boolean> {
  return (await sql`SELECT FROM nodes WHERE payment_id = ${id} AND cohort IS NULL`).count > 0
}

/** The largest row id. A call may name any 256-bit word, and comparing ids with a larger one would scan all nodes. */
const NODE_ID_MAX = 2n ** 63n - 1n

const isNodeId = (id: bigint) => id > 0n && id <= NODE_ID_MAX

/**
 * Stores withdraw calls that reverted, one row per node, if the caller owned the node in the parent block; other calls leave no trace. The amount of
 * a withdrawAll is the node's balance at that point. Runs in chain order, after everything else of the range is stored.
 */
export async function insertFailedWithdrawals(sql: Sql, calls: readonly FailedWithdrawal[]): Promise<void> {
  const rows = calls.flatMap((call) =>
    [...new Set(call.nodeIds)].filter(isNodeId).map((nodeId) => ({ ...call, nodeIds: undefined, nodeId })),
  )
  if (rows.length === 0) return
  await sql`
    INSERT INTO withdrawals (node_id, amount_wei, withdrawn_total_wei, to_address, tx_hash, log_index, status, created_at, confirmed_at,
      block_number, block_hash)
    SELECT n.node_id, coalesce(r."amountWei", greatest(credited.wei - withdrawn.wei, 0)),
      NULL, r."to", r."txHash", NULL, 'failed', to_timestamp(r."blockTime"), to_timestamp(r."blockTime"), r."blockNumber", r."blockHash"
    FROM jsonb_to_recordset(${jsonRows(rows)}::text::jsonb) AS r("nodeId" bigint, caller text, "amountWei" numeric,
      "to" text, "txHash" text, "blockTime" bigint, "blockNumber" bigint, "blockHash" text)
    JOIN nodes n ON n.node_id = r."nodeId"
    JOIN LATERAL (SELECT to_address FROM node_transfers t WHERE t.node_id = n.node_id AND t.block_number < r."blockNumber"
      ORDER BY t.block_number DESC, t.log_index DESC LIMIT 1) o ON o.to_address = r.caller
    LEFT JOIN expulsions e ON e.node_id = n.node_id
    CROSS JOIN LATERAL (SELECT CASE WHEN e.block_number < r."blockNumber" THEN e.credited_wei ELSE
      coalesce((SELECT s.per_node_wei FROM cohort_states s
      WHERE s.cohort = coalesce(n.cohort, e.cohort) AND s.block_number < r."blockNumber" ORDER BY s.block_number DESC LIMIT 1),
      n.per_node_at_mint_wei) - n.per_node_at_mint_wei END AS wei) credited
    CROSS JOIN LATERAL (SELECT coalesce((SELECT w.withdrawn_total_wei FROM withdrawals w
      WHERE w.node_id = n.node_id AND w.status = 'sent' AND w.block_number < r."blockNumber"
      ORDER BY w.id DESC LIMIT 1), 0) AS wei) withdrawn`
}

/** Rewinds nodes, transfers and withdrawals to a height. Their payments must be detached already. */
export async function rewindNodes(sql: Sql, height: number): Promise<{ nodes: number; withdrawals: number }> {
  const withdrawn = await sql<{ node_id: number }[]>`
    DELETE FROM withdrawals WHERE block_number > ${height} RETURNING node_id`
  await sql`
    UPDATE nodes n SET withdrawn_wei = coalesce((
      SELECT withdrawn_total_wei FROM withdrawals w WHERE w.node_id = n.node_id AND w.status = 'sent' ORDER BY id DESC LIMIT 1), 0)
    WHERE node_id = ANY(${[...new Set(withdrawn.map((row) => row.node_id))]})`
  const transfers = await sql<{ node_id: number }[]>`
    DELETE FROM node_transfers WHERE block_number > ${height} RETURNING node_id`
  await sql`
    WITH undone AS (DELETE FROM expulsions WHERE block_number > ${height} RETURNING *)
    UPDATE nodes n SET cohort = t.cohort FROM undone t WHERE t.node_id = n.node_id`
  const deletion = await sql`DELETE FROM nodes WHERE block_number > ${height}`
  await sql`
    UPDATE nodes n SET owner = (
      SELECT to_address FROM node_transfers t WHERE t.node_id = n.node_id ORDER BY block_number DESC, log_index DESC LIMIT 1)
    WHERE node_id = ANY(${[...new Set(transfers.map((row) => row.node_id))]})`
  return { nodes: deletion.count, withdrawals: withdrawn.count }
}

/** The blocks of a node's events in the ledger from a block on, once per event. */
export async function readEventBlocks(sql: Sql, nodeId: bigint, from: number): Promise<number[]> {
  const id = nodeId.toString()
  const rows = await sql<{ block: number }[]>`
    SELECT block_number AS block FROM (
      SELECT block_number FROM nodes WHERE node_id = ${id}
      UNION ALL SELECT block_number FROM node_transfers WHERE node_id = ${id}
      UNION ALL SELECT block_number FROM withdrawals WHERE node_id = ${id} AND status = 'sent'
      UNION ALL SELECT block_number FROM expulsions WHERE node_id = ${id}) events
    WHERE block_number >= ${from}`
  return rows.map(({ block }) => block)
}

/** The ref that the ledger has for a node; null if it lacks the node. */
export async function readRef(sql: Sql, nodeId: bigint): Promise<Hash | null> {
  const [row] = await sql<{ ref: Hash }[]>`SELECT ref FROM nodes WHERE node_id = ${nodeId.toString()}`
  return row?.ref ?? null
}

/** Which of these nodes the ledger has. */
export async function readKnownNodes(sql: Sql, nodeIds: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  if (nodeIds.length === 0) return new Set()
  const rows = await sql<{ nodeId: string }[]>`
    SELECT node_id::text AS "nodeId" FROM nodes WHERE node_id = ANY(${nodeIds.map(String)}::bigint[])`
  return new Set(rows.map(({ nodeId }) => BigInt(nodeId)))
}

/** A node in the ledger, to compare with the contract. An expelled node is in cohort 0. */
export interface LedgerNode {
  nodeId: number
  owner: Address
  creditedWei: Wei
  withdrawnWei: Wei
  cohort: number
}

/** Nodes firstId to firstId + count - 1. */
export async function readNodes(sql: Sql, firstId: number, count: number): Promise<LedgerNode[]> {
  return await sql<LedgerNode[]>`
    SELECT n.node_id AS "nodeId", n.owner, ${sql.unsafe(CREDITED)} AS "creditedWei",
      n.withdrawn_wei AS "withdrawnWei", coalesce(n.cohort, 0) AS cohort
    FROM nodes n LEFT JOIN cohorts c USING (cohort)
    WHERE n.node_id >= ${firstId} AND n.node_id < ${firstId + count} ORDER BY n.node_id`
}

/** The ledger's counters, to compare with the contract's. */
export async function readLedgerCounters(sql: Sql): Promise<{ nodes: bigint; round: number; outstandingWei: Wei }> {
  const [row] = await sql<{ nodes: number; round: number; outstandingWei: Wei }[]>`
    SELECT nodes, (SELECT coalesce(max(round), 0) FROM rounds) AS round, distributed_wei - withdrawn_wei AS "outstandingWei"
    FROM totals`
  if (!row) throw new Error('the row of kept totals is missing')
  return { ...row, nodes: BigInt(row.nodes) }
}

/** Ids from 1 to `lastId` that the ledger lacks, at most `limit`. Reads every id, so call it only if the counters differ. */
export async function missingNodeIds(sql: Sql, lastId: bigint, limit: number): Promise<bigint[]> {
  const rows = await sql<{ id: number }[]>`
    SELECT wanted.id FROM generate_series(1::bigint, ${lastId.toString()}::bigint) AS wanted(id)
    WHERE NOT EXISTS (SELECT FROM nodes n WHERE n.node_id = wanted.id) ORDER BY wanted.id LIMIT ${limit}`
  return rows.map((row) => BigInt(row.id))
}

/** The block of a node's mint. If the ledger lacks the node, the mint block of the last node before it; null if there is none. */
export async function readMintBlockUpTo(sql: Sql, nodeId: bigint): Promise<number | null> {
  const [row] = await sql<{ block: number }[]>`
    SELECT block_number AS block FROM nodes WHERE node_id <= ${nodeId.toString()} ORDER BY node_id DESC LIMIT 1`
  return row?.block ?? null
}

/** The nodes that a transaction minted, if the ledger has them. */
export async function readMintedBy(
  sql: Sql,
  txHash: Hash,
): Promise<{ nodeId: bigint; owner: Address; mintedTo: Address }[]> {
  const rows = await sql<{ nodeId: number; owner: Address }[]>`
    SELECT node_id AS "nodeId", owner FROM nodes WHERE mint_tx_hash = ${txHash} ORDER BY node_id`
  const owners = rows.map(({ nodeId, owner }) => ({ nodeId: BigInt(nodeId), owner }))
  const mintedTo = await readMintedTo(
    sql,
    owners.map(({ nodeId }) => nodeId),
  )
  return owners.map((node) => ({ ...node, mintedTo: mintedTo.get(node.nodeId) ?? node.owner }))
}

/** The ledger's mints of these nodes, or by these refs, lowest block first. */
export async function readMints(
  sql: Sql,
  mints: readonly { nodeId: bigint; ref: Hash }[],
): Promise<{ nodeId: string; ref: Hash; blockNumber: number; blockHash: Hash }[]> {
  return await sql<{ nodeId: string; ref: Hash; blockNumber: number; blockHash: Hash }[]>`
    SELECT node_id::text AS "nodeId", ref, block_number AS "blockNumber", block_hash AS "blockHash" FROM nodes
    WHERE node_id = ANY(${column(mints, 'nodeId')}::bigint[]) OR ref = ANY(${column(mints, 'ref')}::text[])
    ORDER BY block_number`
}

/** The recipient of each node's mint. Leaves out nodes that the ledger lacks. */
export async function readMintedTo(sql: Sql, nodeIds: readonly bigint[]): Promise<Map<bigint, Address>> {
  const rows = await sql<{ nodeId: number; to: Address }[]>`
    SELECT DISTINCT ON (node_id) node_id AS "nodeId", to_address AS "to" FROM node_transfers
    WHERE node_id = ANY(${nodeIds.map(String)}::bigint[]) ORDER BY node_id, block_number, log_index`
  return new Map(rows.map((row) => [BigInt(row.nodeId), row.to]))
}
