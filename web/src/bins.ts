// Groups amounts over time into bars, one for each hour or day of a range. Days are in UTC, as everywhere.

export interface Point {
  at: Date
  wei: bigint
}

export interface Bin {
  /** Its start. */
  from: Date
  wei: bigint
  /** Its number of points. */
  count: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The ranges that a plot offers, shortest first: how far back, and how wide a bar is; `null` starts at the first point. */
export const RANGES = {
  '24 hours': { backMs: DAY_MS, binMs: HOUR_MS },
  '30 days': { backMs: 30 * DAY_MS, binMs: DAY_MS },
  all: { backMs: null, binMs: DAY_MS },
} as const

export type Range = keyof typeof RANGES

/** The shortest range that holds every point; `all` if none does. */
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

/** Groups points by hours or days. An empty hour or day gets no bar. */
export function binned(points: readonly Point[], binMs: number): Bin[] {
  const bins = new Map<number, { wei: bigint; count: number }>()
  for (const { at, wei } of points) {
    const from = Math.floor(at.getTime() / binMs) * binMs
    const bin = bins.get(from) ?? { wei: 0n, count: 0 }
    bins.set(from, { wei: bin.wei + wei, count: bin.count + 1 })
  }
  return [...bins].sort(([a], [b]) => a - b).map(([from, bin]) => ({ from: new Date(from), ...bin }))
}
