// Amounts over time as bars: each hour or each day of a range put together. Days are those of UTC, as everywhere.

export interface Point {
  at: Date
  wei: bigint
}

export interface Bin {
  /** Its first moment. */
  from: Date
  wei: bigint
  /** How many points it holds. */
  count: number
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The ranges that a plot offers, the shortest first: how far back, and how wide a bar is; `null`: from the first point on. */
export const RANGES = {
  '24 hours': { backMs: DAY_MS, binMs: HOUR_MS },
  '30 days': { backMs: 30 * DAY_MS, binMs: DAY_MS },
  all: { backMs: null, binMs: DAY_MS },
} as const

export type Range = keyof typeof RANGES

/** The shortest range that holds every point; `all` where none does. */
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

/** Puts points together by hours or days. Of a bar that holds nothing there is none. */
export function binned(points: readonly Point[], binMs: number): Bin[] {
  const bins = new Map<number, { wei: bigint; count: number }>()
  for (const { at, wei } of points) {
    const from = Math.floor(at.getTime() / binMs) * binMs
    const bin = bins.get(from) ?? { wei: 0n, count: 0 }
    bins.set(from, { wei: bin.wei + wei, count: bin.count + 1 })
  }
  return [...bins].sort(([a], [b]) => a - b).map(([from, bin]) => ({ from: new Date(from), ...bin }))
}
