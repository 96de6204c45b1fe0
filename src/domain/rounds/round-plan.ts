// Plans a round: the cohorts and turns that one transaction pays, the oldest first. A cohort that must wait never delays the others. Pure.

import { sumWei, type Wei } from '../units.ts'
import type { Turn } from './turn-amounts.ts'

/** A cohort whose turn is due, with everything that affects its amount. */
export interface DueCohort {
  cohort: number
  size: number
  /** How many of its nodes have neither a payment nor a grant. */
  unbackedNodes: number
  /** The due time of its pending turn, and how many turns from there on are not owed and can be skipped. */
  pendingDue: number
  skipped: number
  /** True if a node waits to join the cohort. Then even a round that pays the cohort nothing is worth sending. */
  isSkipNeeded: boolean
  /** True if the terms do not owe the next turn, which waits for a window by the contract's owner. */
  isDelayed: boolean
  /** The turns that the round would pay, without gaps: those after the skipped turns. */
  turns: readonly Turn[]
}

/** A cohort's part of a round. */
export interface PlannedCredit {
  cohort: number
  pendingDue: number
  skipped: number
  turns: { due: number; amountWei: Wei }[]
  /** The credit of each node for all these turns together. */
  amountWei: Wei
  nodeCount: number
}

export interface RoundPlan {
  credits: PlannedCredit[]
  totalWei: Wei
  /** How many nodes the round credits. */
  nodeCount: number
  /** Cohorts whose pending turn is not owed (`notOwed`), or waits for the contract's owner to declare it so (`delayed`). The round pays neither. */
  notOwed: number[]
  delayed: number[]
  /** Cohorts that wait for the operator, because they hold unpaid nodes. */
  unbacked: number[]
  /** Cohorts that we cannot compute yet. */
  unknown: number[]
  /** Cohorts that wait for the contract's owner, because the distributor may not pay so little, or so much. */
  outOfBounds: number[]
}

/** The smallest and the largest credit that the contract allows a node for one turn. */
export interface TurnBounds {
  floorWei: bigint
  ceilingWei: bigint
}

/** The largest number of cohorts in one round: about 2 million gas, an eighth of what a transaction may carry. */
export const CREDITS_PER_ROUND_MAX = 200
/** The largest number of turns in one round: the contract's own limit, because each turn needs a seed. */
export const TURNS_PER_ROUND_MAX = 2_000

/**
 * Plans the next round from the due cohorts, oldest turn first. A cohort that must wait never delays the others. If `bounds` could not be read, it is
 * null, and no cohort is checked against it.
 */
export function planRound(due: readonly DueCohort[], bounds: TurnBounds | null): RoundPlan {
  const credits: PlannedCredit[] = []
  const waiting: Pick<RoundPlan, 'notOwed' | 'delayed' | 'unbacked' | 'unknown' | 'outOfBounds'> = {
    notOwed: [],
    delayed: [],
    unbacked: [],
    unknown: [],
    outOfBounds: [],
  }
  let room = TURNS_PER_ROUND_MAX
  for (const dueCohort of [...due].sort((a, b) => firstDue(a) - firstDue(b) || a.cohort - b.cohort)) {
    const { cohort, size, pendingDue } = dueCohort
    const pricedTurns = knownTurns(dueCohort.turns)
    const turns = longestWithin(pricedTurns.slice(0, room), bounds)
    const isOnlySkipped = dueCohort.turns.length === 0
    if (dueCohort.isDelayed) waiting.delayed.push(cohort)
    else if (isOnlySkipped && !dueCohort.isSkipNeeded) waiting.notOwed.push(cohort)
    else if (dueCohort.unbackedNodes > 0) waiting.unbacked.push(cohort)
    else if (!isOnlySkipped && pricedTurns.length === 0) waiting.unknown.push(cohort)
    else if (!isOnlySkipped && turns.length === 0 && room > 0) waiting.outOfBounds.push(cohort)
    else if (credits.length < CREDITS_PER_ROUND_MAX && (isOnlySkipped || room > 0)) {
      room -= turns.length
      const amountWei = sumWei(turns.map((turn) => turn.amountWei))
      credits.push({ cohort, pendingDue, skipped: dueCohort.skipped, turns, amountWei, nodeCount: size })
    }
  }
  return { ...totalled(credits), ...waiting }
}

