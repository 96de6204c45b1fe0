// What a turn pays, and which turns a round holds. Nobody picks the seed by choosing when a pass runs: it is fixed by
// the first block at or after the turn's time, and the terms are those in force at that time, however late it is paid.
import { BPS_BASE, type Hash, sumWei, type Wei, wei, ZERO_HASH } from './units.ts'

/** The range a draw falls in, whether turns are owed at all, and the schedule new nodes join, from a time on (unix seconds). */
export interface CreditTerms {
  fromTime: number
  payouts: boolean
  minWei: Wei
  maxWei: Wei
  intervalSec: number
  slotSec: number
}

/** The terms in force at a time: the latest that began not after it. Null before the first. */
export function termsAt(terms: readonly CreditTerms[], time: number): CreditTerms | null {
  let best: CreditTerms | null = null
  for (const candidate of terms) {
    if (candidate.fromTime <= time && (!best || candidate.fromTime > best.fromTime)) best = candidate
  }
  return best
}

/**
 * The seed of a turn: prevrandao of the first block not before its due time, or that block's hash on chains where prevrandao is
 * constant (zero, or the same as the parent's).
 */
export function seedOf(block: { hash: Hash; prevrandao: Hash }, parent: { prevrandao: Hash } | null): Hash {
  const constant = block.prevrandao === ZERO_HASH || block.prevrandao === parent?.prevrandao
  return constant ? block.hash : block.prevrandao
}

/**
 * A turn's amount per node: min + digest mod (max - min + 1), times payoutBps / 10000, rounded down.
 * `digest` is keccak256(abi.encode(seed, cohort, due)) as a number.
 */
export function turnAmountWei(digest: bigint, terms: { minWei: bigint; maxWei: bigint }, payoutBps: number): Wei {
  const draw = terms.minWei + (digest % (terms.maxWei - terms.minWei + 1n))
  return wei((draw * BigInt(payoutBps)) / BPS_BASE)
}

/** One turn and what it pays each node. */
export interface Turn {
  due: number
  /** Null where a fact is missing: no terms, no payout, or no seed block yet. */
  amountWei: Wei | null
}

/** What becomes of a turn: `delay` means that it is owed until the contract's owner has said otherwise, and waits for that. */
export type TurnFate = 'pay' | 'skip' | 'delay'

/** A cohort whose turn is due, with all that its amount depends on. */
export interface DueCohort {
  cohort: number
  size: number
  /** Nodes in it that have neither a payment nor a grant. */
  unbackedNodes: number
  /** What becomes of its pending turn. */
  fate: TurnFate
  /** The turns that would be paid, the pending one first and without gaps. */
  turns: readonly Turn[]
}

/** A cohort's part of a round. */
export interface PlannedCredit {
  cohort: number
  turns: { due: number; amountWei: Wei }[]
  /** What each node is credited for all of its turns. */
  amountWei: Wei
  nodeCount: number
}

export interface RoundPlan {
  credits: PlannedCredit[]
  totalWei: Wei
  nodeCount: number
  /** Cohorts whose pending turn is not owed, or is owed until the contract's owner has said otherwise: neither is paid. */
  notOwed: number[]
  delayed: number[]
  /** Cohorts that must wait for the operator: they hold nodes nobody paid for. */
  unbacked: number[]
  /** Cohorts that cannot be computed yet. */
  unknown: number[]
  /** Cohorts that must wait for the contract's owner: the distributor may not pay that little, or that much. */
  outOfBounds: number[]
}

/** The least and the most that the contract lets a node be credited for one turn. */
export interface TurnBounds {
  floorWei: bigint
  ceilingWei: bigint
}

/** Cohorts in one round at most: about 2 million gas, an eighth of what a transaction may carry. */
export const CREDITS_PER_ROUND_MAX = 200

/**
 * Plans the next round from the due cohorts, oldest turn first. One cohort that must wait never delays the others. `bounds` is null where
 * they could not be read: then no cohort is held against them.
 */
export function planRound(due: readonly DueCohort[], bounds: TurnBounds | null): RoundPlan {
  const plan: RoundPlan = {
    ...{ credits: [], totalWei: wei(0n), nodeCount: 0 },
    ...{ notOwed: [], delayed: [], unbacked: [], unknown: [], outOfBounds: [] },
  }
  const firstDue = (cohort: DueCohort) => cohort.turns[0]?.due ?? 0
  for (const cohort of [...due].sort((a, b) => firstDue(a) - firstDue(b) || a.cohort - b.cohort)) {
    const turns = knownTurns(cohort.turns)
    const amountWei = sumWei(turns.map((turn) => turn.amountWei))
    if (cohort.fate === 'skip') plan.notOwed.push(cohort.cohort)
    else if (cohort.fate === 'delay') plan.delayed.push(cohort.cohort)
    else if (cohort.unbackedNodes > 0) plan.unbacked.push(cohort.cohort)
    else if (turns.length === 0) plan.unknown.push(cohort.cohort)
    else if (bounds && isOutOfBounds(amountWei, turns.length, bounds)) plan.outOfBounds.push(cohort.cohort)
    else if (plan.credits.length < CREDITS_PER_ROUND_MAX) {
      plan.credits.push({ cohort: cohort.cohort, turns, amountWei, nodeCount: cohort.size })
      plan.totalWei = wei(plan.totalWei + amountWei * BigInt(cohort.size))
      plan.nodeCount += cohort.size
    }
  }
  return plan
}

/** The turns up to the first that cannot be computed yet: none is paid before an earlier one. */
function knownTurns(turns: readonly Turn[]): PlannedCredit['turns'] {
  const unknown = turns.findIndex((turn) => turn.amountWei === null)
  return turns.slice(0, unknown < 0 ? turns.length : unknown) as PlannedCredit['turns']
}

/** The contract's own rule: the bounds of one turn, times the turns. */
function isOutOfBounds(amountWei: bigint, turns: number, { floorWei, ceilingWei }: TurnBounds): boolean {
  return amountWei < floorWei * BigInt(turns) || amountWei > ceilingWei * BigInt(turns)
}

/** The first half of a plan, for a chain whose transactions hold less; the other cohorts stay due. A plan of one has none: null. */
export function firstHalf(plan: RoundPlan): RoundPlan | null {
  if (plan.credits.length < 2) return null
  const credits = plan.credits.slice(0, Math.ceil(plan.credits.length / 2))
  return {
    ...plan,
    credits,
    totalWei: sumWei(credits.map((credit) => credit.amountWei * BigInt(credit.nodeCount))),
    nodeCount: credits.reduce((nodes, credit) => nodes + credit.nodeCount, 0),
  }
}

/** What a cohort on the contract can hold for each of its nodes, for life: 80 bits. */
const PER_NODE_MAX_WEI = 2n ** 80n - 1n
/** How long that must suffice, whatever is drawn: a hundred years. */
const LIFE_SEC = 100n * 31_557_600n

/** The most a turn may pay at the base rate so that no node of a tier at `payoutBps` outgrows the contract within 100 years. */
export function creditMaxWei(intervalSec: number, payoutBps: number): Wei {
  const turns = LIFE_SEC / BigInt(intervalSec) + 1n
  return wei((PER_NODE_MAX_WEI * BPS_BASE) / (turns * BigInt(Math.max(1, payoutBps))))
}
