// Whether the contract takes an entry of a round, as a second reading of `_creditCohort` of contracts/src/NodeFactory.sol, of `_requireNotOwed` of
// contracts/src/NotOwedWindows.sol and of docs/CONTRACT.md (Order of checks, Rounds). The first rule that is broken is the error.

export interface Window {
  from: number
  until: number
}
export interface Cohort {
  nextDue: number
  interval: number
}
export interface Entry {
  firstDue: number
  skipped: number
  paid: number
}

/** The contract's error; null if it takes the entry in a block of that time. */
export function refusal(cohort: Cohort, windows: Window[], entry: Entry, now: number): string | null {
  const { firstDue, skipped, paid } = entry
  if (paid > 2_000) return 'TooManyTurns'
  if (firstDue !== cohort.nextDue) return 'WrongTurn'
  if (skipped + paid === 0) return 'NoTurns'
  const last = firstDue + (skipped + paid - 1) * cohort.interval
  if (last > now) return 'TurnNotDue'
  if (skipped === 0) return null
  const lastSkipped = firstDue + (skipped - 1) * cohort.interval
  for (const one of windows) if (one.from <= firstDue && lastSkipped < one.until) return null
  return 'TurnOwed'
}
