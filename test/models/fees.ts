// What a transaction may offer, by docs/ARCHITECTURE.md (Sending: One at a time, Fees), docs/SETTINGS.md (FEE_CAP_WEI, TIP_MAX_WEI), docs/ADMIN.md
// (transactions/stuck) and docs/DATA-MODEL.md (block_fees). The documents give bounds and no formula, so this model says which bounds an offer breaks.

// Choices in what the documents leave open:
// - "Never more than recent blocks require" leaves room: four times the highest base fee, twice the highest tip, and a gwei for chains that show less.
// - The whole fee has room for a base fee that doubles. Above the cap the offer stands, and the caller sends nothing.
// - TIP_MAX_WEI bounds a first offer. A stuck transaction is raised up to FEE_CAP_WEI (ADMIN.md, RUNBOOK.md), its tip too, because pools want more of both.

export interface Paid {
  baseFeeWei: bigint | null
  tipWei: bigint | null
}
export interface Offer {
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
}
export interface Caps {
  feeCapWei: bigint
  tipMaxWei: bigint
}
const GWEI = 1_000_000_000n

function highest(values: (bigint | null)[]): bigint | null {
  let found: bigint | null = null
  for (const one of values) if (one !== null && (found === null || one > found)) found = one
  return found
}
const atLeastGwei = (wei: bigint): bigint => (wei < GWEI ? GWEI : wei)

/** The highest tip that a first offer may have, and the highest base fee that is believed; null if blocks show no base fee. */
export function believed(recent: Paid[], caps: Caps): { tipWei: bigint; baseFeeWei: bigint | null } {
  const tip = atLeastGwei(2n * (highest(recent.map((one) => one.tipWei)) ?? 0n))
  const base = highest(recent.map((one) => one.baseFeeWei))
  return {
    tipWei: tip > caps.tipMaxWei ? caps.tipMaxWei : tip,
    baseFeeWei: base === null ? null : atLeastGwei(4n * base),
  }
}

/** The offer that an estimate of funds assumes, without a provider: twice the last base fee, and the highest tip; null if the last block has no base fee. */
export function assumed(recent: Paid[], caps: Caps): Offer | null {
  const last = recent.at(-1)?.baseFeeWei ?? null
  if (last === null) return null
  const shown = highest(recent.map((one) => one.tipWei)) ?? GWEI
  const most = believed(recent, caps).tipWei
  const maxPriorityFeeWei = shown > most ? most : shown
  const roomy = 2n * last + maxPriorityFeeWei
  // The cap cuts the room, unless the next block alone may need more than the cap.
  const isCut = roomy > caps.feeCapWei && last + last / 8n + 1n + maxPriorityFeeWei <= caps.feeCapWei
  return { maxFeeWei: isCut ? caps.feeCapWei : roomy, maxPriorityFeeWei }
}

/** The bounds that a first offer breaks, given what a provider suggests. */
export function breaks(
  offer: Offer,
  suggested: { baseFeeWei: bigint; tipWei: bigint },
  recent: Paid[],
  caps: Caps,
): string[] {
  const found: string[] = []
  const most = believed(recent, caps)
  const baseFeeWei =
    most.baseFeeWei !== null && suggested.baseFeeWei > most.baseFeeWei ? most.baseFeeWei : suggested.baseFeeWei
  if (offer.maxPriorityFeeWei > most.tipWei) found.push('more tip than blocks show')
  if (offer.maxPriorityFeeWei > suggested.tipWei) found.push('more tip than the provider asks for')
  if (suggested.tipWei <= most.tipWei && offer.maxPriorityFeeWei < suggested.tipWei)
    found.push('less tip than asked for')
  if (offer.maxPriorityFeeWei > offer.maxFeeWei) found.push('a tip above the fee')
  if (offer.maxFeeWei < baseFeeWei + offer.maxPriorityFeeWei) found.push('too little for the base fee')
  if (offer.maxFeeWei > 2n * baseFeeWei + offer.maxPriorityFeeWei) found.push('more than twice the base fee')
  return found
}

/** What becomes of a pending transaction that providers have, or have not answered about. */
export function pending(
  tx: Offer & { nonce: number; signedAtBlock: number },
  now: { head: number; accountNonce: number; feesNow: Offer; feeCapWei: bigint },
): 'mined' | 'resend' | 'capped' | { atLeast: Offer } {
  if (now.accountNonce > tx.nonce) return 'mined'
  if (now.head - tx.signedAtBlock < 12) return 'resend'
  const raise = (wei: bigint, wanted: bigint): bigint => {
    let more = wei + wei / 8n
    // Rounded up, and never the same: a pool takes no replacement that offers as much.
    if (wei % 8n !== 0n) more += 1n
    if (more === wei) more += 1n
    return wanted > more ? wanted : more
  }
  const maxFeeWei = raise(tx.maxFeeWei, now.feesNow.maxFeeWei)
  const maxPriorityFeeWei = raise(tx.maxPriorityFeeWei, now.feesNow.maxPriorityFeeWei)
  if (maxFeeWei > now.feeCapWei || maxPriorityFeeWei > now.feeCapWei) return 'capped'
  return { atLeast: { maxFeeWei, maxPriorityFeeWei } }
}

/** Why a transaction is stuck, in the order in which ADMIN.md lists the answers. */
export const STUCK = ['nonce', 'behind', 'over', 'fee', 'refused', 'waiting'] as const
