// Followed blocks in which somebody claims a payment that is not on record. The next run compares each with the block's own list. A row of `settings`
// each, so that any instance's run finds them.
import type { Sql } from '../core/sql.ts'

/** Anybody may claim. Beyond this, claims wait until runs have looked at the ones before. */
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

/** Takes the oldest of them off the record; null if there is none. */
export async function takeClaimedBlock(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ blockNumber: number }[]>`
    DELETE FROM settings WHERE name = (
      SELECT name FROM settings WHERE name LIKE 'claimed block %' ORDER BY updated_at, name LIMIT 1)
    RETURNING substr(name, 15)::int AS "blockNumber"`
  return row?.blockNumber ?? null
}
