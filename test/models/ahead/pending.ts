// Which planned changes of tiers are still to come, as a second reading of docs/ADMIN.md (Tiers: changes entered ahead) over rows in memory.

export interface Entry {
  tierId: string
  version: number
  fromTime: number
  enteredAt: number
  isCancelled: boolean
  /** True once the follower has stored its first block. */
  hasBegun: boolean
  /** The key or passkey that entered it; null on the command line. */
  key: string | null
}

/** When each key was revoked, in seconds of the same clock; null if it still lives. */
export type Keys = Record<string, number | null>

/** A change can be cancelled until two minutes before its time. */
const CANCELLED_UNTIL_SEC = 120

/** The planned changes after a time, in the order in which they take effect. */
export function pending(entries: readonly Entry[], keys: Keys, after: number): Entry[] {
  const left: Entry[] = []
  for (const entry of entries) {
    if (entry.hasBegun || entry.isCancelled) continue
    if (entry.fromTime <= after) continue
    const revoked = entry.key === null ? null : (keys[entry.key] ?? null)
    const wasInTime = revoked !== null && entry.fromTime - revoked >= CANCELLED_UNTIL_SEC
    if (!wasInTime) left.push(entry)
  }
  return left.sort((a, b) => a.fromTime - b.fromTime || a.enteredAt - b.enteredAt || a.version - b.version)
}
