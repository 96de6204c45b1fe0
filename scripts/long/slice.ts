// Chooses the long checks for a run of limited time: the checks whose last run is oldest. Pure.
import type { LastRun } from './record.ts'

/** Minutes we assume for a check that has never run. */
const MINUTES_UNKNOWN = 4

interface Check {
  readonly name: string
  /** How many checks of this kind run in parallel. */
  readonly atOnce: number
}

/** The checks for one run of at most `minutes`, by their last durations. Checks that have never run come first, then the oldest. At least one. */
export function takeSlice<C extends Check>(
  checks: readonly C[],
  record: ReadonlyMap<string, LastRun>,
  minutes: number,
): C[] {
  const age = (check: C) => record.get(check.name)?.date ?? ''
  const oldestFirst = checks.toSorted((a, b) => (age(a) === age(b) ? 0 : age(a) < age(b) ? -1 : 1))
  const taken: C[] = []
  let left = minutes
  for (const check of oldestFirst) {
    const needed = costOf(check, record)
    if (taken.length > 0 && needed > left) continue
    taken.push(check)
    left -= needed
  }
  return taken
}

/** How many runs of at most `minutes` it takes until every check has run. */
export function countSlices(checks: readonly Check[], record: ReadonlyMap<string, LastRun>, minutes: number): number {
  let waiting = checks
  let slices = 0
  while (waiting.length > 0) {
    const taken = new Set(takeSlice(waiting, record, minutes))
    waiting = waiting.filter((check) => !taken.has(check))
    slices++
  }
  return slices
}

function costOf(check: Check, record: ReadonlyMap<string, LastRun>): number {
  return (record.get(check.name)?.minutes ?? MINUTES_UNKNOWN) / check.atOnce
}
