// When a refund may be sent, by docs/ADMIN.md (Prepare a refund) and docs/CONTRACT.md (Fork guard and validUntil: it is safe to act on "it never
// happened" once a final block is later than that time).

// Choice: a final block of exactly the time `validUntil` is not later, since the contract may still carry the call out in a block of that time.

export interface Prepared {
  /** The ends of all mints signed for the payment, by this ledger and by one that was lost. */
  mintsUntil: number[]
  /** The block of the payment; null while it is reorganised out. */
  block: number | null
}

/** Whether a mint that was signed for a payment may still land. */
export function mayStillMint(one: Prepared, final: { number: number; time: number } | null): boolean {
  for (const until of one.mintsUntil) if (final === null || final.time <= until) return true
  return false
}

/** After which block time a refund is safe: the end of every signed mint. Null: no mint was signed. */
export function safeAfter(one: Prepared): number | null {
  let latest: number | null = null
  for (const until of one.mintsUntil) if (latest === null || until > latest) latest = until
  return latest
}

/** Whether the payment itself may still be reorganised out. What is unknown is not final. */
export function isFinal(one: Prepared, final: { number: number; time: number } | null): boolean {
  return final !== null && one.block !== null && one.block <= final.number
}

/** Whether more than one provider's word says who paid, or one word is enough here. */
export function isSenderKnown(proof: string | null, trustsOne: boolean): boolean {
  return trustsOne || proof !== 'believed'
}
