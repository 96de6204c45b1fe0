// Decides what to do about a stored transaction of ours that is not in a block yet, and how large a mint may be. Pure: the pass reads, this file
// decides.
import { larger, smaller } from './units.ts'

/**
 * How long a signed call is valid, in seconds of block time. A shorter time expires before a busy chain has room for the call; a longer one delays a
 * refund by as much.
 */
export const VALID_FOR_SEC = 900

/** The longest validity of a signed call, in seconds of block time, that an earlier release or another ledger may have chosen. */
export const VALID_FOR_SEC_MAX = 3_600

export interface Outstanding {
  nonce: number
  attempts: number
  /** Fees of the last attempt, wei per gas. */
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
  /** Height at which the last attempt was signed. */
  signedAtBlock: number
  /** The kind of the last broadcast's outcome; null before the first broadcast. */
  lastOutcome: string | null
}

export interface SendView {
  /** The followed head. */
  headBlock: number
  /** The account's nonce at the provider's latest block. */
  accountNonce: number
  /** The fees that a new transaction would offer now. */
  feesNow: { maxFeeWei: bigint; maxPriorityFeeWei: bigint }
  /** The provider's suggestion, limited only by the caps; used for a transaction that a pool rejected. */
  suggested: { maxFeeWei: bigint; maxPriorityFeeWei: bigint }
  /** The cap: we never offer more per gas. */
  feeCapWei: bigint
  /** The highest tip that we offer on a provider's word. */
  tipMaxWei: bigint
  /** True if it has expired, so another call takes its nonce. */
  isLapsed: boolean
}

export type SendDecision =
  /** The transaction, or another with its nonce, is in a block that the follower has not reached. */
  | { kind: 'wait'; why: 'mined' }
  /** Broadcast the stored bytes again. */
  | { kind: 'resend' }
  /** Sign again at these fees, with the same nonce; store, send. */
  | { kind: 'bump'; maxFeeWei: bigint; maxPriorityFeeWei: bigint }
  /** The necessary fee is above the cap, so send the same bytes again and alert the operator. */
  | { kind: 'capped' }

/**
 * The largest number of nodes in one mint. For wallets without nodes each takes about 74,000 gas, so this fills nine tenths of what a transaction may
 * carry. Only one mint is in flight at a time, so this is also how many sales a block can have before a buyer waits for the next mint.
 */
export const MINT_BATCH_MAX = 200

/**
 * The gas floor of each order in a mint: the cost of an order that succeeds. For an order that would be skipped at the moment, an estimate is close
 * to zero. Without the floor, an owner could move a node before the mint is executed, and so make the whole mint run out of gas, again and again.
 */
const ORDER_GAS = 80_000n
/**
 * The gas floor of each call, and of each of its items: a little more than the most that we measured, because a provider's estimate may be too low. What
 * is not used is not paid.
 */
const GAS_FLOORS = { mint: [40_000n, ORDER_GAS], openCohorts: [40_000n, 40_000n], credit: [70_000n, 30_000n] } as const

/** The gas floor of a call with this many orders, openings or credits. */
export function leastGas(kind: keyof typeof GAS_FLOORS, items: number): bigint {
  const [call, each] = GAS_FLOORS[kind]
  return items === 0 ? 0n : call + each * BigInt(items)
}

/** The next batch size if a signer account's funds are too low: about as many orders as they pay for, at least one, and fewer than before. */
export function affordablePart(batch: number, { hasWei, needsWei }: { hasWei: bigint; needsWei: bigint }): number {
  const part = needsWei === 0n ? batch : Number((BigInt(batch) * hasWei) / needsWei)
  return Math.max(1, Math.min(part, batch - 1))
}

/** After this many blocks a pending transaction counts as stuck on its fee. */
export const STUCK_AFTER_BLOCKS = 12
/** A replacement needs at least 10 % more on both fee fields; an eighth is safe against rounding. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n

/** Decides about a pending transaction. The order of the cases is the policy. */
export function decideSend(tx: Outstanding, view: SendView): SendDecision {
  if (view.accountNonce > tx.nonce) return { kind: 'wait', why: 'mined' }
  // A higher fee would need even more funds.
  if (tx.lastOutcome === 'insufficientFunds' && !view.isLapsed) return { kind: 'resend' }
  if (tx.lastOutcome === 'feeTooLow' && view.headBlock > tx.signedAtBlock) return raiseRefused(tx, view)
  if (view.headBlock - tx.signedAtBlock < STUCK_AFTER_BLOCKS) return { kind: 'resend' }
  const maxFeeWei = larger(raised(tx.maxFeeWei), view.feesNow.maxFeeWei)
  const maxPriorityFeeWei = larger(raised(tx.maxPriorityFeeWei), view.feesNow.maxPriorityFeeWei)
  if (maxFeeWei > view.feeCapWei || maxPriorityFeeWei > view.feeCapWei) return { kind: 'capped' }
  return { kind: 'bump', maxFeeWei, maxPriorityFeeWei }
}

/**
 * No pool holds a transaction that pools rejected, so we need not wait. Offers the provider's suggestion, then twice as much, at most once a block.
 */
function raiseRefused(tx: Outstanding, { suggested: suggestion, feeCapWei, tipMaxWei }: SendView): SendDecision {
  const next = tx.attempts > 1 ? tx.maxPriorityFeeWei * 2n : raised(tx.maxPriorityFeeWei)
  const nextTipWei = smaller(larger(next, suggestion.maxPriorityFeeWei), smaller(tipMaxWei, feeCapWei))
  const tipWei = larger(nextTipWei, tx.maxPriorityFeeWei)
  const withTip = tx.maxFeeWei + tipWei - tx.maxPriorityFeeWei
  const maxFeeWei = smaller(larger(larger(raised(tx.maxFeeWei), suggestion.maxFeeWei), withTip), feeCapWei)
  const isHigher = tipWei > tx.maxPriorityFeeWei || suggestion.maxFeeWei > tx.maxFeeWei
  if (!isHigher || maxFeeWei < tx.maxFeeWei) return { kind: 'capped' }
  return { kind: 'bump', maxFeeWei, maxPriorityFeeWei: tipWei }
}

/** The facts about a transaction that was signed long ago and is in no block. */
export interface StuckFacts {
  /** The providers report a nonce of its signer account that followed blocks do not confirm. */
  isAhead: boolean
  isBehind: boolean
  isOver: boolean
  /** It offers less than the last block's base fee. */
  isCheap: boolean
  /** The kind of the providers' last answer; null before they answered. */
  lastOutcome: string | null
}

/**
 * Why a transaction is stuck, in the order of treatment: `nonce` (its signer account's nonce is in doubt), `behind` (another transaction of that
 * account is ahead), `over` (it has expired; the next run uses its nonce for an empty call), `fee` (blocks need more than it offers), `refused` (the
 * providers reject it), `waiting` (they have it, but no block took it).
 */
export function whyStuck(facts: StuckFacts): 'nonce' | 'behind' | 'over' | 'fee' | 'refused' | 'waiting' {
  if (facts.isAhead) return 'nonce'
  if (facts.isBehind) return 'behind'
  if (facts.isOver) return 'over'
  if (facts.isCheap) return 'fee'
  return facts.lastOutcome === 'accepted' ? 'waiting' : 'refused'
}

/** Clients also require strictly more than before, and an eighth of zero adds nothing. */
function raised(feeWei: bigint): bigint {
  return larger((feeWei * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR, feeWei + 1n)
}
