// Followed blocks in which someone claims a payment that we have no record of. The next run compares our records with the block's own transactions.
// Each block is a row of `settings`, so any instance's run finds it.
import type { Sql } from '../core/sql.ts'

/** How many blocks may be noted at once, because anyone can claim. Further claims wait until runs have checked these. */
const CLAIMED_MAX = 20

/** Notes a block. @returns false if too many are noted already. */
export async function noteClaimedBlock(sql: Sql, blockNumber: number): Promise<boolean> {
  const noted = await sql`
    INSERT INTO settings (name, value, updated_by)
    SELECT ${`claimed block ${blockNumber}`}, '{}', 'claim'
    WHERE (SELECT count(*) FROM settings WHERE name LIKE 'claimed block %') < ${CLAIMED_MAX}
    ON CONFLICT (name) DO UPDATE SET updated_at = now() RETURNING 1`
  return noted.count > 0
}

/** Removes the oldest noted block and returns it; null if there is none. */
export async function takeClaimedBlock(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ blockNumber: number }[]>`
    DELETE FROM settings WHERE name = (
      SELECT name FROM settings WHERE name LIKE 'claimed block %' ORDER BY updated_at, name LIMIT 1)
    RETURNING substr(name, 15)::int AS "blockNumber"`
  return row?.blockNumber ?? null
}
