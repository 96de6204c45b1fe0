// Counts of a seed, or of many, by class, so a run can report what never happened.
import type { Fault } from '../support/faults/names.ts'

/** Counts of what really happened, by its name. */
export type Tally = Map<string, number>

export function count(tally: Tally, what: string, times = 1): void {
  tally.set(what, (tally.get(what) ?? 0) + times)
}

export function addTo(total: Tally, one: Iterable<readonly [string, number]>): void {
  for (const [what, times] of one) count(total, what, times)
}

/** Faults of providers, out of a tally. */
export function faultsIn(tally: Tally, all: readonly Fault[]): number {
  return all.reduce((sum, fault) => sum + (tally.get(`fault ${fault}`) ?? 0), 0)
}
