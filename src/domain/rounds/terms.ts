// Decides which credit terms may be entered, and from when. The same rules apply to the environment's terms for a new ledger and to an operator's
// act.
import { turnRange } from '../budget.ts'
import { BPS_BASE, larger, smaller } from '../units.ts'
import type { TurnBounds } from './round-plan.ts'
import { type CreditTerms, creditMaxWei } from './turn-amounts.ts'

/** Terms without the time from which they are in force. */
export type TermsContent = Omit<CreditTerms, 'fromTime'>

/**
 * An entry takes effect at least this many seconds after the latest known block time. By then every instance has the entry, and every pending round
 * is planned.
 */
const TERMS_AHEAD_SEC = 300
/** The largest number of cohorts for a tier. Cohort numbers have 16 bits. With 255 per tier, a schedule can change many times before they run out. */
export const COHORTS_PER_TIER_MAX = 255

/** The facts against which we check entries. */
export interface TermsLimits {
  /** The shortest interval that the contract allows. */
  leastIntervalSec: number
  /** The rates of all tiers, in basis points. */
  payoutBps: readonly number[]
  /** True if the operator explicitly asked for a turn that pays nothing. */
  zeroAllowed: boolean
}

/** What is wrong with a field. `text` continues a sentence that begins with its name. */
interface Objection {
  field: Exclude<keyof TermsContent, 'payouts'>
  text: string
}

/** Why terms cannot be entered: all objections, with the field names in `nameOf`. */
export function refuseTerms(
  { minWei, maxWei, intervalSec, slotSec }: TermsContent,
  { leastIntervalSec, payoutBps, zeroAllowed }: TermsLimits,
  nameOf = (field: string) => field,
): Objection[] {
  const highest = Math.max(Number(BPS_BASE), ...payoutBps)
  const mostWei = creditMaxWei(intervalSec, highest)
  const divides = intervalSec % slotSec === 0
  const rules: [isBroken: boolean, field: Objection['field'], text: string][] = [
    [minWei > maxWei, 'maxWei', `is ${maxWei}, less than ${nameOf('minWei')}, ${minWei}`],
    [
      minWei === 0n && !zeroAllowed,
      'minWei',
      `is 0, so turns could pay nothing and still be used up: use ${nameOf('zero')} if you mean that`,
    ],
    [
      intervalSec < leastIntervalSec,
      'intervalSec',
      `is ${intervalSec}, and the contract opens no cohort below ${leastIntervalSec}`,
    ],
    [!divides, 'slotSec', `is ${slotSec}, which does not divide ${nameOf('intervalSec')}, ${intervalSec}`],
    [
      divides && intervalSec / slotSec > COHORTS_PER_TIER_MAX,
      'slotSec',
      `is ${slotSec}: ${intervalSec / slotSec} cohorts for each tier, but at most ${COHORTS_PER_TIER_MAX} are allowed. With ${nameOf('intervalSec')} ${intervalSec}, set it to ${Math.ceil(intervalSec / COHORTS_PER_TIER_MAX)} or more`,
    ],
    [
      maxWei > mostWei,
      'maxWei',
      `is ${maxWei}: at ${highest} basis points, a node's total could outgrow the contract's 80 bits within 100 years. With ${nameOf('intervalSec')} ${intervalSec}, ${mostWei} is the most`,
    ],
  ]
  return rules.flatMap(([isBroken, field, text]) => (isBroken ? [{ field, text }] : []))
}

/** Bounds of the distributor, as the contract's owner sets them. */
export interface BoundsGwei {
  floorGwei: bigint
  ceilingGwei: bigint
}

const GWEI = 10n ** 9n

/** The floor for a new factory: half of the smallest turn at the lowest rate, so that later terms can pay less. */
export const floorFor = (minWei: bigint, lowestBps: bigint): bigint => (minWei * lowestBps) / BPS_BASE / 2n / GWEI

/** The bounds that allow a range at every rate, no narrower than the current bounds; null if the current bounds allow it. */
export function boundsNeeded(
  { minWei, maxWei }: Pick<CreditTerms, 'minWei' | 'maxWei'>,
  payoutBps: readonly number[],
  { floorWei, ceilingWei }: TurnBounds,
): BoundsGwei | null {
  if (payoutBps.length === 0) return null
  const { lowWei, highWei } = turnRange({ minWei, maxWei }, payoutBps)
  if (lowWei >= floorWei && highWei <= ceilingWei) return null
  return { floorGwei: smaller(lowWei, floorWei) / GWEI, ceilingGwei: (larger(highWei, ceilingWei) + GWEI - 1n) / GWEI }
}

/** The earliest time at which an entry may take effect: later than any provider's latest block, and later than the previous entry. */
export function earliestFrom(terms: readonly CreditTerms[], latestBlockTime: number): number {
  const before = terms.at(-1)
  return Math.max(latestBlockTime + TERMS_AHEAD_SEC, before ? before.fromTime + 1 : 0)
}

/** True if two entries are equal. */
export function sameTerms(a: TermsContent, b: TermsContent): boolean {
  return (
    a.payouts === b.payouts &&
    a.minWei === b.minWei &&
    a.maxWei === b.maxWei &&
    a.intervalSec === b.intervalSec &&
    a.slotSec === b.slotSec
  )
}