/** The plan reduced to these credits. The other cohorts stay due. */
export function planOf(plan: RoundPlan, credits: readonly PlannedCredit[]): RoundPlan {
  return { ...plan, ...totalled([...credits]) }
}

function totalled(credits: PlannedCredit[]): Pick<RoundPlan, 'credits' | 'totalWei' | 'nodeCount'> {
  return {
    credits,
    totalWei: sumWei(credits.map(({ amountWei, nodeCount }) => amountWei * BigInt(nodeCount))),
    nodeCount: credits.reduce((nodes, { turns, nodeCount }) => nodes + (turns.length > 0 ? nodeCount : 0), 0),
  }
}

const firstDue = ({ turns, pendingDue }: DueCohort) => turns[0]?.due ?? pendingDue

/** The leading turns whose amounts are known. Later turns wait, because turns are paid in order. */
function knownTurns(turns: readonly Turn[]): PlannedCredit['turns'] {
  const unknown = turns.findIndex((turn) => turn.amountWei === null)
  return turns.slice(0, unknown < 0 ? turns.length : unknown) as PlannedCredit['turns']
}

/** The longest series of leading turns that the contract accepts. */
function longestWithin(turns: PlannedCredit['turns'], bounds: TurnBounds | null): PlannedCredit['turns'] {
  return turns.slice(0, lengthsWithin(turns, bounds).at(-1) ?? 0)
}

/**
 * The numbers of leading turns that the contract accepts together, ascending. It compares their sum with the bounds of one turn times their number.
 */
function lengthsWithin(turns: PlannedCredit['turns'], bounds: TurnBounds | null): number[] {
  let sum = 0n
  return turns.flatMap(({ amountWei }, i) => {
    sum += amountWei
    const count = BigInt(i + 1)
    return !bounds || (sum >= bounds.floorWei * count && sum <= bounds.ceilingWei * count) ? [i + 1] : []
  })
}

/** A cohort with turns to pay. */
export interface PayableCohort {
  cohort: number
  intervalSec: number
  firstPayable: number
  payable: number
}

/** Distributes a round's turns over cohorts, oldest first. @returns the number of turns for each cohort; a cohort without turns must wait. */
export function shareTurns(cohorts: readonly PayableCohort[]): Map<number, number> {
  const sharing = [...cohorts]
    .sort((a, b) => a.firstPayable - b.firstPayable || a.cohort - b.cohort)
    .slice(0, CREDITS_PER_ROUND_MAX)
    .map((cohort) => ({ ...cohort, next: cohort.firstPayable, turnCount: 0 }))
  for (let room = TURNS_PER_ROUND_MAX; room > 0; room--) {
    let oldest: (typeof sharing)[number] | null = null
    for (const candidate of sharing)
      if (candidate.turnCount < candidate.payable && (!oldest || candidate.next < oldest.next)) oldest = candidate
    if (!oldest) break
    oldest.turnCount++
    oldest.next += oldest.intervalSec
  }
  return new Map(sharing.filter(({ turnCount }) => turnCount > 0).map(({ cohort, turnCount }) => [cohort, turnCount]))
}

/**
 * The first half of a plan, for when the whole exceeds the chain's transaction limit or the signer account's ether. Takes half of the plan's cohorts
 * or, if there is only one, about half of its turns, as the bounds allow. The other half stays due. Null if nothing smaller exists.
 */
export function firstHalf(plan: RoundPlan, bounds: TurnBounds | null): RoundPlan | null {
  const [first, second] = plan.credits
  if (!first) return null
  if (second) return planOf(plan, plan.credits.slice(0, Math.ceil(plan.credits.length / 2)))
  const lengths = lengthsWithin(first.turns, bounds).filter((length) => length < first.turns.length)
  const length = lengths.findLast((shorter) => shorter <= Math.ceil(first.turns.length / 2)) ?? lengths[0]
  if (length === undefined) return null
  const turns = first.turns.slice(0, length)
  return planOf(plan, [{ ...first, turns, amountWei: sumWei(turns.map(({ amountWei }) => amountWei)) }])
}
