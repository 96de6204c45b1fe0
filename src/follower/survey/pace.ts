// How long the ranges of a survey are, and where it rests: ranges grow while surveys succeed in time. After one that does not succeed some blocks are
// read one by one, and then a shorter range is tried.

/** Blocks in a surveyed range at first and at most, in multiples of the least. */
const START = 16
const MAX = 256
const GROWTH = 2
/** What a range is shortened to after a survey that did not succeed. */
const SHRINKING = 8
/** A survey that took longer makes the next one shorter: a run has other things to do. */
const TARGET_MS = 15_000

export interface Pace {
  /** The last block of the range to survey from a block on; null where that is to be read itself. */
  surveyEnd(from: number): number | null
  /** The last of the blocks that are to be read themselves before the next survey; null where none are. */
  readEnd(from: number): number | null
  /** `covered`: the blocks of a range that ended early, since so much happened in it; null for one that did not. */
  succeeded(tookMs: number, covered: number | null): void
  failed(from: number): void
}

/** Begins with long ranges. `blocksMin`: the least that a survey is worth it for. */
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
      // Twice as many from failure to failure: a provider without old states is seldom asked for them.
      readTo = from + Math.max(span, Math.min(MAX, GROWTH ** failures++) * blocksMin) - 1
    },
  }
}
