// When a step of a ladder opens and what is reported of a tier's places, as a second reading of docs/ADMIN.md (Tiers: opensAfter; tierNearlySold and
// tierSoldOut, once each). A step opens behind the payment that took the last place before it; if none did, with the followed block.

export interface Place {
  blockNumber: number
  txIndex: number
  innerIndex: number
}
/** A tier, its places, and the tier that must be sold out before it opens. */
export interface Tier {
  tierId: string
  supply: number | null
  sold: number
  after: string | null
  /** It is open already. */
  opened: Place | null
}

const opens = ({ tierId, after, opened }: Tier, of: Tier): boolean =>
  opened === null && after === of.tierId && after !== tierId
const isSoldOut = ({ supply, sold }: Tier): boolean => supply !== null && sold >= supply

/** The steps that a run opens because the tier before them sold out by no payment. */
export function openedBy(tiers: Tier[], followed: number): Map<string, Place> {
  const places = new Map<string, Place>()
  for (const step of tiers)
    for (const before of tiers)
      if (opens(step, before) && isSoldOut(before))
        places.set(step.tierId, { blockNumber: followed, txIndex: -1, innerIndex: 0 })
  return places
}

/** What is reported once more places of a tier are taken than before. */
export function toldOf({ supply, sold }: Tier, before: number): ('tierNearlySold' | 'tierSoldOut')[] {
  if (supply === null) return []
  const isNear = (places: number) => 10 * places >= 9 * supply
  const near = isNear(sold) && !isNear(before) ? (['tierNearlySold'] as const) : []
  return [...near, ...(sold >= supply ? (['tierSoldOut'] as const) : [])]
}
