// Decides when a refund is safe: every mint signed for the payment has expired in a final block, the payment's own block is final, and more than one
// provider reports who paid. Pure.
import type { Proof } from './observed.ts'

/** A final block that the ledger has followed. Time in unix seconds. */
export interface FinalBlock {
  number: number
  time: number
}

/** The facts that a refund's safety depends on. Times are unix seconds of block time. */
export interface RefundFacts {
  /** The last final block; null if none is known. */
  final: FinalBlock | null
  /** When the last recorded mint of the payment expires; null if none can still be executed. */
  signedUntil: number | null
  /** When the last mint that a lost ledger may have signed expires; null if no ledger was lost. */
  lostUntil: number | null
  /** The payment's block; null while it is reorganised out. */
  blockNumber: number | null
  /** What backs the payment's sender. Null for an inner transfer, whose payer a trace shows. */
  proof: Proof | null
  /** True if one provider's word is enough on this chain. */
  trustsOne: boolean
}

export interface RefundSafety {
  /** The last block time at which a mint of the payment can be executed; null if no such mint is known. */
  safeAfter: number | null
  /** True if the payment may still become a node automatically. */
  mayStillMint: boolean
  /** True if no reorganisation can remove the payment. */
  isPaymentFinal: boolean
  /** False if only one provider reports who paid, and that is not enough. */
  isSenderKnown: boolean
}

/** Judges whether a refund made now is safe. An unknown fact never counts as safe. */
export function judgeRefund(facts: RefundFacts): RefundSafety {
  const { final, signedUntil, lostUntil, blockNumber, proof, trustsOne } = facts
  const until = Math.max(signedUntil ?? 0, lostUntil ?? 0)
  return {
    safeAfter: until === 0 ? null : until,
    mayStillMint: until > 0 && (final === null || final.time <= until),
    isPaymentFinal: final !== null && blockNumber !== null && blockNumber <= final.number,
    isSenderKnown: proof !== 'believed' || trustsOne,
  }
}

/** True if a refund made now can harm neither the buyer nor the operator. */
export const isRefundSafe = ({ mayStillMint, isPaymentFinal, isSenderKnown }: RefundSafety): boolean =>
  !mayStillMint && isPaymentFinal && isSenderKnown
