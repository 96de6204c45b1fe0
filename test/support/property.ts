// Shared parts of property tests. When a test fails, fast-check prints its seed and path. PROPERTY_SEED=<seed> replays it. PROPERTY_SCALE=10 runs ten
// times as many cases.
import fc from 'fast-check'

const { PROPERTY_SEED, PROPERTY_SCALE = '1', PROPERTY_SHRINK } = process.env

// A run that only checks whether anything fails need not search for the smallest failing case.
fc.configureGlobal({
  ...(PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }),
  endOnFailure: PROPERTY_SHRINK === 'off',
})

/** How many cases to run, if `usual` are enough for an ordinary run of the tests. */
export const cases = (usual: number): number => Math.max(1, Math.round(usual * Number(PROPERTY_SCALE)))

/** Whole numbers below `bound`, always the same for the same seed (mulberry32), for loops in which fast-check would be too slow. */
export function randomBelow(seed: number): (bound: number) => number {
  let state = seed | 0
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % bound
  }
}
