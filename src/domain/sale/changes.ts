// Changes of tiers that are entered ahead. The one reading of what holds: from stored versions and planned changes to each version that will be in
// force, and to the planned changes that do not fit. Entry, preview, follower and pages use it. Pure.
import { byEffect, latestOf, refuseTierVersion, type TierVersion } from '../tiers.ts'

/** The terms of a tier. `graceSec` belongs to a change, not to the tier: a planned change keeps the grace period of its entry. */
export type TierTerms = Omit<TierVersion, 'version' | 'opened' | 'fromBlock' | 'fromTime'> & {
  holdingSymbol: string | null
  holdingDecimals: number | null
}

/** A change is entered or cancelled at least this long before its time, seconds, so that no instance or provider has reached it. */
export const PLAN_AHEAD_SEC = 120

/** True if it is too late to enter or cancel a change of this time. */
export const isTooLate = (fromTime: number, headTime: number, clockTime: number): boolean =>
  fromTime < Math.max(headTime, clockTime) + PLAN_AHEAD_SEC

/** A term that a change may name. */
export type TermName = Exclude<keyof TierTerms, 'tierId' | 'tierNo' | 'graceSec'>

/** A stored version: it is in force from block `fromBlock` on, and its changes count from `fromTime`. */
export type StoredVersion = TierVersion &
  TierTerms & {
    /** ISO 8601, to the millisecond. */
    enteredAt: string
  }

/**
 * A change that is planned: `names` lists the terms that it changes; the others of its terms do not count. `version` counts the entries of its tier.
 * `opened`: where the step of its own `opensAfter` has opened.
 */
export type PlannedChange<Row extends StoredVersion = StoredVersion> = Omit<Row, 'fromBlock'> & {
  fromBlock: null
  names: readonly TermName[]
}

/** Why a planned change does not fit. The first that applies, in this order. */
export type Unfit =
  /** There is no version of the tier that the change could follow. */
  | { kind: 'noTier' }
  /** `closesAt` is not later than `opensAt`. */
  | { kind: 'closing' }
  /** It needs a holding, and names no token. */
  | { kind: 'holding' }
  /** It opens after a tier (`otherId`) that does not exist or has no supply, or after itself, directly or through other steps. */
  | { kind: 'ladder'; otherId: string }
  /** Step `otherId` opens after this tier, which would have no supply. */
  | { kind: 'awaited'; otherId: string }
  /** Step `otherId` is on sale and has opened after this tier, so its supply cannot be raised. */
  | { kind: 'raised'; otherId: string }
  /** Tier `otherId` is on sale at that price. */
  | { kind: 'priceTaken'; otherId: string }
  /** That price still buys tier `otherId` until a block time. */
  | { kind: 'priceInGrace'; otherId: string; untilTime: number }

/** A version, with or without a first block. */
type Known<Row extends StoredVersion = StoredVersion> = Row | (Omit<Row, 'fromBlock'> & { fromBlock: null })

/** A version that will be in force, with all the terms that a planned change resolves to. `before`: the version that it follows. */
export interface ResolvedChange<Row extends StoredVersion = StoredVersion> {
  before: Known<Row>
  version: Omit<Row, 'fromBlock'> & { fromBlock: null }
}

/** What will hold. Both lists are by time, then by entry. */
export interface Changes<Row extends StoredVersion = StoredVersion> {
  fit: ResolvedChange<Row>[]
  unfit: { plan: PlannedChange<Row>; why: Unfit }[]
}

/**
 * Reads what will hold. Each planned change is resolved in the order of (time, entry), over the version of its tier that is in force then, and checked
 * against all tiers as the versions before it in that order leave them. A change that does not fit changes nothing for the later ones.
 */
export function readChanges<Row extends StoredVersion>(
  versions: readonly Row[],
  plans: readonly PlannedChange<Row>[],
): Changes<Row> {
  const read: Changes<Row> = { fit: [], unfit: [] }
  const versionsSoFar: Known<Row>[] = [...versions]
  for (const plan of plans.toSorted(byEffectOfAll)) {
    // What was stored for a later time, while this change was due and not followed yet, does not count.
    const earlier = versionsSoFar.filter((version) => byEffectOfAll(version, plan) < 0)
    const before = latestOf(earlier.filter(({ tierId }) => tierId === plan.tierId))
    const version = before && resolve(before, plan)
    const why: Unfit | null = version ? refuseVersion(earlier, version) : { kind: 'noTier' }
    if (why || !version) read.unfit.push({ plan, why: why ?? { kind: 'noTier' } })
    else {
      versionsSoFar.push(version)
      read.fit.push({ before, version })
    }
  }
  return read
}

