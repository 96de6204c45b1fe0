// The last run of each pass: start, end and outcome. The health report shows the credit pass's row as the tick. No other transaction locks these rows
// for long, so a write here also shows whether the database accepts writes at all.
import { randomUUID } from 'node:crypto'
import { isReadOnly } from './faults.ts'
import { type Fragment, inTransaction, inUndoneTransaction, jsonRows, type Pool, type Sql } from './sql.ts'

/** The longest wait for a lock. A session that holds the table for longer is not an instance of the service. */
const LOCK_MS_MAX = 2_000
/** Each try fills half a page, so on a full disk the second try fails at the latest. */
const TRY_BYTES = 1_900

const boundWait = (sql: Sql) => sql.unsafe(`SET LOCAL lock_timeout = ${LOCK_MS_MAX}`)

/**
 * Seconds since the pass in row `p` of `passes` last succeeded. A run that halted or stopped on a fault did not succeed. If none ever succeeded,
 * counts from the ledger's first start.
 */
export const withoutSuccess = (sql: Sql, p: Fragment) => sql`
  extract(epoch FROM clock_timestamp() - coalesce(${p}.succeeded_at, (SELECT started_at FROM ledger_state)))::float8`

/** Records that a pass began. If the session is read-only, tries again in the session that the pool opens instead (sql.ts). */
export async function passStarted(pool: Pool, name: string): Promise<void> {
  const start = () =>
    inTransaction(pool, async (sql) => {
      await boundWait(sql)
      await sql`
        INSERT INTO passes (name, started_at) VALUES (${name}, clock_timestamp())
        ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at`
    })
  await start().catch((error: unknown) => (isReadOnly(error) ? start() : Promise.reject(error)))
}

/** Tries a write, and undoes it. Throws the database's error. Locks no row that others write. */
export async function tryWrite(pool: Pool): Promise<void> {
  await inUndoneTransaction(pool, async (sql) => {
    await boundWait(sql)
    await sql`
      INSERT INTO passes (name, started_at, error) VALUES (${`try ${randomUUID()}`}, clock_timestamp(), repeat(' ', ${TRY_BYTES}))`
  })
}

/** Records how a pass ended: its outcome, and the message of an error, even if the pass continued despite it. */
export async function passFinished(
  sql: Sql,
  name: string,
  result: { outcome: object; error?: string | null } | { error: string },
): Promise<void> {
  const outcome = 'outcome' in result ? jsonRows([result.outcome]) : null
  const error = result.error?.slice(0, 2000) ?? null
  await sql`
    UPDATE passes SET finished_at = clock_timestamp(), outcome = coalesce(${outcome}::text::jsonb -> 0, outcome), error = ${error},
      succeeded_at = CASE WHEN ${error}::text IS NULL THEN clock_timestamp() ELSE succeeded_at END
    WHERE name = ${name}`
}

/** Seconds since a pass last began; Infinity if it has never run. */
export async function secondsSincePass(sql: Sql, name: string): Promise<number> {
  const [row] = await sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM clock_timestamp() - started_at)::float8 AS seconds FROM passes WHERE name = ${name}`
  return row?.seconds ?? Infinity
}
