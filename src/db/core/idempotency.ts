// Stores answers under their caller's key, so that a repeated request gets the same answer and nothing runs twice.
import type { Sql } from './sql.ts'

/** How long we keep an answer: longer than any client retries. */
const KEPT_HOURS = 48
/** How many expired rows each new key deletes: more than one, so the table shrinks back to two days' acts. */
const PRUNED_MAX = 100
/** The lease of an act. Acts finish within seconds. If one has not, a crash cut it off, and it may run again. */
const TAKEN_OVER_SEC = 60

export type KeyState =
  /** The caller runs the act, and finishes or frees the key. */
  | { kind: 'ours' }
  | { kind: 'answered'; answer: string }
  /** Another caller is running the act. */
  | { kind: 'underWay' }
  /** The key came with a different request. */
  | { kind: 'otherRequest' }

/** Takes a key for a request. The digest covers method, path and body. */
export async function takeKey(sql: Sql, actor: string, key: string, digest: string): Promise<KeyState> {
  await sql`
    WITH lapsed AS (
      SELECT actor, key FROM idempotency_keys WHERE started_at < now() - make_interval(hours => ${KEPT_HOURS})
      ORDER BY started_at LIMIT ${PRUNED_MAX} FOR UPDATE SKIP LOCKED
    )
    DELETE FROM idempotency_keys k USING lapsed WHERE k.actor = lapsed.actor AND k.key = lapsed.key`
  const insertion = await sql`
    INSERT INTO idempotency_keys AS k (actor, key, digest) VALUES (${actor}, ${key}, ${digest})
    ON CONFLICT (actor, key) DO UPDATE SET started_at = now()
      WHERE k.answer IS NULL AND k.digest = excluded.digest
        AND k.started_at < now() - make_interval(secs => ${TAKEN_OVER_SEC})
    RETURNING key`
  if (insertion.count > 0) return { kind: 'ours' }
  const [row] = await sql<{ digest: string; answer: string | null }[]>`
    SELECT digest, answer FROM idempotency_keys WHERE actor = ${actor} AND key = ${key}`
  // The key was freed in between, so the next request finds it free.
  if (!row) return { kind: 'underWay' }
  if (row.digest !== digest) return { kind: 'otherRequest' }
  return row.answer === null ? { kind: 'underWay' } : { kind: 'answered', answer: row.answer }
}

/** Stores the answer of a finished act. */
export async function finishKey(sql: Sql, actor: string, key: string, answer: string): Promise<void> {
  await sql`UPDATE idempotency_keys SET answer = ${answer} WHERE actor = ${actor} AND key = ${key}`
}

/** Frees the key of an act that was refused or failed. If the same request comes again, it is checked again. */
export async function freeKey(sql: Sql, actor: string, key: string): Promise<void> {
  await sql`DELETE FROM idempotency_keys WHERE actor = ${actor} AND key = ${key} AND answer IS NULL`
}
