// Decides how many blocks a survey covers, and when surveys pause. The ranges grow while surveys succeed in time. After a failed survey we read some
// blocks one by one, then try a shorter range.

/** Blocks in a surveyed range, at first and at most, as multiples of `blocksMin`; and the factor by which ranges grow. */
const START = 16
const MAX = 256
const GROWTH = 2
/** The factor by which we shorten ranges after a failed survey. */
const SHRINKING = 8
/** If a survey takes longer than this, the next one is shorter, because a run has other work to do. */
const TARGET_MS = 15_000

export interface Pace {
  /** The last block of a survey that starts at `from`; null if we must read that block itself. */
  surveyEnd(from: number): number | null
  /** The last block that we must read itself before the next survey; null if there is none. */
  readEnd(from: number): number | null
  /** `covered`: how many blocks a range had if it ended early because too much happened in it; null if it did not end early. */
  succeeded(tookMs: number, covered: number | null): void
  failed(from: number): void
}

/** Creates a pace. `blocksMin`: the fewest blocks for which a survey is worth its cost. */
export function createPace(blocksMin: number): Pace {
  let span = START * blocksMin
  let readTo = -1
  let failures = 0
  return {
    surveyEnd: (from) => (from > readTo ? from + span - 1 : null),
    readEnd: (from) => (from > readTo ? null : readTo),
    succeeded(tookMs, blocks) {
      failures = 0
      const length = blocks ?? span
      const next = tookMs > TARGET_MS ? Math.floor(length / GROWTH) : length * GROWTH
      span = Math.min(MAX * blocksMin, Math.max(blocksMin, next))
    },
    failed(from) {
      span = Math.max(blocksMin, Math.floor(span / SHRINKING))
      // Doubles with each failure in a row, so that we seldom ask a provider that has no old states.
      readTo = from + Math.max(span, Math.min(MAX, GROWTH ** failures++) * blocksMin) - 1
    },
  }
}
