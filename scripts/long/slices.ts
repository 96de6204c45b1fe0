// Splits the long checks into slices that each fit into continuous integration, and chooses a commit's slice by its hash. So
// every slice gets its turn without a record. Pure.

/** Minutes that a slice may take on two quiet cores. A single check that takes longer is a slice of its own. */
export const SLICE_MINUTES_MAX = 15

interface Check {
  readonly name: string
  /** Typical minutes of the check on two quiet cores. */
  readonly minutes: number
}

/** The slices, the longest checks first. The same list always gives the same slices, and each check is in exactly one. */
export function slicesOf<C extends Check>(checks: readonly C[]): C[][] {
  const slices: { minutes: number; checks: C[] }[] = []
  for (const check of checks.toSorted((a, b) => b.minutes - a.minutes)) {
    const slice = slices.find(({ minutes }) => minutes + check.minutes <= SLICE_MINUTES_MAX)
    if (slice) {
      slice.checks.push(check)
      slice.minutes += check.minutes
    } else {
      slices.push({ minutes: check.minutes, checks: [check] })
    }
  }
  return slices.map((slice) => slice.checks)
}

/** Index of the slice that the commit with this hash (40 hex digits) gets, of `count`. */
export function sliceOfCommit(hash: string, count: number): number {
  return Number(BigInt(`0x${hash}`) % BigInt(count))
}
