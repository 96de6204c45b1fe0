// When the ether of a payment can be sent back without a node coming of it all the same: once every mint that was signed for it has
// run out in a final block, and the payment's own block is final. Pure.

/** How long a call that was signed can be carried out at most, in seconds of block time, whatever the settings were. */
export const VALID_FOR_SEC_MAX = 3_600

/** A block that no reorganisation takes back, up to which the ledger has followed. Time in unix seconds. */
export interface FinalBlock {
  number: number
  time: number
}

/** What a refund's safety depends on. Times are unix seconds of block time. */
export interface RefundFacts {
  /** Null where none is known. */
  final: FinalBlock | null
  /** Until when the last mint that is on record for the payment can be carried out; null where none can. */
  signedUntil: number | null
  /** The same of what a ledger that was lost may have signed; null where none was. */
  lostUntil: number | null
  /** The payment's; null while a reorganisation has it out. */
  blockNumber: number | null
}

export interface RefundSafety {
  /** The last block time at which a mint of the payment can be carried out; null where none is known that could. */
  safeAfter: number | null
  /** Whether a node may yet come of the payment by itself. */
  mayStillMint: boolean
  /** Whether no reorganisation can take the payment out. */
  isPaymentFinal: boolean
}

/** Judges whether a refund made now is safe. What is not known never counts as safe. */
export function judgeRefund({ final, signedUntil, lostUntil, blockNumber }: RefundFacts): RefundSafety {
  const until = Math.max(signedUntil ?? 0, lostUntil ?? 0)
  return {
    safeAfter: until === 0 ? null : until,
    mayStillMint: until > 0 && (final === null || final.time <= until),
    isPaymentFinal: final !== null && blockNumber !== null && blockNumber <= final.number,
  }
}

/** A safe refund harms nobody. */
export const isRefundSafe = ({ mayStillMint, isPaymentFinal }: RefundSafety): boolean => !mayStillMint && isPaymentFinal
