// Which tier, and which version of it, a transfer's exact amount selects. Terms in force at the payment's own block
// decide; a superseded price still buys its tier for a grace, because quotes live in caches.
import type { Address, Wei } from './units.ts'

/** One version of a tier: in force from a block on, until the tier's next version. */
export interface TierVersion {
  tierId: string
  version: number
  /** The tier's number on the contract. */
  tierNo: number
  label: string
  priceWei: Wei
  /** Nodes of this tier one wallet may hold. */
  maxPerWallet: number
  /** Amount of `holdingToken` the buyer must hold; 0 with a null token means open to anyone. */
  holdingWei: Wei
  holdingToken: Address | null
  payoutBps: number
  onSale: boolean
  fromBlock: number
  /** Unix seconds. */
  fromTime: number
}

export type TierSelection =
  | { kind: 'onSale'; tier: TierVersion; byGrace: boolean }
  | { kind: 'offSale'; tier: TierVersion }
  | { kind: 'none' }

/**
 * Selects the tier that `valueWei` pays for at a block. A price in force goes before one in its grace; among prices in force,
 * a tier on sale before one that is not.
 */
export function selectTier(
  versions: readonly TierVersion[],
  payment: { valueWei: bigint; blockNumber: number; blockTime: number },
  graceSec: number,
): TierSelection {
  const tiers = Map.groupBy(versions, (version) => version.tierId)
  let offSale: TierVersion | undefined
  let graced: TierVersion | undefined
  for (const ofTier of tiers.values()) {
    const begun = ofTier.filter((v) => v.fromBlock <= payment.blockNumber).sort((a, b) => a.version - b.version)
    const inForce = begun.at(-1)
    if (!inForce) continue
    if (inForce.priceWei === payment.valueWei) {
      if (inForce.onSale) return { kind: 'onSale', tier: inForce, byGrace: false }
      offSale ??= inForce
    }
    const old = begun.findLast((v, i) => {
      const next = begun[i + 1]
      return next && v.onSale && v.priceWei === payment.valueWei && payment.blockTime - next.fromTime < graceSec
    })
    if (inForce.onSale) graced ??= old
    else offSale ??= old
  }
  if (graced) return { kind: 'onSale', tier: graced, byGrace: true }
  if (offSale) return { kind: 'offSale', tier: offSale }
  return { kind: 'none' }
}

/** The payout of a tier number in force at a time; null when no version had begun. */
export function payoutBpsAt(versions: readonly TierVersion[], tierNo: number, time: number): number | null {
  let best: TierVersion | undefined
  for (const version of versions) {
    if (version.tierNo !== tierNo || version.fromTime > time) continue
    if (!best || version.version > best.version) best = version
  }
  return best?.payoutBps ?? null
}

export type TierRefusal = { kind: 'priceTaken'; by: string } | { kind: 'priceInGrace'; by: string; untilTime: number }

/**
 * Checks a tier's new version against the others: two tiers on sale may not share a price, and a price another tier has just
 * given up stays that tier's for the grace. `now` is the followed head's time. Null: no objection.
 */
export function refuseTierVersion(
  versions: readonly TierVersion[],
  candidate: { tierId: string; priceWei: bigint; onSale: boolean },
  now: number,
  graceSec: number,
): TierRefusal | null {
  if (!candidate.onSale) return null
  for (const ofTier of Map.groupBy(versions, (version) => version.tierId).values()) {
    const sorted = [...ofTier].sort((a, b) => a.version - b.version)
    const live = sorted.at(-1)
    if (!live || live.tierId === candidate.tierId) continue
    if (live.onSale && live.priceWei === candidate.priceWei) return { kind: 'priceTaken', by: live.tierId }
    for (const [i, version] of sorted.entries()) {
      const next = sorted[i + 1]
      if (!next || !version.onSale || version.priceWei !== candidate.priceWei) continue
      const untilTime = next.fromTime + graceSec
      if (untilTime > now) return { kind: 'priceInGrace', by: version.tierId, untilTime }
    }
  }
  return null
}
