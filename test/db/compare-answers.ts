// Compares the answers that are stored beside rows with those made of the rows' columns: of every credit, withdrawal and distribution.
import assert from 'node:assert/strict'
import type { Fragment, Sql } from '../../src/db/core/sql.ts'
import { SHOWN_CREDIT, SHOWN_DISTRIBUTION, SHOWN_WITHDRAWAL } from '../../src/db/nodes/answers.ts'

/** Throws where one differs. @returns how many rows have a stored answer, with its price or without, and how many have none. */
export async function compareAnswers(sql: Sql): Promise<{ stored: number; unpriced: number; none: number }> {
  const none = sql`NULL::text AS answer, NULL::smallint AS answer_format`
  const noHour = sql`NULL::timestamptz AS unpriced_hour`
  const both: Record<string, [stored: Fragment, made: Fragment]> = {
    credits: [
      sql`SELECT concat_ws(' ', round, cohort) AS key, ${sql.unsafe(SHOWN_CREDIT)} AS json FROM turns t`,
      sql`SELECT concat_ws(' ', round, cohort) AS key, ${sql.unsafe(SHOWN_CREDIT)} AS json
        FROM (SELECT round, cohort, amount_wei, ${none}, ${noHour} FROM turns) t`,
    ],
    withdrawals: [
      sql`SELECT id AS key, ${sql.unsafe(SHOWN_WITHDRAWAL)} AS json FROM withdrawals w`,
      sql`SELECT id AS key, ${sql.unsafe(SHOWN_WITHDRAWAL)} AS json
        FROM (SELECT id, amount_wei, to_address, tx_hash, status, created_at, confirmed_at, ${none}, ${noHour} FROM withdrawals) w`,
    ],
    distributions: [
      sql`SELECT round AS key, ${sql.unsafe(SHOWN_DISTRIBUTION)} AS json FROM rounds r WHERE node_count > 0`,
      sql`SELECT round AS key, ${sql.unsafe(SHOWN_DISTRIBUTION)} AS json
        FROM (SELECT round, mode, total_wei, node_count, created_at, tx_hash, block_number, ${none} FROM rounds WHERE node_count > 0) r`,
    ],
  }
  for (const [what, [stored, made]] of Object.entries(both)) {
    const differing = await sql`
      SELECT stored.json AS stored, made.json AS made
      FROM (${stored}) stored FULL JOIN (${made}) made USING (key) WHERE stored.json IS DISTINCT FROM made.json LIMIT 1`
    assert.deepEqual([...differing], [], `${what} are stored as they are made`)
  }
  const [counted] = await sql<{ stored: number; unpriced: number; none: number }[]>`
    SELECT count(answer) AS stored, count(unpriced_hour) AS unpriced, count(*) FILTER (WHERE answer IS NULL) AS none FROM (
      SELECT answer, unpriced_hour FROM turns UNION ALL SELECT answer, unpriced_hour FROM withdrawals
      UNION ALL SELECT answer, NULL FROM rounds WHERE node_count > 0) rows`
  assert.ok(counted)
  return counted
}
