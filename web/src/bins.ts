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

/** The ranges that a plot offers, shortest first: how far each reaches back, and how wide a bar is. A range with `null` starts at the first point. */
export const RANGES = {
  '1 hour': { backMs: HOUR_MS, binMs: 2 * MINUTE_MS },
  '24 hours': { backMs: DAY_MS, binMs: HOUR_MS },
  '30 days': { backMs: 30 * DAY_MS, binMs: DAY_MS },
  all: { backMs: null, binMs: DAY_MS },
} as const

export type Range = keyof typeof RANGES

/** The shortest range that holds every point; `all` if no other range does. */
export function rangeFor(points: readonly Point[], nowMs: number): Range {
  const first = points[0]?.at.getTime() ?? nowMs
  const names = Object.keys(RANGES) as Range[]
  return names.find((name) => (RANGES[name].backMs ?? Number.POSITIVE_INFINITY) >= nowMs - first) ?? 'all'
}

/** The points of a range, oldest first. */
export function pointsIn<P extends Point>(points: readonly P[], range: Range, nowMs: number): P[] {
  const { backMs } = RANGES[range]
  return points.filter(({ at }) => backMs === null || at.getTime() > nowMs - backMs)
}

/** The least of 1, 2 or 5 with zeros that is not below the amount, for the top of a scale. */
export function roundTop(wei: bigint): bigint {
  if (wei === 0n) return 0n
  const power = 10n ** BigInt(wei.toString().length - 1)
  return [1n, 2n, 5n, 10n].map((step) => step * power).find((top) => top >= wei) ?? wei
}

/** The bars of a range, from its start until now. `points` are the range's points. */
export function binsOf(points: readonly Point[], range: Range, nowMs: number): Bin[] {
  const { backMs, binMs } = RANGES[range]
  const slotOf = (ms: number) => Math.floor(ms / binMs)
  const first = slotOf(backMs === null ? (points[0]?.at.getTime() ?? nowMs) : nowMs - backMs)
  // The chain's clock may be ahead of the browser's.
  const last = slotOf(Math.max(nowMs, points.at(-1)?.at.getTime() ?? 0))
  const bins = Array.from({ length: last - first + 1 }, (_, slot) => ({
    from: new Date((first + slot) * binMs),
    wei: 0n,
    count: 0,
  }))
  for (const { at, wei } of points) {
    const bin = bins[slotOf(at.getTime()) - first]
    if (bin) [bin.wei, bin.count] = [bin.wei + wei, bin.count + 1]
  }
  return bins
}
