// The routes' access to the database, with a circuit breaker. While the database does not answer, requests fail at once, and one at a time
// (half-open) probes it. A queue would only wait for a connection that cannot be opened, and then all its requests would start at once.

import { databaseFault, mayPass } from '../db/core/faults.ts'
import { watchReplica } from '../db/core/replica.ts'
import type { Pool } from '../db/core/sql.ts'
import { inTime, Overdue } from '../lib/deadline.ts'
import type { Log } from '../lib/log.ts'

/** Indexes answer every statement of the routes, so one that takes this long is not being answered. */
const ANSWER_MS_MAX = 3_000
/** Pause after a failure until the next probe. */
const PAUSE_MS = 250

/** Runs a reading on a pool. Throws what the reading throws, and Overdue if it is late or the database is down. */
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
        ? log.info({ why }, 'the replica is read from again')
        : log.warn({ why }, 'the replica is not read from: the primary serves all reads'),
  })
  return async (read) => {
    // An answer that may be old is better than none, so we ask the second if the first does not answer.
    const [first, second] = (await watch.usable()) ? [replica, primary] : [primary, replica]
    try {
      return await first(read)
    } catch (error) {
      // Also ends a reading of rows that the primary has meanwhile removed.
      if (error instanceof Overdue || mayPass(error)) return second(read)
      throw error
    }
  }
}

/** Builds the access to one database. */
export function databaseRead(pool: Pool): DatabaseRead {
  /** The last failure; requests before the next probe fail with the same one. */
  let away: unknown = null
  let quietUntil = 0
  return async (read) => {
    // Not the injected clock, because this is only about leaving a machine alone, not about any rule.
    if (away !== null && performance.now() < quietUntil) throw away
    // This request probes for all; the others fail until it succeeds.
    if (away !== null) quietUntil = performance.now() + ANSWER_MS_MAX
    try {
      const answer = await inTime('the database', ANSWER_MS_MAX, read(pool))
      away = null
      return answer
    } catch (error) {
      // A database that takes no writes can still be read.
      const isAway = error instanceof Overdue || databaseFault(error)?.kind === 'away'
      away = isAway ? error : null
      if (away !== null) quietUntil = performance.now() + PAUSE_MS
      throw error
    }
  }
}
