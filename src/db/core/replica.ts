// Compares a replica with the primary, by their positions in the write-ahead log. It compares on request, at most once a second, and has no timer or
// connection of its own.
import { shared } from '../../lib/cache.ts'
import type { Pool } from './sql.ts'

/**
 * How far a replica may be behind. We do not use one that is further behind, because its balances and prices would be older than their caches allow.
 */
const REPLICA_LAG_MS_MAX = 10_000
const LOOK_EVERY_MS = 1_000
/** How many positions of the primary we remember until the replica has reached them; one is added a second while it lags. */
const MARKS_MAX = 64

/** Queries one database; throws if it does not answer. */
type Ask = <T>(read: (sql: Pool) => Promise<T>) => Promise<T>

export interface ReplicaWatch {
  /** True if we may read the replica: it keeps up, or the primary does not answer. */
  usable(): Promise<boolean>
}

/** Watches one replica. `monotonicClock` returns milliseconds. `onChange` is called when `usable` changes. */
export function watchReplica(options: {
  primary: Ask
  replica: Ask
  monotonicClock: () => number
  onChange: (usable: boolean, why: string) => void
}): ReplicaWatch {
  const { primary, replica, monotonicClock, onChange } = options
  /** Positions of the primary, with their times, that we have not seen the replica reach. */
  let marks: { position: bigint; at: number }[] = []
  /** The replica has everything that the primary had at this time. */
  let reachedAt = Number.NEGATIVE_INFINITY
  let last = true

  const look = async (): Promise<boolean> => {
    const at = monotonicClock()
    const [ahead, behind] = await Promise.allSettled([primary(positionOf), replica(positionOf)])
    if (behind.status === 'rejected') return record(false, 'it does not answer')
    // The primary is down, and a possibly old answer is better than none.
    if (ahead.status === 'rejected') return record(true, 'the primary does not answer')
    marks.push({ position: ahead.value, at })
    const mark = marks.findLast(({ position }) => position <= behind.value)
    if (mark) reachedAt = mark.at
    marks = marks.filter(({ position }) => position > behind.value).slice(-MARKS_MAX)
    const usable = at - reachedAt <= REPLICA_LAG_MS_MAX
    return record(usable, usable ? 'it keeps up' : `it is more than ${REPLICA_LAG_MS_MAX / 1000} s behind`)
  }
  const record = (usable: boolean, why: string) => {
    if (usable !== last) onChange(usable, why)
    last = usable
    return usable
  }
  return { usable: shared(look, { ageMaxMs: LOOK_EVERY_MS, clock: monotonicClock }) }
}

/** A server's position in the write-ahead log, in bytes. A promoted replica writes its own log. */
async function positionOf(sql: Pool): Promise<bigint> {
  const [row] = await sql<{ position: bigint }[]>`
    SELECT pg_wal_lsn_diff(
      CASE WHEN pg_is_in_recovery() THEN coalesce(pg_last_wal_replay_lsn(), '0/0') ELSE pg_current_wal_lsn() END, '0/0') AS position`
  if (!row) throw new Error('the database did not report its position')
  return row.position
}
