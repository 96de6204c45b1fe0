// Which turns a round pays, as a second reading of docs/ARCHITECTURE.md (Planning), docs/REWARDS.md (What delays, and what is not owed), docs/CONTRACT.md
// (Rounds: paying, catching up, skipping) and `_creditCohort` of contracts/src/NodeFactory.sol. The model takes turn after turn from one list.

// Choices in what the documents leave open:
// - Of turns that are due at one time any may come first. Entries of a round are then in the order of the cohorts' numbers.
// - A cohort that only skips has its place by the first turn that it skips.
// - A skip alone takes a round number, so it is planned only if a node waits to join the cohort.
// - A cohort whose next turns are skipped and the one after them delayed is told as delayed: that is what a person can do something about.
// - A cohort with an unpaid node is told as such only if a round would have an entry for it but for that node.
// - Half of an odd number of cohorts is either neighbour of the half.

export interface Cohort {
  cohort: number
  size: number
  unpaidNodes: number
  /** What happens to its due turns, the oldest first: skipped, paid with an amount or one that is not known yet, or delayed until a window is set. */
  skipped: number
  amounts: (bigint | null)[]
  endsDelayed: boolean
  someoneWaits: boolean
  firstDue: number
}
/** The interval of every cohort of the model. */
export const INTERVAL = 60
export interface Bounds {
  floor: bigint
  ceiling: bigint
}
export interface Entry {
  cohort: number
  firstDue: number
  skipped: number
  paid: number
  perNode: bigint
}

/** Whether the contract takes a sum for some turns together: its bounds hold for the sum, times the number of turns. */
export function isWithin(sum: bigint, paid: number, bounds: Bounds | null): boolean {
  if (bounds === null) return true
  return sum >= bounds.floor * BigInt(paid) && sum <= bounds.ceiling * BigInt(paid)
}

const sumOf = (amounts: bigint[]): bigint => {
  let sum = 0n
  for (const one of amounts) sum += one
  return sum
}

export type Part =
  | { kind: 'entry'; entry: Entry }
  | { kind: 'unpaid' | 'unknown' | 'outOfBounds' | 'delayed' | 'notOwed' }

/** What becomes of one cohort. It is paid every turn that it is owed, as far as amounts are known and the contract takes them together. */
export function partOf(one: Cohort, bounds: Bounds | null): Part {
  const entry = { cohort: one.cohort, firstDue: one.firstDue, skipped: one.skipped }
  if (one.amounts.length === 0) {
    // A delayed turn keeps the cohort due, so the skip before it lets no node in.
    if (one.skipped > 0 && one.someoneWaits && !one.endsDelayed && one.unpaidNodes > 0) return { kind: 'unpaid' }
    if (one.skipped > 0 && one.someoneWaits && !one.endsDelayed)
      return { kind: 'entry', entry: { ...entry, paid: 0, perNode: 0n } }
    return { kind: one.endsDelayed ? 'delayed' : 'notOwed' }
  }
  if (one.unpaidNodes > 0) return { kind: 'unpaid' }
  const known: bigint[] = []
  for (const amount of one.amounts) {
    if (amount === null) break
    known.push(amount)
  }
  if (known.length === 0) return { kind: 'unknown' }
  for (let paid = known.length; paid > 0; paid--) {
    const perNode = sumOf(known.slice(0, paid))
    if (isWithin(perNode, paid, bounds)) return { kind: 'entry', entry: { ...entry, paid, perNode } }
  }
  return { kind: 'outOfBounds' }
}

/** The entries of a round: the oldest turn that is owed comes first, whatever was skipped before it. A cohort that waits holds up no other. */
export function planned(due: Cohort[], bounds: Bounds | null): Entry[] {
  const entries: Entry[] = []
  for (const one of due) {
    const part = partOf(one, bounds)
    if (part.kind === 'entry') entries.push(part.entry)
  }
  const firstOwed = (one: Entry) => one.firstDue + (one.paid > 0 ? one.skipped : 0) * INTERVAL
  return entries.sort((a, b) => firstOwed(a) - firstOwed(b) || a.cohort - b.cohort).slice(0, COHORTS_MOST)
}

export const COHORTS_MOST = 200
export const TURNS_MOST = 2_000

export interface Payable {
  cohort: number
  interval: number
  first: number
  payable: number
}

/** The times at which the turns of a round were due: the oldest of the cohorts that are longest due, until a limit is reached. */
export function duesShared(cohorts: Payable[]): number[] {
  const dues: number[] = []
  const longestDue = [...cohorts].sort((a, b) => a.first - b.first).slice(0, COHORTS_MOST)
  for (const { interval, first, payable } of longestDue)
    for (let i = 0; i < payable; i++) dues.push(first + i * interval)
  return dues.sort((a, b) => a - b).slice(0, TURNS_MOST)
}

/** The numbers of leading turns, fewer than all, that the contract takes together. */
export function fewer(amounts: bigint[], bounds: Bounds | null): number[] {
  const found: number[] = []
  for (let paid = 1; paid < amounts.length; paid++) {
    if (isWithin(sumOf(amounts.slice(0, paid)), paid, bounds)) found.push(paid)
  }
  return found
}
