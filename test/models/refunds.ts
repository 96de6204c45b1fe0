// When a refund may be sent and what proves it, by docs/ADMIN.md (Prepare a refund, Refund) and docs/CONTRACT.md (Fork guard and validUntil: it is safe to
// act on "it never happened" once a final block is later than that time).
//
// Choices in what the documents leave open:
// - A final block of exactly the time `validUntil` is not later, since the contract may still carry the call out in a block of that time.

export interface SignedMint {
  /** The last block time at which the contract accepts it. */
  validUntil: number
}

/** Whether a mint that was signed for a payment may still land. */
export function mayStillMint(mints: SignedMint[], finalTime: number | null): boolean {
  if (mints.length === 0) return false
  if (finalTime === null) return true
  return mints.some((one) => finalTime <= one.validUntil)
}

/** From when on a refund is safe: later than the end of every signed mint. Null: at once. */
export function safeAfter(mints: SignedMint[]): number | null {
  let latest: number | null = null
  for (const one of mints) if (latest === null || one.validUntil > latest) latest = one.validUntil
  return latest
}

export interface Transfer {
  succeeded: boolean
  from: string
  to: string
  valueWei: bigint
  blockNumber: number
  txIndex: number
}
export interface Refundable {
  payer: string | null
  valueWei: bigint
  blockNumber: number
  txIndex: number
}

/** Why a transfer proves no refund of a payment; empty if it does. Without a known payer the recipient cannot be checked. */
export function whyNoRefund(payment: Refundable, transfer: Transfer): string[] {
  const why: string[] = []
  if (!transfer.succeeded) why.push('failed')
  if (transfer.valueWei !== payment.valueWei) why.push('another amount')
  const before =
    transfer.blockNumber < payment.blockNumber ||
    (transfer.blockNumber === payment.blockNumber && transfer.txIndex < payment.txIndex)
  if (before) why.push('before the payment')
  if (payment.payer !== null) {
    if (transfer.to.toLowerCase() !== payment.payer.toLowerCase()) why.push('to another')
    if (transfer.from.toLowerCase() === payment.payer.toLowerCase()) why.push('by the payer')
  }
  return why
}
