// The chain's own readings of the contract as a whole, read at most every five seconds for all callers. Null means "could not check": a reading that
// fails or hangs is null, and never makes an answer fail.

import type { Wei } from '../domain/units.ts'
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'
import type { Readings } from '../ports/chain.ts'

const KEPT_MS = 5_000
/** Each reading has its own time limit; this limit catches a reading that forgets it. */
const READING_MS_MAX = 1_000

export interface ContractSnapshot {
  cover(): ReturnType<Readings['cover']>
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
  maxPerWallet(): Promise<number | null>
}

/** Builds the shared readings. `readings` is null if there is no chain to ask. */
export function contractSnapshot(readings: Readings | null, monotonicClock: () => number): ContractSnapshot {
  const none = async () => null
  if (readings === null) return { cover: none, distributorBalanceWei: none, paused: none, maxPerWallet: none }
  // We cache "could not check" too, so that not every caller asks a provider that is down.
  const shareReading = <T>(read: () => Promise<T | null>) =>
    shared(() => inTimeOrNull(READING_MS_MAX, read), { ageMaxMs: KEPT_MS, clock: monotonicClock })
  return {
    cover: shareReading(() => readings.cover()),
    distributorBalanceWei: shareReading(() => readings.distributorBalanceWei()),
    paused: shareReading(() => readings.paused()),
    maxPerWallet: shareReading(() => readings.maxPerWallet()),
  }
}
