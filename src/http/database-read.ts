// The routes' way to the database, with a circuit breaker. While it does not answer, requests fail at once, and one at a time
// (half-open) probes it: a queue would only wait for a connection that cannot be opened, and then go all at once.

import { databaseFault, mayPass } from '../db/core/faults.ts'
import { watchReplica } from '../db/core/replica.ts'
import type { Pool } from '../db/core/sql.ts'
import { inTime, Overdue } from '../lib/deadline.ts'
import type { Log } from '../lib/log.ts'

/** Every statement of the routes is answered from indexes; one that takes this long is not being answered. */
const ANSWER_MS_MAX = 3_000
/** Pause after a failure until the next probe. */
const PAUSE_MS = 250

/** Runs a reading on a pool. Throws what the reading throws, and Overdue when it is late or the database is away. */
export type DatabaseRead = <T>(read: (sql: Pool) => Promise<T>) => Promise<T>

/** The way to a replica; to the primary while that one does not answer, lags, or takes a reading back to catch up. */
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
    // An answer that may be old is better than none: while the first does not answer, the second is asked.
    const [first, second] = (await watch.usable()) ? [replica, primary] : [primary, replica]
    try {
      return await first(read)
    } catch (error) {
      // It also ends a reading of rows that the primary has meanwhile thrown away.
      if (error instanceof Overdue || mayPass(error)) return second(read)
      throw error
    }
  }
}

/** Builds the way to one database. */
export function databaseRead(pool: Pool): DatabaseRead {
  /** The last failure: requests before the next probe fail with the same. */
  let away: unknown = null
  let quietUntil = 0
  return async (read) => {
    // Not the injected clock: this is about how long to leave a machine alone, not about any rule.
    if (away !== null && performance.now() < quietUntil) throw away
    // This request probes for all: the others fail until it succeeds.
    if (away !== null) quietUntil = performance.now() + ANSWER_MS_MAX
    try {
      const answer = await inTime('the database', ANSWER_MS_MAX, read(pool))
      away = null
      return answer
    } catch (error) {
      // One that takes no writes is still read from.
      const isAway = error instanceof Overdue || databaseFault(error)?.kind === 'away'
      away = isAway ? error : null
      if (away !== null) quietUntil = performance.now() + PAUSE_MS
      throw error
    }
  }
}
