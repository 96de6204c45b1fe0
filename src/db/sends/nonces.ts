// Used sign-in nonces, stored by hash, so that each works only once across all instances.
import type { Sql } from '../core/sql.ts'

/** How many expired rows each use deletes: more than one, so the table shrinks. */
const PRUNED_PER_USE = 10

/**
 * Marks a nonce as used, and keeps it for `keepSec` seconds by the database's clock, because the issuer's clock may
 * differ.
 * @returns false if it had been used before.
 */
export async function spendNonce(sql: Sql, nonceHash: string, keepSec: number): Promise<boolean> {
  const insertion = await sql`
    WITH lapsed AS (
      SELECT nonce_hash FROM used_nonces WHERE expires_at < now() ORDER BY expires_at LIMIT ${PRUNED_PER_USE}
      FOR UPDATE SKIP LOCKED
    ), deleted AS (
      DELETE FROM used_nonces n USING lapsed WHERE n.nonce_hash = lapsed.nonce_hash
    )
    INSERT INTO used_nonces (nonce_hash, expires_at) VALUES (${nonceHash}, now() + make_interval(secs => ${keepSec}))
    ON CONFLICT (nonce_hash) DO NOTHING RETURNING 1`
  return insertion.count > 0
}
