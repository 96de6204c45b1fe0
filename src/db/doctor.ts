// What the doctor asks of the ledger: the last runs, what waits, what went wrong of late. Only reads, a few rows each.
import type { Sql } from './sql.ts'

/** The last run of each pass, by the database's clock. */
export async function readRuns(sql: Sql): Promise<{ name: string; secondsAgo: number; error: string | null }[]> {
  return await sql<{ name: string; secondsAgo: number; error: string | null }[]>`
    SELECT name, extract(epoch FROM clock_timestamp() - started_at)::float8 AS "secondsAgo", error FROM passes ORDER BY name`
}

/** How many payments are held, by reason, most first. */
export async function readHeldReasons(sql: Sql): Promise<{ reason: string; payments: number }[]> {
  return await sql<{ reason: string; payments: number }[]>`
    SELECT reason, count(*) AS payments FROM payments WHERE state = 'held' GROUP BY reason ORDER BY count(*) DESC, reason`
}

export interface RecentTrouble {
  /** Of our transactions of the last day. */
  reverted: number
  pending: number
  /** Null where none is pending. */
  oldestPendingSec: number | null
  /** Rests of a sender in the last quarter of an hour. */
  rests: number
}

export async function readRecentTrouble(sql: Sql): Promise<RecentTrouble> {
  const [row] = await sql<RecentTrouble[]>`
    SELECT
      (SELECT count(*) FROM outbox WHERE state = 'reverted' AND created_at > now() - interval '1 day') AS reverted,
      (SELECT count(*) FROM outbox WHERE state = 'pending') AS pending,
      (SELECT extract(epoch FROM clock_timestamp() - min(created_at))::float8 FROM outbox WHERE state = 'pending') AS "oldestPendingSec",
      (SELECT count(*) FROM audit WHERE action = 'senderRests' AND at > now() - interval '15 minutes') AS rests`
  if (!row) throw new Error('a statement of scalars answered no row')
  return row
}

/** What the turn that comes next costs at most, in wei: every cohort due first, at the top of the range. Null without nodes. */
export async function nextRoundMaxWei(
  sql: Sql,
  maxWei: bigint,
): Promise<{ due: number; nodes: number; wei: bigint } | null> {
  const [row] = await sql<{ due: number; nodes: number; wei: bigint }[]>`
    WITH next AS (SELECT min(next_due) AS due FROM cohorts WHERE size > 0)
    SELECT next.due, sum(c.size) AS nodes, sum(c.size::numeric * div(${maxWei.toString()}::numeric * t.payout_bps, 10000)) AS wei
    FROM next JOIN cohorts c ON c.size > 0
      AND c.next_due <= greatest(next.due, (SELECT block_time FROM cursors WHERE name = 'follow'))
    JOIN tiers t ON t.tier_no = c.tier_no AND t.live GROUP BY next.due`
  return row ?? null
}
