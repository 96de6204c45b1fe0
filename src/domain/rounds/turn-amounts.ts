// Computes the amount of a turn. The seed comes from the first block at or after the turn's time, so an operator cannot choose it by choosing when a
// pass runs. The terms are those in force at that time, however late the turn is paid. Pure.
import { BPS_BASE, type Hash, type Wei, wei } from '../units.ts'

/** Terms in force from a time on (unix seconds): the range of a draw, whether turns are owed at all, and the schedule of new nodes. */
export interface CreditTerms {
  fromTime: number
  payouts: boolean
  minWei: Wei
  maxWei: Wei
  intervalSec: number
  slotSec: number
}

/** The terms in force at a time: the latest that began at or before it. Null before the first terms. */
export function termsAt(terms: readonly CreditTerms[], time: number): CreditTerms | null {
  let best: CreditTerms | null = null
  for (const candidate of terms) {
    if (candidate.fromTime <= time && (!best || candidate.fromTime > best.fromTime)) best = candidate
  }
  return best
}

/** The four 64-bit words of a hash. */
const WORDS = [0n, 64n, 128n, 192n]
/**
 * Chains without randomness put counters and times into the words of `mixHash`, and these are below this number. A random word is below it only once
 * in 2^32 times.
 */
const DRAWN_LEAST = 2n ** 32n

/**
 * The seed of a turn: prevrandao of the first block at or after its due time. If that is not random, the block's hash instead. It is not random if it
 * equals the parent's, or if one of its words is too small: zero, BSC's millisecond, or Arbitrum's count, L1 block and version.
 */
export function seedOf(block: { hash: Hash; prevrandao: Hash }, parent: { prevrandao: Hash } | null): Hash {
  const value = BigInt(block.prevrandao)
  const isDrawn = WORDS.every((shift) => BigInt.asUintN(64, value >> shift) >= DRAWN_LEAST)
  return isDrawn && block.prevrandao !== parent?.prevrandao ? block.prevrandao : block.hash
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
  /** Null if a fact is missing: no terms, no payout, or no seed block yet. */
  amountWei: Wei | null
}

/** The largest total that the contract can record for each node of a cohort: 80 bits. */
const PER_NODE_MAX_WEI = 2n ** 80n - 1n
/** How long that total must last, whatever the draws: a hundred years. */
const LIFE_SEC = 100n * 31_557_600n

/** The most a turn may pay at the base rate, so that no node of a tier at `payoutBps` exceeds the contract's largest total within 100 years. */
export function creditMaxWei(intervalSec: number, payoutBps: number): Wei {
  const turns = LIFE_SEC / BigInt(intervalSec) + 1n
  return wei((PER_NODE_MAX_WEI * BPS_BASE) / (turns * BigInt(Math.max(1, payoutBps))))
}
