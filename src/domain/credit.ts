// What a turn pays, and which turns a round holds. Nobody picks the seed by choosing when a pass runs: it is fixed by
// the first block at or after the turn's time, and the terms are those in force at that time, however late it is paid.
import { BPS_BASE, type Hash, sumWei, type Wei, wei, ZERO_HASH } from './units.ts'

/** The range a draw falls in, from a time on (unix seconds). */
export interface CreditTerms {
  fromTime: number
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

/** A cohort whose turn is due, with all that its amount depends on. */
export interface DueTurn {
  cohort: number
  due: number
  size: number
  /** Nodes in it that have neither a payment nor a grant. */
  unbackedNodes: number
  /** Null where a fact is missing: no terms, no payout, or no seed block yet. */
  amountWei: Wei | null
}

export interface RoundPlan {
  turns: { cohort: number; due: number; amountWei: Wei; nodeCount: number }[]
  totalWei: Wei
  nodeCount: number
  /** Cohorts that must wait for the operator: they hold nodes nobody paid for. */
  unbacked: number[]
  /** Cohorts that cannot be computed yet. */
  unknown: number[]
}

/** Cohorts in one round at most: about 2 million gas, an eighth of what a transaction may carry. */
export const TURNS_PER_ROUND_MAX = 200

/** Plans the next round from the due cohorts, oldest turn first. One cohort that must wait never delays the others. */
export function planRound(due: readonly DueTurn[]): RoundPlan {
  const plan: RoundPlan = { turns: [], totalWei: wei(0n), nodeCount: 0, unbacked: [], unknown: [] }
  for (const turn of [...due].sort((a, b) => a.due - b.due || a.cohort - b.cohort)) {
    if (turn.unbackedNodes > 0) plan.unbacked.push(turn.cohort)
    else if (turn.amountWei === null) plan.unknown.push(turn.cohort)
    else if (plan.turns.length < TURNS_PER_ROUND_MAX) {
      plan.turns.push({ cohort: turn.cohort, due: turn.due, amountWei: turn.amountWei, nodeCount: turn.size })
      plan.totalWei = wei(plan.totalWei + turn.amountWei * BigInt(turn.size))
      plan.nodeCount += turn.size
    }
  }
  return plan
}

/** The first half of a plan, for a chain whose transactions hold less; the other turns stay due. A plan of one turn has none: null. */
export function firstHalf(plan: RoundPlan): RoundPlan | null {
  if (plan.turns.length < 2) return null
  const turns = plan.turns.slice(0, Math.ceil(plan.turns.length / 2))
  return {
    ...plan,
    turns,
    totalWei: sumWei(turns.map((turn) => turn.amountWei * BigInt(turn.nodeCount))),
    nodeCount: turns.reduce((nodes, turn) => nodes + turn.nodeCount, 0),
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
