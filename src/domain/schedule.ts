// Cohorts and their times: which cohort a new node joins, and which cohorts a tier needs. Each tier has one cohort per
// phase of the interval; phases are multiples of the slot, counted from the unix epoch. All times are unix seconds of
// block time.

/** Seconds between the credits of a node, and between phases; slotSec divides intervalSec. */
export interface Schedule {
  intervalSec: number
  slotSec: number
}

/** A cohort as the ledger knows it. */
export interface CohortState {
  cohort: number
  tierNo: number
  intervalSec: number
  nextDue: number
  size: number
}

/**
 * The next time at which a cohort's turn can come. The past turns of an empty cohort are owed to no node, so they are skipped here, as the contract
 * skips them on a mint.
 */
export function effectiveDue(cohort: Pick<CohortState, 'intervalSec' | 'nextDue' | 'size'>, now: number): number {
  if (cohort.size > 0 || cohort.nextDue > now) return cohort.nextDue
  return cohort.nextDue + (Math.floor((now - cohort.nextDue) / cohort.intervalSec) + 1) * cohort.intervalSec
}

/** True if the cohort has a due, unpaid turn. It cannot take nodes then, because they would be paid for a time before their mint. */
export function isDue(cohort: Pick<CohortState, 'nextDue' | 'size'>, now: number): boolean {
  return cohort.size > 0 && cohort.nextDue <= now
}

/** The first turn of a node minted now: the latest phase that is at most one interval ahead. */
export function firstTurnDue(schedule: Schedule, now: number): number {
  return Math.floor((now + schedule.intervalSec) / schedule.slotSec) * schedule.slotSec
}

/**
 * The cohort that a node minted now joins. It has the node's tier and the schedule's interval, its next turn is between interval - slot and interval
 * ahead, and no turn waits to be paid. Null if a cohort must be opened (see `openingsNeeded`).
 */
export function chooseCohort(
  cohorts: readonly CohortState[],
  tierNo: number,
  schedule: Schedule,
  now: number,
): CohortState | null {
  const latest = now + schedule.intervalSec
  const earliest = latest - schedule.slotSec
  for (const cohort of cohorts) {
    if (cohort.tierNo !== tierNo || cohort.intervalSec !== schedule.intervalSec || isDue(cohort, now)) continue
    const due = effectiveDue(cohort, now)
    if (due > earliest && due <= latest) return cohort
  }
  return null
}

/** All cohorts, the schedule in force, and the block time. */
export interface CohortsAt {
  cohorts: readonly CohortState[]
  schedule: Schedule
  now: number
}

export interface Opening {
  tierNo: number
  firstDue: number
  intervalSec: number
}

/**
 * The cohorts that a tier lacks, soonest needed first: one for each phase that no cohort with the schedule's interval has. If a payment waits, there
 * may be a second cohort of the phase that a node minted now would join: when all cohorts of that phase wait for their turn to be paid. Without a
 * waiting payment this would only multiply cohorts, because every phase is briefly in that state once an interval.
 */
export function openingsNeeded({ cohorts, schedule, now }: CohortsAt, tierNo: number, isWaitedFor: boolean): Opening[] {
  const ofTier = cohorts.filter((c) => c.tierNo === tierNo && c.intervalSec === schedule.intervalSec)
  const phases = new Set(ofTier.map((c) => c.nextDue % schedule.intervalSec))
  const first = firstTurnDue(schedule, now)
  const openings: Opening[] = []
  for (let k = 0; k < schedule.intervalSec / schedule.slotSec; k++) {
    // In the order in which mints will need them: this slot's phase, then the later phases.
    const firstDue = first + k * schedule.slotSec
    const isBlocked = k === 0 && isWaitedFor && chooseCohort(cohorts, tierNo, schedule, now) === null
    if (isBlocked || !phases.has(firstDue % schedule.intervalSec)) {
      openings.push({ tierNo, firstDue, intervalSec: schedule.intervalSec })
    }
  }
  return openings
}

/**
 * The cohort that a tier's nodes share while no turn is paid or skipped. It has the schedule's interval, no turn waits to be paid, and its next turn
 * is the latest. Null if a cohort must be opened (see `sharedOpening`).
 */
export function chooseSharedCohort(
  cohorts: readonly CohortState[],
  tierNo: number,
  { intervalSec }: Schedule,
  now: number,
): CohortState | null {
  let farthest: CohortState | null = null
  for (const cohort of cohorts) {
    if (cohort.tierNo !== tierNo || cohort.intervalSec !== intervalSec || isDue(cohort, now)) continue
    const due = effectiveDue(cohort, now)
    if (due > now + intervalSec) continue
    if (!farthest || due > effectiveDue(farthest, now)) farthest = cohort
  }
  return farthest
}

/**
 * The one cohort to open for a tier whose nodes share a cohort; null if that cohort exists. A due cohort takes no more nodes, so at most one is
 * opened per interval, whatever the phases.
 */
export function sharedOpening({ cohorts, schedule, now }: CohortsAt, tierNo: number): Opening | null {
  if (chooseSharedCohort(cohorts, tierNo, schedule, now)) return null
  return { tierNo, firstDue: firstTurnDue(schedule, now), intervalSec: schedule.intervalSec }
}
