// The last run of each pass: start, end and outcome. The credit pass's row is the tick that the health report shows.
import { jsonRows, type Sql } from './sql.ts'

/** Records that a pass began. */
export async function passStarted(sql: Sql, name: string): Promise<void> {
  await sql`
    INSERT INTO passes (name, started_at) VALUES (${name}, clock_timestamp())
    ON CONFLICT (name) DO UPDATE SET started_at = excluded.started_at`
}

/** Records how a pass ended: its outcome, and the message of the error that stopped it or that it went on despite. */
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

/** Seconds since a pass last began; null when it never did. */
export async function secondsSincePass(sql: Sql, name: string): Promise<number | null> {
  const [row] = await sql<{ seconds: number }[]>`
    SELECT extract(epoch FROM clock_timestamp() - started_at)::float8 AS seconds FROM passes WHERE name = ${name}`
  return row?.seconds ?? null
}
