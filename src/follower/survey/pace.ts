// How long the ranges of a survey are, and when it rests: ranges grow while surveys succeed in time. After a failed one we read some blocks one by
// one, and then try a shorter range.

/** Blocks in a surveyed range at first and at most, in multiples of the minimum. */
const START = 16
const MAX = 256
const GROWTH = 2
/** By how much we shorten ranges after a failed survey. */
const SHRINKING = 8
/** A survey that took longer makes the next one shorter, because a run has other things to do. */
const TARGET_MS = 15_000

export interface Pace {
  /** The last block of the range to survey from a block on; null if we must read that block itself. */
  surveyEnd(from: number): number | null
  /** The last of the blocks that we must read themselves before the next survey; null if there are none. */
  readEnd(from: number): number | null
  /** `covered`: the blocks of a range that ended early because so much happened in it; null for one that did not. */
  succeeded(tookMs: number, covered: number | null): void
  failed(from: number): void
}

/** Begins with long ranges. `blocksMin`: the fewest blocks for which a survey is worthwhile. */
export function createPace(blocksMin: number): Pace {
  let span = START * blocksMin
  let readTo = -1
  let failures = 0
  return {
    surveyEnd: (from) => (from > readTo ? from + span - 1 : null),
    readEnd: (from) => (from > readTo ? null : readTo),
    succeeded(tookMs, covered) {
      failures = 0
      const reached = covered ?? span
      const next = tookMs > TARGET_MS ? Math.floor(reached / GROWTH) : reached * GROWTH
      span = Math.min(MAX * blocksMin, Math.max(blocksMin, next))
    },
    failed(from) {
      span = Math.max(blocksMin, Math.floor(span / SHRINKING))
      // Doubles with each failure in a row, so that we seldom ask a provider without old states for them.
      readTo = from + Math.max(span, Math.min(MAX, GROWTH ** failures++) * blocksMin) - 1
    },
  }
}
