// Which payments held `soldOut` take a place that becomes free, and how much of an allocation a wallet has used, as a second reading of docs/ADMIN.md (A
// place becomes free, Allowlists). Loops over rows in memory.
//
// Choices in what the document leaves open:
// - The wallet has sent a payer that value if one transfer to it was at least as much, in the payment's block or later.
// - A decision that was withdrawn is one that the operator made: the payment does not wait by itself any more.
// - A prepared refund leaves an allocation used if a mint was signed before, because that mint may still be carried out.
const DAY_SEC = 86_400

export interface Waiting {
  tierNo: number
  /** The payer, by a number. */
  from: number
  valueWei: bigint
  block: number
  time: number
  /** The operator's decisions, in order. */
  decisions: { verdict: 'accepted' | 'dismissed' | 'held'; isWithdrawn: boolean }[]
}
export interface Outflow {
  to: number
  valueWei: bigint
  block: number
}

export function waitsForPlace(
  one: Waiting,
  {
    tierNos,
    now,
    closesAt,
    outflows,
  }: { tierNos: number[]; now: number; closesAt: number | null; outflows: Outflow[] },
): boolean {
  if (!tierNos.includes(one.tierNo)) return false
  if (one.decisions.length > 0) {
    const standing = one.decisions.filter(({ isWithdrawn }) => !isWithdrawn)
    return standing.at(-1)?.verdict === 'accepted'
  }
  if (now - one.time >= DAY_SEC) return false
  if (closesAt !== null && now >= closesAt) return false
  for (const sent of outflows) {
    if (sent.to === one.from && sent.block >= one.block && sent.valueWei >= one.valueWei) return false
  }
  return true
}

export interface Bought {
  tierNo: number
  from: number
  state: 'accepted' | 'minting' | 'minted' | 'held' | 'refunded' | 'dismissed' | 'ignored'
  isRefunding: boolean
  /** A mint for it was signed. */
  hasMint: boolean
}

/** How many nodes of a wallet's allocation its payments have used. */
export function usedOf(all: Bought[], tierNo: number, from: number): number {
  let used = 0
  for (const one of all) {
    if (one.tierNo !== tierNo || one.from !== from) continue
    if (one.state === 'accepted' || one.state === 'minting' || one.state === 'minted') used += 1
    if (one.state === 'held' && one.isRefunding && one.hasMint) used += 1
  }
  return used
}
