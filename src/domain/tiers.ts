// Selects the tier, and its version, by a transfer's exact amount. The version in force at the payment's own block decides. For a grace period, an
// earlier version's price still buys the tier, because caches keep quotes. Also decides whether a node is in the tier that was paid for.
import { byPosition, type PaymentPosition } from './sale/position.ts'
import { type Address, type Hash, smaller, type Wei } from './units.ts'

/** One version of a tier: in force from the first block that is not before its time, until the tier's next version takes effect. */
export interface TierVersion {
  tierId: string
  /** Counts the entries of the tier. */
  version: number
  /** The tier's number on the contract. */
  tierNo: number
  label: string
  priceWei: Wei
  /** How many nodes of this tier one wallet may hold. */
  maxPerWallet: number
  /** Amount of `holdingToken` that the buyer must hold; if it is 0 and the token is null, anyone may buy. */
  holdingWei: Wei
  holdingToken: Address | null
  payoutBps: number
  onSale: boolean
  /** Seconds of block time for which the previous version still buys the tier; 0 if it ended immediately. */
  graceSec: number
  /** Seconds of block time for which we retry an unreadable holding. */
  holdingRetrySec: number
  /** How many nodes of this tier may ever be sold; null for no limit. */
  supply: number | null
  /** The tier sells between these block times (unix seconds); null for no limit. */
  opensAt: number | null
  closesAt: number | null
  /** The tier that must be sold out first; null if there is none. */
  opensAfter: string | null
  /** The place of the payment that took that tier's last place, behind which this one sells; null while it is not sold out. */
  opened: PaymentPosition | null
  /** The root of the list of those who may buy it; null for anyone. */
  allowlist: Hash | null
  /** Until the follower reaches that block, an estimate. */
  fromBlock: number
  /** Unix seconds. */
  fromTime: number
}

type Timed = Pick<TierVersion, 'fromTime' | 'version'>

/** The order in which a tier's versions take effect: by time, and of equal times by entry. A change entered ahead has a lower number than later entries. */
export const byEffect = (a: Timed, b: Timed): number => a.fromTime - b.fromTime || a.version - b.version

/** The form of a tier's id. */
export const TIER_ID_FORM = /^[a-z0-9][a-z0-9-]{0,31}$/

/** Shortest and longest grace period, seconds. Caches may keep a quote for the shortest, and its price must still buy. */
export const GRACE_SEC_MIN = 120
export const GRACE_SEC_MAX = 7 * 86_400
/** The longest time for which we retry a holding, seconds. */
export const HOLDING_RETRY_SEC_MAX = 7 * 86_400

/** The values for the first tier and the first change of the payments wallet. A later version or change inherits the values of the one before it. */
export interface FirstSaleTerms {
  priceGraceSec: number
  holdingRetrySec: number
}

export type TierSelection =
  /**
   * `supply` is the supply of the version in force, or of the latest version if that is lower, because a lower supply applies without a grace period.
   * `others`: versions in their grace period that sell at this price too, the newest first. A wallet that does not meet the terms of `tier` may buy by
   * all terms of one of them.
   */
  | {
      kind: 'onSale'
      tier: TierVersion
      others: readonly TierVersion[]
      byGrace: boolean
      supply: number | null
    }
  | { kind: 'offSale'; tier: TierVersion }
  | { kind: 'notOpenYet'; tier: TierVersion }
  | { kind: 'none' }

/**
 * Selects the tier that `valueWei` buys at a block. A price in force takes precedence over a price in its grace period. Among prices in force, a tier
 * on sale takes precedence over a tier that is not. A version sells from its opening until the end of the grace period after its closing, by block
 * time.
 */
export function selectTier(
  versions: readonly TierVersion[],
  payment: DatedPosition & { valueWei: bigint },
): TierSelection {
  const tiers = Map.groupBy(versions, (version) => version.tierId)
  let notSold: TierSelection = { kind: 'none' }
  let graced: TierSelection | undefined
  for (const ofTier of tiers.values()) {
    const begunVersions = begunBy(ofTier, payment.blockNumber)
    const inForce = begunVersions.at(-1)
    if (!inForce) continue
    const supply = lowerSupply(inForce.supply, supplyNow(ofTier, inForce.tierNo))
    const former = formerAt(begunVersions, payment)
    const own = inForce.priceWei === payment.valueWei ? [inForce] : []
    const alive = [...own, ...former.toReversed()]
    const [tier, ...others] = alive.filter((version) => sells(version, payment))
    if (tier) {
      const byGrace = tier !== inForce || inGrace(inForce, payment.blockTime)
      const sale: TierSelection = { kind: 'onSale', tier, others, byGrace, supply }
      if (tier === inForce) return sale
      graced ??= sale
    }
    for (const version of alive) notSold = strongerRefusal(notSold, refusalOf(version, payment))
  }
  return graced ?? notSold
}

