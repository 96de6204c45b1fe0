// Selects the tier, and its version, by a transfer's exact amount. Terms in force at the payment's own block decide. Earlier terms still
// buy their tier for a grace, because quotes live in caches.
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
  /** Amount of `holdingToken` that the buyer must hold; 0 with a null token means open to anyone. */
  holdingWei: Wei
  holdingToken: Address | null
  payoutBps: number
  onSale: boolean
  /** Seconds of block time for which the previous version still buys the tier; 0 if it ended at once. */
  graceSec: number
  /** Seconds of block time for which we retry an unreadable holding. */
  holdingRetrySec: number
  fromBlock: number
  /** Unix seconds. */
  fromTime: number
}

/** The form of a tier's id. */
export const TIER_ID_FORM = /^[a-z0-9][a-z0-9-]{0,31}$/

/** Bounds of a grace, seconds. Caches may keep a quote for the minimum, and its price must still buy. */
export const GRACE_SEC_MIN = 120
export const GRACE_SEC_MAX = 7 * 86_400
/** The longest time for which we retry a holding, seconds. */
export const HOLDING_RETRY_SEC_MAX = 7 * 86_400

/** The values for the first tier and the first change of the payments wallet. Later ones take over those of their predecessor. */
export interface FirstSaleTerms {
  priceGraceSec: number
  holdingRetrySec: number
}

export type TierSelection =
  | { kind: 'onSale'; tier: TierVersion; byGrace: boolean }
  | { kind: 'offSale'; tier: TierVersion }
  | { kind: 'none' }

/**
 * Selects the tier that `valueWei` pays for at a block. A price in force wins over one in its grace; among prices in force, a tier on sale wins over
 * one that is not.
 */
export function selectTier(
  versions: readonly TierVersion[],
  payment: { valueWei: bigint; blockNumber: number; blockTime: number },
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
    graced ??= gracesOf(begun, payment.valueWei).findLast(({ untilTime }) => untilTime > payment.blockTime)?.version
  }
  if (graced) return { kind: 'onSale', tier: graced, byGrace: true }
  if (offSale) return { kind: 'offSale', tier: offSale }
  return { kind: 'none' }
}

/** The lowest price at which a node can be bought at a block, including prices in their grace; null if none is on sale. */
export function lowestPriceAt(
  versions: readonly TierVersion[],
  place: { blockNumber: number; blockTime: number },
): bigint | null {
  const onSale = versions.filter(
    ({ priceWei }) => selectTier(versions, { ...place, valueWei: priceWei }).kind === 'onSale',
  )
  return onSale.reduce<bigint | null>(
    (lowest, { priceWei }) => (lowest === null || priceWei < lowest ? priceWei : lowest),
    null,
  )
}

/** The block time at which a version's grace ends: the earliest end that a later version sets. A grace of 0 is over in every block. */
const graceEnd = (after: readonly TierVersion[]) =>
  Math.min(...after.map(({ fromTime, graceSec }) => (graceSec === 0 ? 0 : fromTime + graceSec)))

/** A tier's former versions that were on sale at a price, each with the block time up to which it is still bought. `sorted`: oldest first. */
const gracesOf = (sorted: readonly TierVersion[], priceWei: bigint) =>
  sorted
    .slice(0, -1)
    .map((version, i) => ({ version, untilTime: graceEnd(sorted.slice(i + 1)) }))
    .filter(({ version }) => version.onSale && version.priceWei === priceWei)

/** The payout of a tier number in force at a time; null before its first version. */
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
 * Checks a tier's new version against the others. Two tiers on sale may not share a price, and a price that another tier has just given up stays that
 * tier's for the grace. `now` is the followed head's time. Null if there is no objection.
 */
export function refuseTierVersion(
  versions: readonly TierVersion[],
  candidate: { tierId: string; priceWei: bigint; onSale: boolean },
  now: number,
): TierRefusal | null {
  if (!candidate.onSale) return null
  for (const ofTier of Map.groupBy(versions, (version) => version.tierId).values()) {
    const sorted = [...ofTier].sort((a, b) => a.version - b.version)
    const live = sorted.at(-1)
    if (!live || live.tierId === candidate.tierId) continue
    if (live.onSale && live.priceWei === candidate.priceWei) return { kind: 'priceTaken', by: live.tierId }
    const graced = gracesOf(sorted, candidate.priceWei).find(({ untilTime }) => untilTime > now)
    if (graced) return { kind: 'priceInGrace', by: live.tierId, untilTime: graced.untilTime }
  }
  return null
}
