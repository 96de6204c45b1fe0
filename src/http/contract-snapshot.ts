// The chain's own readings of the contract as a whole, read at most every five seconds for all callers. Null is "could not check"; a
// reading that fails or hangs is null, and never fails an answer.
import type { Readings } from '../chain/port.ts'
import type { Wei } from '../domain/units.ts'
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'

const KEPT_MS = 5_000
/** A reading is within its own budget; this is for one that forgets it. */
const READING_MS_MAX = 1_000

export interface ContractSnapshot {
  cover(): ReturnType<Readings['cover']>
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
  maxPerWallet(): Promise<number | null>
}

/** Builds the shared readings. `readings` null: there is no chain to ask. */
export function contractSnapshot(readings: Readings | null, monotonicClock: () => number): ContractSnapshot {
  const none = async () => null
  if (readings === null) return { cover: none, distributorBalanceWei: none, paused: none, maxPerWallet: none }
  // "Could not check" is kept as well: a provider that is away is not asked by every caller.
  const kept = <T>(read: () => Promise<T | null>) =>
    shared(() => inTimeOrNull(READING_MS_MAX, read), { ageMaxMs: KEPT_MS, clock: monotonicClock })
  return {
    cover: kept(() => readings.cover()),
    distributorBalanceWei: kept(() => readings.distributorBalanceWei()),
    paused: kept(() => readings.paused()),
    maxPerWallet: kept(() => readings.maxPerWallet()),
  }
}
