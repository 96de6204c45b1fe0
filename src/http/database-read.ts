// The routes' access to the database, with a circuit breaker. While the database does not answer, requests fail immediately. Only one at a time probes it
// (half-open). A queue would only wait for a connection that cannot be opened, and then start all its requests together.

import { databaseFault, mayPass } from '../db/core/faults.ts'
import { watchReplica } from '../db/core/replica.ts'
import type { Pool } from '../db/core/sql.ts'
import { inTime, Overdue } from '../lib/deadline.ts'
import type { Log } from '../lib/log.ts'

/** Every statement of the routes uses an index. If a statement takes longer than this, the database is not answering. */
const ANSWER_MS_MAX = 3_000
/** How long we pause after a failure before the next probe. */
const PAUSE_MS = 250

/** Runs a reading on a pool. Throws what the reading throws; throws Overdue if the reading is late or the database is down. */
export type DatabaseRead = <T>(read: (sql: Pool) => Promise<T>) => Promise<T>

/** Access to a replica. Falls back to the primary if the replica does not answer, lags, or cancels a reading to catch up. */
export function replicaRead(
  pool: Pool,
  primary: DatabaseRead,
  { monotonicClock, log }: { monotonicClock: () => number; log: Log },
): DatabaseRead {
  const replica = databaseRead(pool)
  const watch = watchReplica({
    primary,
    replica,
    monotonicClock,
    onChange: (usable, why) =>
      usable
        ? log.info({ why }, 'reading from the replica again')
        : log.warn({ why }, 'not reading from the replica: the primary serves all reads'),
  })
  return async (read) => {
    // A possibly stale answer is better than none, so if the first does not answer, we ask the second.
    const [first, second] = (await watch.usable()) ? [replica, primary] : [primary, replica]
    try {
      return await first(read)
    } catch (error) {
      // `mayPass`: PostgreSQL also cancels a replica's query that needs rows the primary has since removed.
      if (error instanceof Overdue || mayPass(error)) return second(read)
      throw error
    }
  }
}

/** Builds the access to one database. */
export function databaseRead(pool: Pool): DatabaseRead {
  /** The last failure. Until the next probe, requests fail with it too. */
  let away: unknown = null
  let quietUntil = 0
  return async (read) => {
    // Uses the real clock and not the injected one, because this only gives the database a rest and affects no rule.
    if (away !== null && performance.now() < quietUntil) throw away
    // This request probes for all; the others fail until it succeeds.
    if (away !== null) quietUntil = performance.now() + ANSWER_MS_MAX
    try {
      const answer = await inTime('the database', ANSWER_MS_MAX, read(pool))
      away = null
      return answer
    } catch (error) {
      // A database that rejects writes can still be read.
      const isAway = error instanceof Overdue || databaseFault(error)?.kind === 'away'
      away = isAway ? error : null
      if (away !== null) quietUntil = performance.now() + PAUSE_MS
      throw error
    }
  }
}
