// What a transaction may offer and which nonce it takes, by docs/ARCHITECTURE.md (Sending: One at a time, Fees), docs/SETTINGS.md (FEE_CAP_WEI,
// TIP_MAX_WEI), docs/ADMIN.md (transactions/stuck) and docs/DATA-MODEL.md (block_fees, sender_bases). The documents give bounds, no formula, so this model
// says which bounds an offer breaks.
//
// Choices in what the documents leave open:
// - "Never more than recent blocks require": the tip is at most the highest median of the blocks kept, and the whole fee leaves room for a base fee that
//   rises for as long as a transaction waits before it is raised (12 blocks, an eighth each), which is less than five times the highest base fee.

export interface Paid {
  baseFeeWei: bigint | null
  tipWei: bigint | null
}
export interface Offer {
  feeWei: bigint
  tipWei: bigint
}
export interface Caps {
  feeCapWei: bigint
  tipMaxWei: bigint
}

const highest = (values: (bigint | null)[]): bigint => {
  let found = 0n
  for (const one of values) if (one !== null && one > found) found = one
  return found
}

/** The bounds that an offer breaks. */
export function breaks(offer: Offer, recent: Paid[], caps: Caps): string[] {
  const found: string[] = []
  if (offer.feeWei > caps.feeCapWei) found.push('above the cap')
  if (offer.tipWei > caps.tipMaxWei) found.push('a tip above the highest')
  if (offer.tipWei > offer.feeWei) found.push('a tip above the fee')
  if (offer.feeWei < 0n || offer.tipWei < 0n) found.push('below nothing')
  const base = highest(recent.map((one) => one.baseFeeWei))
  if (recent.length > 0 && offer.feeWei > 5n * base + caps.tipMaxWei) found.push('more than blocks require')
  return found
}

/** A fee raised by an eighth, rounded up, because pools refuse a replacement that offers less than a tenth more. */
export function raised(wei: bigint, capWei: bigint): bigint {
  let eighth = wei / 8n
  if (eighth * 8n < wei) eighth += 1n
  const more = wei + eighth
  return more > capWei ? capWei : more
}

/** Whether a pending transaction is sent again with a higher fee: after 12 blocks without it. */
export function isOverdue(signedAtBlock: number, head: number): boolean {
  return head - signedAtBlock >= 12
}

/** How long providers must name a nonce that no followed block explains, in blocks, before it is adopted. */
const ADOPTED_AFTER = 64

/** What to do with the nonces that providers report for an account whose next nonce, by followed blocks, is `known`. */
export function nonceToUse(
  known: number,
  said: number[],
  since: { block: number; nonce: number } | null,
  now: { head: number; freed: boolean },
): { use: number } | 'wait' {
  // No provider is ahead: what followed blocks explain holds, however far behind a provider is.
  if (!said.some((one) => one > known)) return { use: known }
  const first = said[0]
  const agree = said.every((one) => one === first)
  if (!agree || first === undefined) return 'wait'
  if (now.freed) return { use: first }
  if (since === null || since.nonce !== first) return 'wait'
  return now.head - since.block >= ADOPTED_AFTER ? { use: first } : 'wait'
}
