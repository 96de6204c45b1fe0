// Differences between the ledger and the chain, planted in the database as if the follower had missed an event. Following the block again mends each
// of them.
import type { Hash } from '../../../src/domain/units.ts'
import type { World } from '../world.ts'

const foreignRef = (nodeId: number) => `0x${String(nodeId).padStart(64, '9')}` as Hash

/** Plants a difference at a node. @returns false if the node has nothing of that kind, and nothing was changed. */
type Plant = (world: Pick<World, 'pool'>, nodeId: number) => Promise<boolean>

/** Deletes a node, as if the follower had never seen it. */
export async function loseNode({ pool }: Pick<World, 'pool'>, nodeId: number): Promise<boolean> {
  return await pool.begin(async (sql) => {
    await sql`UPDATE payments SET node_id = NULL, state = 'accepted' WHERE node_id = ${nodeId}`
    await sql`UPDATE cohorts SET size = size - 1 WHERE cohort = (SELECT cohort FROM nodes WHERE node_id = ${nodeId})`
    await sql`UPDATE cohort_states s SET size = s.size - 1 FROM nodes n
      WHERE n.node_id = ${nodeId} AND s.cohort = n.cohort AND s.block_number >= n.block_number`
    return (await sql`DELETE FROM nodes WHERE node_id = ${nodeId}`).count > 0
  })
}

export const DIFFERENCES: Readonly<Record<string, Plant>> = {
  'a node fewer': loseNode,
  async 'a node more'({ pool }, nodeId) {
    const { count } = await pool`
      INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash, proof)
      SELECT (SELECT max(node_id) + 7 FROM nodes), owner, cohort, ${foreignRef(nodeId)}, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at,
        block_number, block_hash, proof
      FROM nodes WHERE node_id = ${nodeId} ON CONFLICT DO NOTHING`
    return count > 0
  },
  'a transfer of a node fewer': ({ pool }, nodeId) =>
    pool.begin(async (sql) => {
      const [last] = await sql<{ from: string }[]>`
        DELETE FROM node_transfers WHERE ctid = (SELECT ctid FROM node_transfers WHERE node_id = ${nodeId}
          ORDER BY block_number DESC, log_index DESC LIMIT 1)
        RETURNING from_address AS from`
      if (last) await sql`UPDATE nodes SET owner = ${last.from} WHERE node_id = ${nodeId}`
      return last !== undefined
    }),
  'the withdrawals of a node fewer': ({ pool }, nodeId) =>
    pool.begin(async (sql) => {
      const { count } = await sql`DELETE FROM withdrawals WHERE node_id = ${nodeId} AND status <> 'failed'`
      if (count > 0) await sql`UPDATE nodes SET withdrawn_wei = 0 WHERE node_id = ${nodeId}`
      return count > 0
    }),
  'another ref of a node': ({ pool }, nodeId) =>
    pool.begin(async (sql) => {
      const { count } = await sql`
        UPDATE payments SET state = 'accepted', node_id = NULL WHERE node_id = ${nodeId}`
      if (count > 0)
        await sql`UPDATE nodes SET payment_id = NULL, ref = ${foreignRef(nodeId)} WHERE node_id = ${nodeId}`
      return count > 0
    }),
  'the turns of a cohort fewer': ({ pool }, nodeId) =>
    pool.begin(async (sql) => {
      const cohort = sql`(SELECT cohort FROM nodes WHERE node_id = ${nodeId})`
      const { count } = await sql`DELETE FROM turns WHERE cohort = ${cohort}`
      if (count > 0)
        await sql`UPDATE cohorts c SET next_due = s.next_due, per_node_wei = 0 FROM cohort_states s WHERE c.cohort = ${cohort} AND s.cohort = c.cohort
          AND s.block_number = (SELECT min(block_number) FROM cohort_states o WHERE o.cohort = s.cohort)`
      return count > 0
    }),
}
