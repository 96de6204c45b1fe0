// A node that the ledger lost: deleted as if the follower had never seen it.
import type { World } from '../world.ts'

export async function loseNode({ pool }: Pick<World, 'pool'>, nodeId: number): Promise<void> {
  await pool.begin(async (sql) => {
    await sql`UPDATE payments SET node_id = NULL, state = 'accepted' WHERE node_id = ${nodeId}`
    await sql`UPDATE cohorts SET size = size - 1 WHERE cohort = (SELECT cohort FROM nodes WHERE node_id = ${nodeId})`
    await sql`UPDATE cohort_states s SET size = s.size - 1 FROM nodes n
      WHERE n.node_id = ${nodeId} AND s.cohort = n.cohort AND s.block_number >= n.block_number`
    await sql`DELETE FROM nodes WHERE node_id = ${nodeId}`
  })
}
