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

export interface Cadence {
  /** Seconds between two credits of a node. */
  intervalSec: number
  /** When the next turn is due. Null if it is late by more than an interval, because rounds have then ended or stopped. */
  nextAt: Date | null
}

/** The cadence; null until a cohort has had two turns. `rounds`: newest first. */
export function cadenceOf(rounds: readonly Round[], nowMs: number): Cadence | null {
  const turnsOf = new Map<number, Turn[]>()
  for (const turn of rounds.flatMap(({ turns }) => turns))
    turnsOf.set(turn.cohort, [...(turnsOf.get(turn.cohort) ?? []), turn])
  const schedules = [...turnsOf.values()].flatMap(([last, before]) => {
    if (!last || !before) return []
    const intervalSec = (last.dueSec - before.dueSec) / before.count
    return { intervalSec, nextSec: last.dueSec + last.count * intervalSec }
  })
  const soonest = (some: typeof schedules) => some.toSorted((a, b) => a.nextSec - b.nextSec)[0]
  const next = soonest(schedules.filter(({ nextSec, intervalSec }) => (nextSec + intervalSec) * 1000 > nowMs))
  const any = next ?? soonest(schedules)
  return any ? { intervalSec: any.intervalSec, nextAt: next ? new Date(next.nextSec * 1000) : null } : null
}

export interface Paid {
  round: number
  at: Date
  /** What each node received. */
  wei: bigint
}

/** What the last rounds paid a node of a tier, oldest first, at most `max` rounds. A round that paid several turns at once counts once. */
export const paidByTier = (rounds: readonly Round[], tierId: string, max: number): Paid[] =>
  rounds
    .flatMap(({ id: round, turns }) => {
      // A round may pay several cohorts of a tier, each by its own draw. We show the newest turn for all of them.
      const turn = turns.filter((one) => one.tierId === tierId).toSorted((a, b) => b.dueSec - a.dueSec)[0]
      return turn ? [{ round, at: turn.due, wei: turn.amountWei }] : []
    })
    .slice(0, max)
    .reverse()
