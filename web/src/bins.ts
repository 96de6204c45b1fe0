// Groups amounts over time into bars, one for each slot of a range, including empty ones. Days are in UTC, as everywhere.

export interface Point {
  at: Date
  wei: bigint
}

export interface Bin {
  /** When the bin starts. */
  from: Date
  wei: bigint
  /** How many points it holds. */
  count: number
}

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The ranges that a plot offers, shortest first: how far each reaches back. One with `null` starts at the first point. */
export const RANGES = {
  '1 hour': HOUR_MS,
  '24 hours': DAY_MS,
  '30 days': 30 * DAY_MS,
  all: null,
} as const

/** How wide a bar may be. */
const STEPS_MS = [
  10_000,
  30_000,
  MINUTE_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  10 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  6 * HOUR_MS,
  DAY_MS,
]
/** A plot has at least so many bars, if narrower ones exist. */
const BARS_LEAST = 20

export type Range = keyof typeof RANGES

/** The shortest range that holds every point; `all` if no other range does. */
export function rangeFor(points: readonly Point[], nowMs: number): Range {
  const first = points[0]?.at.getTime() ?? nowMs
  const names = Object.keys(RANGES) as Range[]
  return names.find((name) => (RANGES[name] ?? Number.POSITIVE_INFINITY) >= nowMs - first) ?? 'all'
}

/** The points of a range, oldest first. */
export function pointsIn<P extends Point>(points: readonly P[], range: Range, nowMs: number): P[] {
  const backMs = RANGES[range]
  return points.filter(({ at }) => backMs === null || at.getTime() > nowMs - backMs)
}

/** The least of these steps with zeros that is not below the amount, for the top of a scale. */
export function roundTop(wei: bigint): bigint {
  if (wei === 0n) return 0n
  const power = 10n ** BigInt(wei.toString().length - 1)
  return (
    [10n, 15n, 20n, 25n, 30n, 40n, 50n, 75n, 100n].map((step) => (step * power) / 10n).find((top) => top >= wei) ?? wei
  )
}

/**
 * The bars of a range until now, and how much time each spans. They begin with the range, or with the first point if that is younger, so that a
 * young ledger fills the width of its plot. `points` are all points, oldest first.
 */
export function binsOf(points: readonly Point[], range: Range, nowMs: number): { stepMs: number; bins: Bin[] } {
  const firstMs = Math.max(points[0]?.at.getTime() ?? nowMs, nowMs - (RANGES[range] ?? nowMs))
  // The chain's clock may be ahead of the browser's.
  const lastMs = Math.max(nowMs, points.at(-1)?.at.getTime() ?? 0)
  const stepMs = STEPS_MS.findLast((step) => step * BARS_LEAST <= lastMs - firstMs) ?? (STEPS_MS[0] as number)
  const slotOf = (ms: number) => Math.floor(ms / stepMs)
  const first = slotOf(firstMs)
  const bins = Array.from({ length: slotOf(lastMs) - first + 1 }, (_, slot) => ({
    from: new Date((first + slot) * stepMs),
    wei: 0n,
    count: 0,
  }))
  for (const { at, wei } of pointsIn(points, range, nowMs)) {
    const bin = bins[slotOf(at.getTime()) - first]
    if (bin) [bin.wei, bin.count] = [bin.wei + wei, bin.count + 1]
  }
  return { stepMs, bins }
}
