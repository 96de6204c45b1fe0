// What a round pays of what is due, by docs/REWARDS.md and docs/CONTRACT.md (Rounds): the oldest turns first, at most 2000 turns and 200 cohorts a round.

export interface Due {
  cohort: number
  /** The due times of the first turn, paid or skipped, and of the turns to pay, with their amounts; null: not known yet. */
  pendingDue: number
  turns: readonly { due: number; amountWei: bigint | null }[]
  isSkipNeeded: boolean
  isDelayed: boolean
  unbackedNodes: number
}
/** What one turn may pay. */
export interface Bounds {
  floorWei: bigint
  ceilingWei: bigint
}

const TURNS_MAX = 2_000
const COHORTS_MAX = 200

/** The sums of the first turns, by their number, up to the first that is not known. */
function sumsOf({ turns }: Due): bigint[] {
  const sums = [0n]
  for (const { amountWei } of turns) {
    if (amountWei === null) break
    sums.push((sums.at(-1) ?? 0n) + amountWei)
  }
  return sums
}

/** How many of the first turns the contract lets be paid together, if there is room for `left`. */
function mostPaid(sums: bigint[], bounds: Bounds | null, left: number): number {
  for (let count = Math.min(sums.length - 1, left); count > 0; count--) {
    const sum = sums[count] ?? 0n
    const [least, most] = bounds ? [bounds.floorWei * BigInt(count), bounds.ceilingWei * BigInt(count)] : [sum, sum]
    if (least <= sum && sum <= most) return count
  }
  return 0
}

/** Why a cohort cannot be paid, whatever is left of the round; null if it can. */
function reasonToWait(one: Due, sums: bigint[]): string | null {
  const skips = one.turns.length === 0
  if (one.isDelayed) return 'delayed'
  if (skips && !one.isSkipNeeded) return 'notOwed'
  if (one.unbackedNodes > 0) return 'unbacked'
  return !skips && sums.length === 1 ? 'unknown' : null
}

/** What becomes of each cohort: why it waits, or how many turns it is paid. `later`: the round is full. */
export function fatesOf(due: Due[], bounds: Bounds | null): Record<number, string> {
  const begins = (one: Due) => (one.turns.length > 0 ? (one.turns[0]?.due ?? 0) : one.pendingDue)
  const fates: Record<number, string> = {}
  let [cohorts, left] = [0, TURNS_MAX]
  for (const one of [...due].sort((a, b) => begins(a) - begins(b) || a.cohort - b.cohort)) {
    const sums = sumsOf(one)
    const paid = mostPaid(sums, bounds, left)
    const needsTurns = one.turns.length > 0
    let fate = reasonToWait(one, sums)
    if (fate === null && needsTurns && paid === 0) fate = left > 0 ? 'outOfBounds' : 'later'
    if (fate === null && cohorts === COHORTS_MAX) fate = 'later'
    if (fate === null) {
      cohorts += 1
      left -= paid
    }
    fates[one.cohort] = fate ?? `${paid} turns`
  }
  return fates
}

export interface Payable {
  cohort: number
  intervalSec: number
  firstPayable: number
  payable: number
}

/** How many turns of each cohort are in a round: the oldest of all, those of one time by the cohort that began first, then by its number. */
export function shares(cohorts: Payable[]): Record<number, number> {
  const all: { cohort: number; firstPayable: number; due: number }[] = []
  for (const { cohort, firstPayable, intervalSec, payable } of cohorts)
    for (let i = 0; i < payable; i++) all.push({ cohort, firstPayable, due: firstPayable + i * intervalSec })
  all.sort((a, b) => a.due - b.due || a.firstPayable - b.firstPayable || a.cohort - b.cohort)
  const taken: Record<number, number> = {}
  for (const { cohort } of all.slice(0, TURNS_MAX)) taken[cohort] = (taken[cohort] ?? 0) + 1
  return taken
}
