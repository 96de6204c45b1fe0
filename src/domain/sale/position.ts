// The order of the chain: the place of a payment. Places of tiers are taken in this order, and steps of a ladder open behind a place. Pure.

/** A payment's position. A payment may return in another block, so this is no identity. */
export interface PaymentPosition {
  blockNumber: number
  txIndex: number
  /** Its index within the transaction; 0 for the transaction's own transfer. */
  innerIndex: number
}

/** Compares two positions, the earlier one first. */
export const byPosition = (a: PaymentPosition, b: PaymentPosition): number =>
  a.blockNumber - b.blockNumber || a.txIndex - b.txIndex || a.innerIndex - b.innerIndex

/** The position before every payment of a block. A step that opens there sells in the whole block. */
export const beforeBlock = (blockNumber: number): PaymentPosition => ({ blockNumber, txIndex: -1, innerIndex: 0 })
