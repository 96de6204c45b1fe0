// Compares the answers stored with rows with those computed from the rows' columns: for every credit, withdrawal and distribution.
import assert from 'node:assert/strict'
import type { Fragment, Sql } from '../../src/db/core/sql.ts'
import { PRICED_ANSWER, STORED_CREDIT, STORED_WITHDRAWAL, storedDistribution } from '../../src/db/nodes/answers.ts'

/** Throws if one differs. @returns how many rows have a stored answer, and how many of these lack their price. */
export async function compareAnswers(sql: Sql): Promise<{ stored: number; unpriced: number }> {
  const priced = sql.unsafe(PRICED_ANSWER)
  const both: Record<string, [stored: Fragment, made: Fragment]> = {
    credits: [
      sql`SELECT concat_ws(' ', round, cohort) AS key, ${priced} AS json FROM turns`,
      sql`SELECT concat_ws(' ', round, cohort) AS key, ${priced} AS json
        FROM (SELECT round, cohort, amount_wei FROM turns) t CROSS JOIN LATERAL ${sql.unsafe(STORED_CREDIT)} made`,
    ],
    withdrawals: [
      sql`SELECT id AS key, ${priced} AS json FROM withdrawals`,
      sql`SELECT id AS key, ${priced} AS json
        FROM (SELECT id, amount_wei, to_address, tx_hash, status, created_at, confirmed_at FROM withdrawals) w
        CROSS JOIN LATERAL ${sql.unsafe(STORED_WITHDRAWAL)} made`,
    ],
    distributions: [
      sql`SELECT round AS key, answer AS json FROM rounds`,
      sql`SELECT round AS key, ${sql.unsafe(storedDistribution('turns WHERE turns.round = r.round'))} AS json
        FROM (SELECT round, mode, total_wei, node_count, created_at, tx_hash, block_number FROM rounds) r`,
    ],
  }
  for (const [what, [stored, made]] of Object.entries(both)) {
    const differing = await sql`
      SELECT stored.json AS stored, made.json AS made
      FROM (${stored}) stored FULL JOIN (${made}) made USING (key) WHERE stored.json IS DISTINCT FROM made.json LIMIT 1`
    assert.deepEqual([...differing], [], `${what} are stored as they are made`)
  }
  const [counted] = await sql<{ stored: number; unpriced: number }[]>`
    SELECT count(answer) AS stored, count(unpriced_hour) AS unpriced FROM (
      SELECT answer, unpriced_hour FROM turns UNION ALL SELECT answer, unpriced_hour FROM withdrawals
      UNION ALL SELECT answer, NULL FROM rounds) rows`
  assert.ok(counted)
  return counted
}