/**
 * The versions that may decide on payments in a block: of each tier the one in force, and those whose grace period was not over when it took force. A
 * version that shortens another's grace period is among them.
 */
export function decidingIn(versions: readonly TierVersion[], blockNumber: number): TierVersion[] {
  return [...Map.groupBy(versions, ({ tierId }) => tierId).values()].flatMap((ofTier) => {
    const begunVersions = begunBy(ofTier, blockNumber)
    const sinceTime = begunVersions.at(-1)?.fromTime ?? 0
    return begunVersions.filter((_, i) => graceEnd(begunVersions.slice(i + 1)) > sinceTime)
  })
}

/** The versions of a tier that took effect up to a block, oldest first. */
const begunBy = (ofTier: readonly TierVersion[], blockNumber: number) =>
  ofTier.filter(({ fromBlock }) => fromBlock <= blockNumber).sort(byEffect)

/** The token of which a buyer's holding is read: the first that a selling version asks for; null if none does. */
export function holdingTokenOf(selection: TierSelection): Address | null {
  if (selection.kind !== 'onSale') return null
  return [selection.tier, ...selection.others].find(({ holdingToken }) => holdingToken !== null)?.holdingToken ?? null
}

const sells = (version: TierVersion, payment: DatedPosition): boolean =>
  version.onSale && isOpen(version, payment) && payment.blockTime < closedFrom(version)

/** Why a version does not sell. */
const refusalOf = (tier: TierVersion, payment: DatedPosition): TierSelection => ({
  kind: tier.onSale && !isOpen(tier, payment) ? 'notOpenYet' : 'offSale',
  tier,
})

/** The refusal that names the payment's tier: one that is to open, else one that was on sale, else the first. */
function strongerRefusal(one: TierSelection, other: TierSelection): TierSelection {
  const rank = (selection: TierSelection) =>
    selection.kind === 'none' ? 0 : selection.kind === 'notOpenYet' ? 3 : selection.tier.onSale ? 2 : 1
  return rank(other) > rank(one) ? other : one
}

/** Where and when a payment is on the chain. */
interface DatedPosition extends PaymentPosition {
  blockTime: number
}

/** The earlier versions of this price in their grace period. `begunVersions`: oldest first. */
const formerAt = (begunVersions: readonly TierVersion[], payment: { blockTime: number; valueWei: bigint }) =>
  gracesOf(begunVersions, payment.valueWei).flatMap(({ version, untilTime }) =>
    untilTime > payment.blockTime ? [version] : [],
  )

const isOpen = (tier: TierVersion, payment: DatedPosition): boolean =>
  payment.blockTime >= (tier.opensAt ?? 0) && isStepOpen(tier, payment)

const isStepOpen = ({ opensAfter, opened }: TierVersion, payment: DatedPosition): boolean =>
  opensAfter === null || (opened !== null && byPosition(opened, payment) < 0)

/** The tier that must be sold out before this one opens, if nothing else prevents the payment from buying; null otherwise. */
export function waitsForStep(selection: TierSelection, { blockTime }: { blockTime: number }): string | null {
  if (selection.kind !== 'notOpenYet') return null
  const { opensAt, opensAfter, opened } = selection.tier
  return opened === null && (opensAt ?? 0) <= blockTime ? opensAfter : null
}

const inGrace = ({ closesAt }: TierVersion, blockTime: number): boolean => closesAt !== null && blockTime >= closesAt

/** The block time at which the grace period after its closing is over. */
export const closedFrom = ({ closesAt, graceSec }: Pick<TierVersion, 'closesAt' | 'graceSec'>): number =>
  closesAt === null ? Number.POSITIVE_INFINITY : closesAt + graceSec

/** The supply that applies to decisions made now, whichever block the payment was in; null for no limit. */
const supplyNow = (versions: readonly TierVersion[], tierNo: number): number | null =>
  latestOf(versions.filter((version) => version.tierNo === tierNo))?.supply ?? null

export const latestOf = <T extends Timed>(ofTier: readonly T[]) => ofTier.toSorted(byEffect).at(-1)

/** True if nine tenths of a supply are sold. We report that early, so that people can still act. */
export const isNearlySold = (sold: number, supply: number): boolean => sold * 10 >= supply * 9

/** The lower of two supplies; null for no limit. */
export const lowerSupply = (a: number | null, b: number | null): number | null =>
  a === null || b === null ? (a ?? b) : Math.min(a, b)

