// The rings of a tier's picture, for the pages and for the first HTML.

const RINGS_MAX = 5
/** A ring for each of these basis points of the tier's rate. */
const BPS_PER_RING = 10_000
/** The radius of the largest. */
const RADIUS = 46

/** The radius of each ring: the higher the rate, the more of them. */
export function ringsOf({ payoutBps }: { payoutBps: number }): number[] {
  const count = Math.min(RINGS_MAX, 1 + Math.round(payoutBps / BPS_PER_RING))
  return Array.from({ length: count }, (_, ring) => (RADIUS * (ring + 1)) / count)
}
