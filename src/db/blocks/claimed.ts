// A followed block in which a stranger claims a payment or a node that we have no record of. The next run of any instance compares our records with the
// block. All strangers together may have one block compared a minute, because each costs a whole block's evidence.
import { jsonRows, type Sql } from '../core/sql.ts'

/** How often strangers may have a block compared, all together. */
const CLAIM_EVERY_SEC = 60

/** Notes a block. @returns false if strangers have had a block compared within the last minute. */
export async function noteClaimedBlock(sql: Sql, block: number): Promise<boolean> {
  const noted = await sql`
    INSERT INTO settings (name, value, updated_by)
    VALUES ('claimedBlock', ${jsonRows([{ block }])}::text::jsonb -> 0, 'claim')
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now()
      WHERE settings.updated_at <= now() - make_interval(secs => ${CLAIM_EVERY_SEC})
    RETURNING 1`
  return noted.count > 0
}

/** Takes the noted block, so that only one run compares it; null if there is none. */
export async function takeClaimedBlock(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ block: number }[]>`
    UPDATE settings s SET value = '{}' FROM (SELECT value FROM settings WHERE name = 'claimedBlock' FOR UPDATE) noted
    WHERE s.name = 'claimedBlock' AND noted.value ? 'block' RETURNING (noted.value ->> 'block')::int AS block`
  return row?.block ?? null
}
