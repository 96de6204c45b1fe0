// In which version of a tier a payment is released, and which held payments one act may dismiss, as a second reading of docs/ADMIN.md (Payments: release,
// dismiss; Tiers).

export interface Version {
  tierId: string
  version: number
  tierNo: number
  priceWei: bigint
  fromBlock: number
}
export interface Held {
  id: number
  state: string
  reason: string | null
  from: string | null
  valueWei: bigint
  block: number
  /** What the judge found the amount to be the price of. */
  tier: { tierId: string; version: number } | null
  hasForeignNode: boolean
  mayMint: boolean
}
/** What limits a tier now, and how many places are gone. */
export interface Limits {
  supply: number | null
  cap: number | null
  sold: number
}

/** The version in force in the payment's block. If the tier began later, its first. */
function inForce(versions: Version[], tierId: string, block: number): Version | null {
  const ofTier = versions.filter((one) => one.tierId === tierId).toSorted((a, b) => a.version - b.version)
  const begun = ofTier.filter(({ fromBlock }) => fromBlock <= block)
  return begun.at(-1) ?? ofTier[0] ?? null
}

type Released = { tier: { tierId: string; version: number; priceWei: bigint } } | { refused: string }

export function release(held: Held, named: string | null, versions: Version[], limits: Map<number, Limits>): Released {
  if (held.state !== 'held' || held.reason === 'refunding') return { refused: 'conflict' }
  if (held.mayMint) return { refused: 'notYet' }
  if (held.from === null || held.reason === 'walletLimit') return { refused: 'conflict' }
  if (held.reason === 'mintedElsewhere' && held.hasForeignNode) return { refused: 'conflict' }
  const { tier: own } = held
  if (own !== null && named !== null && named !== own.tierId) return { refused: 'conflict' }
  const found =
    own === null
      ? named === null
        ? null
        : inForce(versions, named, held.block)
      : (versions.find((one) => one.tierId === own.tierId && one.version === own.version) ?? null)
  if (found === null) return { refused: 'invalid' }
  const { supply, cap, sold } = limits.get(found.tierNo) ?? { supply: null, cap: null, sold: 0 }
  for (const most of [supply, cap]) if (most !== null && sold >= most) return { refused: 'conflict' }
  return { tier: { tierId: found.tierId, version: found.version, priceWei: found.priceWei } }
}

/** The payments that one act dismisses; null if the amount is more than the lowest price that any version ever had. */
export function dust(held: Held[], belowWei: bigint, versions: Version[]): Held[] | null {
  if (versions.some(({ priceWei }) => belowWei > priceWei)) return null
  const mayGo = ({ state, reason, mayMint }: Held) =>
    state === 'held' && reason !== 'walletLimit' && reason !== 'refunding' && !mayMint
  return held.filter((one) => mayGo(one) && one.valueWei < belowWei)
}
