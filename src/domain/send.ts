// What to do about a transaction of ours that is stored but not in a block yet, and what a mint may carry. Pure: the pass looks,
// this decides.
import { larger } from './units.ts'

export interface Outstanding {
  nonce: number
  attempts: number
  /** Fees of the last attempt, wei per gas. */
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
  /** Height at which the last attempt was signed. */
  signedAtBlock: number
}

export interface SendView {
  /** The followed head. */
  headBlock: number
  /** Nonce of the account at the provider's latest block. */
  accountNonce: number
  /** What a new transaction would offer now. */
  feesNow: { maxFeeWei: bigint; maxPriorityFeeWei: bigint }
  /** Never offer more than this per gas. */
  feeCapWei: bigint
}

export type SendDecision =
  /** It, or another transaction with its nonce, is in a block that the follower has not reached. */
  | { kind: 'wait'; why: 'mined' }
  /** Hand the stored bytes to the providers again. */
  | { kind: 'resend' }
  /** Sign anew at these fees, same nonce, store, send. */
  | { kind: 'bump'; maxFeeWei: bigint; maxPriorityFeeWei: bigint }
  /** The fee it would take is above the cap: send the same bytes again and tell the operator. */
  | { kind: 'capped' }

/**
 * Nodes in one mint at most: to wallets that have none yet about 74,000 gas each, so this fills nine tenths of what a transaction
 * may carry. As one mint is on its way at a time, it also bounds what is sold in a block without a buyer waiting for the next.
 */
export const MINT_BATCH_MAX = 200

/**
 * The least that a mint is given for each order: what one costs that is carried out. One that would be skipped just now is estimated at next to
 * nothing; whoever moved a node of his in between had everybody's mint run out of gas, again and again.
 */
const ORDER_GAS = 80_000n
/** What a mint costs beside its orders. */
const MINT_GAS = 40_000n

/** The least gas that a mint of so many orders is given. */
export function leastMintGas(orders: number): bigint {
  return orders === 0 ? 0n : MINT_GAS + ORDER_GAS * BigInt(orders)
}

/**
 * How much of a batch to try next, where what a sender has falls short of what the batch needs: about as much as it pays for, at least
 * one, and less than before.
 */
export function affordablePart(batch: number, { hasWei, needsWei }: { hasWei: bigint; needsWei: bigint }): number {
  const part = needsWei === 0n ? batch : Number((BigInt(batch) * hasWei) / needsWei)
  return Math.max(1, Math.min(part, batch - 1))
}

/** Blocks to wait before a pending transaction is thought stuck on its fee. */
export const STUCK_AFTER_BLOCKS = 12
/** Nodes replace only what offers at least 10 % more on both fee fields; an eighth leaves no doubt about rounding. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n

/** Decides about an outstanding transaction. The order of the cases is the policy. */
export function decideSend(tx: Outstanding, view: SendView): SendDecision {
  if (view.accountNonce > tx.nonce) return { kind: 'wait', why: 'mined' }
  if (view.headBlock - tx.signedAtBlock < STUCK_AFTER_BLOCKS) return { kind: 'resend' }
  const maxFeeWei = larger(raised(tx.maxFeeWei), view.feesNow.maxFeeWei)
  const maxPriorityFeeWei = larger(raised(tx.maxPriorityFeeWei), view.feesNow.maxPriorityFeeWei)
  if (maxFeeWei > view.feeCapWei || maxPriorityFeeWei > view.feeCapWei) return { kind: 'capped' }
  return { kind: 'bump', maxFeeWei, maxPriorityFeeWei }
}

/** What is known of a transaction that is in no block although it was signed long ago. */
export interface StuckFacts {
  /** The providers name a nonce of its sender that followed blocks do not bear out. */
  isAhead: boolean
  isBehind: boolean
  isOver: boolean
  /** It offers less than the last block's base fee. */
  isCheap: boolean
  /** The kind of what the providers said last; null before they were asked. */
  lastOutcome: string | null
}

/**
 * Why a transaction is stuck, in the order of what has to be dealt with first: `nonce` (the sender's is in doubt), `behind` (another one of
 * its sender), `over` (its time is over: the next run takes its nonce for nothing), `fee` (blocks ask for more than it offers), `refused`
 * (the providers do not take it), `waiting` (they have it, and no block took it).
 */
export function whyStuck(facts: StuckFacts): 'nonce' | 'behind' | 'over' | 'fee' | 'refused' | 'waiting' {
  if (facts.isAhead) return 'nonce'
  if (facts.isBehind) return 'behind'
  if (facts.isOver) return 'over'
  if (facts.isCheap) return 'fee'
  return facts.lastOutcome === 'accepted' ? 'waiting' : 'refused'
}

/** Clients also ask for more than before in so many words, which an eighth of nothing is not. */
function raised(feeWei: bigint): bigint {
  return larger((feeWei * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR, feeWei + 1n)
}
