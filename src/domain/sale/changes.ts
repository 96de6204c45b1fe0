// Changes of tiers that are entered ahead. The one reading of what holds: from stored versions and planned changes to each version that will be in
// force, and to the planned changes that do not fit. Entry, preview, follower and pages use it. Pure.
import type { TierVersion } from '../tiers.ts'

/** The terms of a tier. `graceSec` belongs to a change, not to the tier: a planned change keeps the grace period of its entry. */
export type TierTerms = Omit<TierVersion, 'version' | 'opened' | 'fromBlock' | 'fromTime'> & {
  holdingSymbol: string | null
  holdingDecimals: number | null
}

/** A term that a change may name. */
export type TermName = Exclude<keyof TierTerms, 'tierId' | 'tierNo' | 'graceSec'>

/** A stored version: it is in force from block `fromBlock` on, and its changes count from `fromTime`. */
export type StoredVersion = TierVersion & TierTerms

/**
 * A change that is planned: `names` lists the terms that it changes; the others of its terms do not count. `version` counts entries, so of two changes
 * of a tier the one with the higher number was entered later. `opened`: where the step of its own `opensAfter` has opened.
 */
export type PlannedChange = Omit<StoredVersion, 'fromBlock'> & { fromBlock: null; names: readonly TermName[] }

/** Why a planned change does not fit. The first that applies, in this order. */
export type Unfit =
  /** There is no version of the tier that the change could follow. */
  | { kind: 'noTier' }
  /** `closesAt` is not later than `opensAt`. */
  | { kind: 'closing' }
  /** It needs a holding, and names no token. */
  | { kind: 'holding' }
  /** It opens after a tier (`by`) that does not exist or has no supply, or after itself, directly or through other steps. */
  | { kind: 'ladder'; by: string }
  /** Step `by` opens after this tier, which would have no supply. */
  | { kind: 'awaited'; by: string }
  /** Step `by` is on sale and has opened after this tier, so its supply cannot be raised. */
  | { kind: 'raised'; by: string }
  /** Tier `by` is on sale at that price. */
  | { kind: 'priceTaken'; by: string }
  /** That price still buys tier `by` until a block time. */
  | { kind: 'priceInGrace'; by: string; untilTime: number }

/** What holds, and what will. */
export interface Changes {
  /** The stored versions, and the planned changes that fit, with all the terms they resolve to: by time, then by entry. */
  versions: (StoredVersion | Omit<PlannedChange, 'names'>)[]
  /** The planned changes that do not fit, in the same order. */
  unfit: { plan: PlannedChange; why: Unfit }[]
}

/**
 * Reads what holds, with all planned changes up to a block time. Each planned change is resolved in the order of (time, entry), over what is in force
 * then, and checked against the versions before it in that order, of all tiers. A change that does not fit changes nothing for the later ones.
 */
export type ReadChanges = (
  versions: readonly StoredVersion[],
  plans: readonly PlannedChange[],
  untilTime?: number,
) => Changes
