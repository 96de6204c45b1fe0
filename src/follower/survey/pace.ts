// Decides how long the ranges of a survey are, and when it pauses. Ranges grow while surveys succeed in time. After a failed one we read some blocks
// one by one, then try a shorter range.

/** Blocks in a surveyed range, at first and at most, as multiples of `blocksMin`. */
const START = 16
const MAX = 256
const GROWTH = 2
/** The factor by which we shorten ranges after a failed survey. */
const SHRINKING = 8
/** A survey that takes longer makes the next one shorter, because a run has other work to do. */
const TARGET_MS = 15_000

export interface Pace {
  /** The last block of a survey that starts at `from`; null if we must read that block itself. */
  surveyEnd(from: number): number | null
  /** The last block that we must read itself before the next survey; null if there is none. */
  readEnd(from: number): number | null
  /** `covered`: how many blocks a range had if it ended early because too much happened in it; else null. */
  succeeded(tookMs: number, covered: number | null): void
  failed(from: number): void
}

/** Starts with long ranges. `blocksMin`: the fewest blocks for which a survey is worth it. */
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
      // Doubles with each consecutive failure, so that we seldom ask a provider that has no old states.
      readTo = from + Math.max(span, Math.min(MAX, GROWTH ** failures++) * blocksMin) - 1
    },
  }
}
