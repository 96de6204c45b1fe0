// The rings of a tier's picture, for the pages and for the first HTML.

const RINGS_MAX = 8
/** A ring for each of these basis points of the tier's rate. */
const BPS_PER_RING = 5_000
/** The distance between two rings, as the contract draws them. */
const STEP = 36

/** The middle and the radius of each ring. The rate sets how many there are, and the tier's id where they are. */
export function ringsOf({ id, payoutBps }: { id: string; payoutBps: number }): { cx: number; r: number }[] {
  const rings = Math.min(RINGS_MAX, 1 + Math.round(payoutBps / BPS_PER_RING))
  const sum = [...id].reduce((total, letter) => total + letter.charCodeAt(0), 0)
  const cx = 80 + (sum % 7) * 40
  return Array.from({ length: rings }, (_, ring) => ({ cx, r: 24 + ring * STEP }))
}
