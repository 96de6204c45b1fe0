// A followed block in which a stranger claims a payment or a node that we have no record of. The next run of any instance compares our records with the
// block. All strangers together may have one block compared a minute, because each costs a whole block's evidence.
import type { Sql } from '../core/sql.ts'

/** How often strangers may have a block compared, all together. */
const CLAIM_EVERY_SEC = 60

/** Notes a block. @returns false if strangers have had a block compared within the last minute. */
export async function noteClaimedBlock(sql: Sql, block: number): Promise<boolean> {
  const update = await sql`
    UPDATE ledger_state SET claimed_block = ${block}, claimed_at = now()
    WHERE claimed_at IS NULL OR claimed_at <= now() - make_interval(secs => ${CLAIM_EVERY_SEC})`
  return update.count > 0
}

/** Takes the noted block, so that only one run compares it; null if there is none. */
export async function takeClaimedBlock(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ block: number }[]>`
    UPDATE ledger_state s SET claimed_block = NULL FROM (SELECT claimed_block FROM ledger_state FOR UPDATE) noted
    WHERE noted.claimed_block IS NOT NULL RETURNING noted.claimed_block AS block`
  return row?.block ?? null
}