type Timed = Pick<StoredVersion, 'tierNo' | 'version' | 'fromTime' | 'enteredAt'>

/** The order in which changes of all tiers take effect. */
const byEffectOfAll = (a: Timed, b: Timed): number =>
  a.fromTime - b.fromTime ||
  (a.tierNo === b.tierNo ? a.version - b.version : a.enteredAt.localeCompare(b.enteredAt) || a.tierNo - b.tierNo)

/** The version that a planned change becomes. */
function resolve<Row extends StoredVersion>(
  before: Known<Row>,
  plan: PlannedChange<Row>,
): ResolvedChange<Row>['version'] {
  const changes = Object.fromEntries(plan.names.map((name) => [name, plan[name]]))
  const opened = plan.names.includes('opensAfter') ? plan.opened : before.opened
  return { ...plan, ...mergeTerms(termsOf(before), changes), graceSec: plan.graceSec, opened }
}

/** The terms of a version, without what belongs to its entry. */
export function termsOf(version: TierTerms): TierTerms {
  const { tierId, tierNo, label, priceWei, maxPerWallet, payoutBps, onSale, graceSec, holdingRetrySec } = version
  const { holdingWei, holdingToken, holdingSymbol, holdingDecimals } = version
  const { supply, opensAt, closesAt, opensAfter, allowlist } = version
  return {
    tierId,
    tierNo,
    label,
    priceWei,
    maxPerWallet,
    payoutBps,
    onSale,
    graceSec,
    holdingRetrySec,
    holdingWei,
    holdingToken,
    holdingSymbol,
    holdingDecimals,
    supply,
    opensAt,
    closesAt,
    opensAfter,
    allowlist,
  }
}

/** Terms after a change. Symbol and decimals describe one token: kept for another, they would mislead the buyers who must hold it. */
export function mergeTerms(before: TierTerms, changes: Partial<TierTerms>): TierTerms {
  const isOtherToken = changes.holdingToken != null && changes.holdingToken !== before.holdingToken
  const terms = { ...before, ...(isOtherToken && { holdingSymbol: null, holdingDecimals: null }), ...changes }
  const open = { holdingToken: null, holdingSymbol: null, holdingDecimals: null }
  return terms.holdingWei === 0n ? { ...terms, ...open } : terms
}

/** The next version of a tier, as far as the rules of the sale go. */
type Next = TierTerms & Pick<TierVersion, 'fromTime'>

/** Checks a version against all versions that took effect before it. Null if there is no objection. */
export function refuseVersion(earlier: readonly Known[], next: Next): Unfit | null {
  if (next.opensAt !== null && next.closesAt !== null && next.closesAt <= next.opensAt) return { kind: 'closing' }
  if (next.holdingWei > 0n && next.holdingToken === null) return { kind: 'holding' }
  return refuseLadder(earlier, next) ?? refuseTierVersion(earlier, next, next.fromTime)
}

/** A step must wait for a tier that can sell out. Once open, a step never closes again, not even if an earlier tier gets more places. */
function refuseLadder(earlier: readonly Known[], { tierId, opensAfter, supply }: Next): Unfit | null {
  const inForce = new Map(earlier.toSorted(byEffect).map((version) => [version.tierId, version]))
  const before = inForce.get(tierId)
  if (opensAfter !== null) {
    const precursor = opensAfter === tierId ? undefined : inForce.get(opensAfter)
    if (!precursor || precursor.supply === null) return { kind: 'ladder', otherId: opensAfter }
    let step: Known | undefined = precursor
    for (let rungs = inForce.size; step && rungs > 0; rungs--) {
      if (step.tierId === tierId) return { kind: 'ladder', otherId: opensAfter }
      step = inForce.get(step.opensAfter ?? '')
    }
  }
  const steps = [...inForce.values()].filter((step) => step.opensAfter === tierId && step.tierId !== tierId)
  const [waiting] = supply === null ? steps : []
  if (waiting) return { kind: 'awaited', otherId: waiting.tierId }
  const open = steps.find(({ onSale, opened }) => onSale && opened !== null)
  return open && (supply ?? 0) > (before?.supply ?? 0) ? { kind: 'raised', otherId: open.tierId } : null
}
