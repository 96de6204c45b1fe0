// Recomputes the amounts of a round, turn by turn, from what the service publishes. Reads no chain.
import { encodeAbiParameters, keccak256 } from 'viem'
import type { LedgerClient } from '../client.ts'
import type { Distribution, SingleTurn, Turn } from '../types.ts'

export interface RecomputedTurn {
  /** The turn itself or, if it represents several turns, each of them. */
  singles: SingleTurn[]
  /** The amount that follows from the published seeds and terms; null if the ledger has no terms for a turn. */
  expectedWei: bigint | null
  /** True if that amount equals the credited amount; null if it cannot be computed. */
  amountMatches: boolean | null
}

/**
 * The amount that follows from a turn's published seed and terms. Null if they are missing, or if the turn represents
 * several.
 */
export function recompute(turn: SingleTurn & { count?: number }): bigint | null {
  const { seed, cohort, dueSec, minWei, maxWei, payoutBps, count = 1 } = turn
  if (count !== 1 || seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  if (maxWei < minWei) return null
  const types = [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const entropy = BigInt(keccak256(encodeAbiParameters(types, [seed, BigInt(cohort), BigInt(dueSec)])))
  const draw = minWei + (entropy % (maxWei - minWei + 1n))
  return (draw * BigInt(payoutBps)) / 10_000n
}

/**
 * True if the amounts of a round follow from their published seeds and terms, and add up to its total. Null if the
 * ledger has no terms for a turn. If the round paid a cohort several turns together, fetches the single turns. {@link
 * verifyRound} also compares with the chain.
 */
export async function recomputeRound(ledger: LedgerClient, round: Distribution): Promise<boolean | null> {
  const singles = await singlesOf(ledger, round)
  const answers = round.turns.map((turn) => recomputeTurn(turn, singles).amountMatches)
  if (!addsUp(round) || answers.includes(false)) return false
  return answers.length === 0 || answers.includes(null) ? null : true
}

/** Recomputes a turn from the single turns of its round. */
export function recomputeTurn(turn: Turn, ofRound: readonly SingleTurn[]): RecomputedTurn {
  const singles = turn.count === 1 ? [turn] : ofRound.filter(({ cohort }) => cohort === turn.cohort)
  const amounts = singles.map(recompute)
  const expectedWei = amounts.reduce<bigint | null>((sum, wei) => (sum === null || wei === null ? null : sum + wei), 0n)
  const amountMatches = expectedWei === null ? null : expectedWei === turn.amountWei && areThose(singles, turn)
  return { singles, expectedWei, amountMatches }
}

/** True if the amounts of a round's turns add up to its total. */
export const addsUp = ({ turns, totalWei }: Distribution): boolean =>
  turns.reduce((sum, { amountWei, nodeCount }) => sum + amountWei * BigInt(nodeCount), 0n) === totalWei

/** True if single turns begin at a time, and are as far apart as that. */
export const areApart = (singles: readonly SingleTurn[], fromSec: number, stepSec: number): boolean =>
  singles.every(({ dueSec }, i) => dueSec === fromSec + i * stepSec)

/** True if single turns match a sum: how many there are, the time of the first, their even spacing, and each amount. */
function areThose(singles: readonly SingleTurn[], { count, due, dueSec, nodeCount, tierId }: Turn): boolean {
  const step = count === 1 ? 1 : (singles[1]?.dueSec ?? dueSec) - dueSec
  return (
    singles.length === count &&
    step > 0 &&
    areApart(singles, dueSec, step) &&
    isAt(due, dueSec) &&
    singles.every((single) => isAt(single.due, single.dueSec)) &&
    singles.every((single) => single.nodeCount === nodeCount && single.tierId === tierId) &&
    singles.every((single) => single.amountWei === recompute(single))
  )
}

export const isAt = (time: Date, sec: number) => time.getTime() === sec * 1000

/** The single turns of a round, if it paid a cohort several together. */
export async function singlesOf(ledger: LedgerClient, { id, turns }: Distribution): Promise<SingleTurn[]> {
  const singles: SingleTurn[] = []
  if (turns.every(({ count }) => count === 1)) return singles
  while (true) {
    const page = await ledger.getTurns(id, { limit: 200, offset: singles.length })
    singles.push(...page.turns)
    if (page.turns.length === 0 || singles.length >= Math.min(page.total, TURNS_MAX)) return singles
  }
}

/** How many turns a round has at most: the contract's own limit. */
const TURNS_MAX = 2_000
