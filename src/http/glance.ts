// The chain's word on the contract as a whole, read at most every five seconds for all callers. Null
// is "could not check"; a reading that fails or hangs is null, and never fails an answer.
import type { Readings } from '../chain/port.ts'
import type { Wei } from '../domain/units.ts'
import { inTimeOrNull } from '../lib/deadline.ts'

const KEPT_MS = 5_000
/** A reading is within its own budget; this is for one that forgets it. */
const READING_MS_MAX = 1_000

export interface Glance {
  cover(): Promise<CheckedCover | null>
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
}

export type CheckedCover = NonNullable<Awaited<ReturnType<Readings['cover']>>> & { checkedAt: string }

/** Builds the shared readings. `readings` null: there is no chain to ask. */
export function glanceAt(readings: Readings | null, clock: () => number, steady: () => number): Glance {
  const none = async () => null
  if (readings === null) return { cover: none, distributorBalanceWei: none, paused: none }
  return {
    cover: kept(steady, async () => {
      const checkedAt = new Date(clock()).toISOString()
      const cover = await readings.cover()
      return cover && { ...cover, checkedAt }
    }),
    distributorBalanceWei: kept(steady, () => readings.distributorBalanceWei()),
    paused: kept(steady, () => readings.paused()),
  }
}

function kept<T>(steady: () => number, read: () => Promise<T | null>): () => Promise<T | null> {
  let at = Number.NEGATIVE_INFINITY
  let last: Promise<T | null> = Promise.resolve(null)
  return () => {
    const age = steady() - at
    if (age < 0 || age >= KEPT_MS) {
      at = steady()
      last = inTimeOrNull(READING_MS_MAX, read)
    }
    return last
  }
}
