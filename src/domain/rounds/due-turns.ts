// Computes the times of a cohort's turns: which past turns are owed, which the contract's owner declared not owed, and which blocks they fall into.
// turn-amounts.ts computes what they pay. A turn's seed is from the first block at or after its due time. All times are unix seconds of block time.
import { type CohortState, type CohortsAt, chooseCohort } from '../schedule.ts'
import { type NotOwedWindow, type TurnFate, turnFate } from './payouts.ts'
import type { CreditTerms } from './turn-amounts.ts'

type Turning = Pick<CohortState, 'nextDue' | 'intervalSec'>

/** The facts that decide which turns are owed. */
export interface OwedTurns {
  terms: readonly CreditTerms[]
  windows: readonly NotOwedWindow[]
}

/** What one entry of a round does to a cohort: it skips the turns of one window, then pays turns until the next turn that is not owed. */
export interface PendingTurns {
  skipped: number
  payable: number
  /** The due time of the first turn that can be paid. */
  firstPayable: number
  /** True if the turn at `firstPayable` is due, but waits for the window of turns not owed. */
  isDelayed: boolean
}

/** Splits a cohort's turns that are due by `upTo` into skipped and paid ones. Turns in another window need another round. */
export function pendingTurns({ nextDue, intervalSec }: Turning, owedTurns: OwedTurns, upTo: number): PendingTurns {
  const { terms, windows } = owedTurns
  // If the turn comes before this window, it is not skipped.
  const window = windows.find(({ until }) => nextDue < until)
  const skippedTurns = window
    ? countTurns('skip', { nextDue, intervalSec }, owedTurns, Math.min(upTo, window.until - 1))
    : 0
  const firstPayable = nextDue + skippedTurns * intervalSec
  const payable = countTurns('pay', { nextDue: firstPayable, intervalSec }, owedTurns, upTo)
  const isDelayed = firstPayable <= upTo && turnFate(terms, windows, firstPayable) === 'delay'
  return { skipped: skippedTurns, payable, firstPayable, isDelayed }
}

/** Counts consecutive turns with the same fate. The fate is constant between the times at which terms or windows change. */
function countTurns(
  fate: TurnFate,
  { nextDue, intervalSec }: Turning,
  { terms, windows }: OwedTurns,
  upTo: number,
): number {
  const changes = [...terms.map(({ fromTime }) => fromTime), ...windows.flatMap(({ from, until }) => [from, until])]
  let due = nextDue
  while (due <= upTo && turnFate(terms, windows, due) === fate) {
    const end = Math.min(upTo + 1, ...changes.filter((change) => change > due))
    due += Math.ceil((end - due) / intervalSec) * intervalSec
  }
  return (due - nextDue) / intervalSec
}

/**
 * The cohort that a node minted now would join if the cohort's past turns were skipped, none of which is owed. Null if a cohort takes the node
 * without that, or if none would even then.
 */
export function cohortToSkipFor(
  { cohorts, schedule, now }: CohortsAt,
  tierNo: number,
  owedTurns: OwedTurns,
): number | null {
  if (chooseCohort(cohorts, tierNo, schedule, now)) return null
  // A cohort that then has a turn to pay, or one that waits for a window, is still due.
  const cohortsAfterSkip = cohorts.map((cohort) => ({
    ...cohort,
    nextDue: pendingTurns(cohort, owedTurns, now).firstPayable,
  }))
  return chooseCohort(cohortsAfterSkip, tierNo, schedule, now)?.cohort ?? null
}

/**
 * Finds, by their times, the blocks of a range that are the first at or after a turn of one of these cohorts. `afterTime` is the time of the block
 * before the range. @returns their indexes in the range, ascending.
 */
export function firstBlocksOfTurns(times: readonly number[], afterTime: number, cohorts: Iterable<Turning>): number[] {
  const last = times.at(-1) ?? afterTime
  const places = new Set<number>()
  for (const { nextDue, intervalSec } of onePerPhase(cohorts)) {
    let due = nextTurn(nextDue, intervalSec, afterTime)
    while (due <= last) {
      const place = placeAt(times, due)
      places.add(place)
      due = nextTurn(due, intervalSec, times[place] as number)
    }
  }
  return [...places].sort((a, b) => a - b)
}

/** The first turn of a cohort after a time. */
function nextTurn(due: number, intervalSec: number, after: number): number {
  return due > after ? due : due + (Math.floor((after - due) / intervalSec) + 1) * intervalSec
}

/** Many cohorts share a phase. Keeps one of each phase: the cohort whose turns begin earliest. */
function onePerPhase(cohorts: Iterable<Turning>): Iterable<Turning> {
  const phases = new Map<string, Turning>()
  for (const { nextDue, intervalSec } of cohorts) {
    const phase = `${intervalSec} ${nextDue % intervalSec}`
    const earliest = Math.min(nextDue, phases.get(phase)?.nextDue ?? nextDue)
    phases.set(phase, { nextDue: earliest, intervalSec })
  }
  return phases.values()
}

/** Bisects for the first time at or after `due`, which must exist. */
function placeAt(times: readonly number[], due: number): number {
  let low = 0
  let high = times.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((times[middle] as number) < due) low = middle + 1
    else high = middle
  }
  return low
}
