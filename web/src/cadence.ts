// When nodes are credited, according to the listed rounds: the service publishes each turn, and a cohort's turns are evenly spaced.

/** The fields of a turn and of a round that these functions read. */
interface Turn {
  cohort: number
  tierId: string | null
  due: Date
  dueSec: number
  count: number
  amountWei: bigint
}
interface Round {
  id: number
  turns: readonly Turn[]
}

/**
 * When the next turn is due; null until a cohort has had two turns, and once rounds have ended or stopped. `rounds`: newest first. A turn that is late
 * by up to an interval counts only if no other comes: a cohort may be held back while the others are paid.
 */
export function nextTurnOf(rounds: readonly Round[], nowMs: number): Date | null {
  const turnsOf = new Map<number, Turn[]>()
  for (const turn of rounds.flatMap(({ turns }) => turns))
    turnsOf.set(turn.cohort, [...(turnsOf.get(turn.cohort) ?? []), turn])
  const schedules = [...turnsOf.values()].flatMap(([last, before]) => {
    if (!last || !before) return []
    const intervalSec = (last.dueSec - before.dueSec) / before.count
    return { intervalSec, nextSec: last.dueSec + last.count * intervalSec }
  })
  const soonest = (some: typeof schedules) => some.toSorted((a, b) => a.nextSec - b.nextSec)[0]
  const next =
    soonest(schedules.filter(({ nextSec }) => nextSec * 1000 > nowMs)) ??
    soonest(schedules.filter(({ nextSec, intervalSec }) => (nextSec + intervalSec) * 1000 > nowMs))
  return next ? new Date(next.nextSec * 1000) : null
}

export interface Paid {
  round: number
  at: Date
  /** What each node received. */
  wei: bigint
}

/** What the last rounds paid a node of a tier, oldest first, at most `max` rounds. A round that paid several turns together counts once. */
export const paidByTier = (rounds: readonly Round[], tierId: string, max: number): Paid[] =>
  rounds
    .flatMap(({ id: round, turns }) => {
      // A round may pay several cohorts of a tier, each by its own draw. We show the newest turn for all of them.
      const turn = turns.filter((one) => one.tierId === tierId).toSorted((a, b) => b.dueSec - a.dueSec)[0]
      return turn ? [{ round, at: turn.due, wei: turn.amountWei }] : []
    })
    .slice(0, max)
    .reverse()