/** The lowest price on sale at a block; null if there is none. Includes prices in their grace period, and prices of tiers that are not open yet. */
export function lowestPriceAt(
  versions: readonly TierVersion[],
  place: { blockNumber: number; blockTime: number },
): bigint | null {
  // A buyer who pays before the opening has paid a price, so the payment is not dust.
  const sales: readonly TierSelection['kind'][] = ['onSale', 'notOpenYet']
  const prices = versions
    .map(({ priceWei }): bigint => priceWei)
    .filter((valueWei) =>
      sales.includes(
        selectTier(versions, { ...place, txIndex: Number.MAX_SAFE_INTEGER, innerIndex: 0, valueWei }).kind,
      ),
    )
  return prices.length === 0 ? null : prices.reduce(smaller)
}

/** The block time at which a version's grace period ends: the earliest end set by a later version. */
const graceEnd = (after: readonly Pick<TierVersion, 'fromTime' | 'graceSec'>[]) =>
  Math.min(...after.map(({ fromTime, graceSec }) => fromTime + graceSec))

/** A tier's earlier versions that were on sale at a price, each with the block time until which that price still buys. `inOrder`: oldest first. */
const gracesOf = <T extends Omit<TierVersion, 'fromBlock'>>(inOrder: readonly T[], priceWei: bigint) =>
  inOrder
    .slice(0, -1)
    .map((version, i) => ({ version, untilTime: graceEnd(inOrder.slice(i + 1)) }))
    .filter(({ version }) => version.onSale && version.priceWei === priceWei)

/** The payout rate of a tier number in force at a time; null before its first version. */
export function payoutBpsAt(
  versions: readonly Omit<TierVersion, 'fromBlock'>[],
  tierNo: number,
  time: number,
): number | null {
  return latestOf(versions.filter((one) => one.tierNo === tierNo && one.fromTime <= time))?.payoutBps ?? null
}

export type TierRefusal =
  | { kind: 'priceTaken'; otherId: string }
  | { kind: 'priceInGrace'; otherId: string; untilTime: number }

/**
 * Checks a tier's new version against the other tiers. Two tiers on sale may not share a price. A price that another tier has just given up remains
 * reserved for that tier during the grace period. `fromTime`: when the new version takes effect. Null if there is no objection.
 */
export function refuseTierVersion(
  versions: readonly Omit<TierVersion, 'fromBlock'>[],
  candidate: { tierId: string; priceWei: bigint; onSale: boolean },
  fromTime: number,
): TierRefusal | null {
  if (!candidate.onSale) return null
  for (const ofTier of Map.groupBy(versions, (version) => version.tierId).values()) {
    const inOrder = ofTier.toSorted(byEffect)
    const live = inOrder.at(-1)
    if (!live || live.tierId === candidate.tierId) continue
    if (live.onSale && live.priceWei === candidate.priceWei) return { kind: 'priceTaken', otherId: live.tierId }
    // Several versions may have had the price. The last of their grace periods counts.
    const untilTime = Math.max(...gracesOf(inOrder, candidate.priceWei).map((grace) => grace.untilTime))
    if (untilTime > fromTime) return { kind: 'priceInGrace', otherId: live.tierId, untilTime }
  }
  return null
}

/** `unknown`: neither a verdict nor the price shows it, so the operator confirms the node. */
export type NodeTier = 'own' | 'other' | 'unknown'

/** A payment and the node that was minted to its payer. Anyone with the minter's key can mint for a payment, in any tier. */
export interface NodeTierFacts {
  /** The node's tier; odd if a thief of the minter's key opened its cohort. */
  tierNo: number
  isOdd: boolean
  /** The tier that a verdict names. A verdict comes before we follow the mint. */
  paidTierNo: number | null
  succeeded: boolean
  innerIndex: number
  /** True if the judge or the operator has decided the payment. */
  isJudged: boolean
  /** True if the payment's value is a price of the node's tier. A superseded price may still have been good. */
  isTierPrice: boolean | null
  /** True if the value is a price that some tier had in the payment's block. */
  isPriceInForce: boolean | null
  /** True if the ledger was lost since, perhaps with a release by hand. */
  beforeRestore: boolean | null
}

/** The first rule that applies decides. */
export function nodeTierOf(facts: NodeTierFacts): NodeTier {
  if (!facts.succeeded || facts.isOdd) return 'other'
  if (facts.paidTierNo !== null) return facts.paidTierNo === facts.tierNo ? 'own' : 'other'
  if (facts.innerIndex > 0) return 'unknown'
  if (facts.isTierPrice) return 'own'
  if (facts.isPriceInForce) return 'other'
  // A payment that was judged without a tier buys nothing.
  return !facts.isJudged || facts.beforeRestore ? 'unknown' : 'other'
}
