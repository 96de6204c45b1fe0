// How much is credited and when, and how often the passes run. Owns the rules that keep a node's total within what the
// contract can hold, and the passes from falling behind.

import { creditMaxWei } from '../domain/credit.ts'
import { type Wei, wei } from '../domain/units.ts'
import type { CreditConfig, ScheduleConfig } from './shape.ts'
import type { Source } from './source.ts'
import { DAY_SEC, readChoice, readSwitch, readWei, readWhole } from './values.ts'

const YEAR_SEC = 365 * DAY_SEC

/** What the embedded chain shows: a round every minute or so, of amounts that one can see grow. */
const EMBEDDED_CREDIT = { minWei: wei(5n * 10n ** 14n), maxWei: wei(15n * 10n ** 14n), intervalSec: 60, slotSec: 10 }

export function readCredit(source: Source, embedded: boolean, schedule: ScheduleConfig): CreditConfig {
  const minWei = readWei(source, 'CREDIT_MIN_WEI', embedded ? EMBEDDED_CREDIT.minWei : null)
  const maxWei = readWei(source, 'CREDIT_MAX_WEI', embedded ? EMBEDDED_CREDIT.maxWei : null)
  const times = { min: 1, max: YEAR_SEC, why: 'a year' }
  const credit: CreditConfig = {
    enabled: readSwitch(source, 'DIST_ENABLED', embedded),
    mode: readChoice(source, 'DIST_MODE', ['treasury', 'swaps'], 'treasury'),
    range: minWei === null || maxWei === null ? null : { minWei, maxWei },
    intervalSec: readWhole(source, 'CREDIT_INTERVAL_SEC', times, embedded ? EMBEDDED_CREDIT.intervalSec : DAY_SEC),
    slotSec: readWhole(source, 'CREDIT_SLOT_SEC', times, embedded ? EMBEDDED_CREDIT.slotSec : 3600),
  }
  requireRange(source, credit, { CREDIT_MIN_WEI: minWei, CREDIT_MAX_WEI: maxWei })
  checkRange(source, credit)
  checkTurns(source, credit, schedule)
  return credit
}

function requireRange(
  source: Source,
  credit: CreditConfig,
  range: Record<'CREDIT_MIN_WEI' | 'CREDIT_MAX_WEI', Wei | null>,
): void {
  for (const name of ['CREDIT_MIN_WEI', 'CREDIT_MAX_WEI'] as const) {
    if (range[name] !== null || source.isSet(name)) continue
    if (credit.enabled)
      source.refuse(name, 'is required when DIST_ENABLED is true: set it to an amount of wei per node and turn')
    else if (source.isSet('CREDIT_MIN_WEI') || source.isSet('CREDIT_MAX_WEI')) {
      source.refuse(name, 'is missing: set both ends of the range, or neither')
    }
  }
}

/** Tiers are not known yet; a start that finds one with a higher rate refuses it by the same rule. */
const BASE_BPS = 10_000

function checkRange(source: Source, { range, intervalSec }: CreditConfig): void {
  if (range === null || !source.isFine('CREDIT_MIN_WEI', 'CREDIT_MAX_WEI', 'CREDIT_INTERVAL_SEC')) return
  if (range.minWei > range.maxWei) {
    source.refuse(
      'CREDIT_MAX_WEI',
      `is ${range.maxWei}, less than CREDIT_MIN_WEI, ${range.minWei}: set it to that or more`,
    )
    return
  }
  const mostWei = creditMaxWei(intervalSec, BASE_BPS)
  if (range.maxWei > mostWei) {
    source.refuse(
      'CREDIT_MAX_WEI',
      `is ${range.maxWei}: a node's total could outgrow the contract's 80 bits within 100 years. With CREDIT_INTERVAL_SEC=${intervalSec}, ${mostWei} is the most`,
    )
  }
}

/** Cohort numbers have 16 bits: with 255 to a tier, a schedule can change many times before they run out. */
const COHORTS_PER_TIER_MAX = 255

function checkTurns(source: Source, { intervalSec, slotSec }: CreditConfig, { tickSec }: ScheduleConfig): void {
  if (!source.isFine('CREDIT_INTERVAL_SEC', 'CREDIT_SLOT_SEC', 'TICK_SEC')) return
  if (intervalSec % slotSec !== 0) {
    source.refuse('CREDIT_SLOT_SEC', `is ${slotSec}, which does not divide CREDIT_INTERVAL_SEC, ${intervalSec}`)
  } else if (intervalSec / slotSec > COHORTS_PER_TIER_MAX) {
    source.refuse(
      'CREDIT_SLOT_SEC',
      `is ${slotSec}: ${intervalSec / slotSec} cohorts for each tier, ${COHORTS_PER_TIER_MAX} are the most. With CREDIT_INTERVAL_SEC=${intervalSec}, set it to ${Math.ceil(intervalSec / COHORTS_PER_TIER_MAX)} or more`,
    )
  }
  if (intervalSec < tickSec) {
    source.refuse(
      'CREDIT_INTERVAL_SEC',
      `is ${intervalSec}, less than TICK_SEC, ${tickSec}: a pass pays each cohort one turn, so it would fall behind for ever`,
    )
  }
}

export function readSchedule(source: Source, embedded: boolean): ScheduleConfig {
  const tickSec = readWhole(source, 'TICK_SEC', { min: 1, max: DAY_SEC, why: 'a day' }, embedded ? 3 : 60)
  const staleAfterSec = readWhole(source, 'STALE_AFTER_SEC', { min: 1, max: 7 * DAY_SEC, why: 'a week' }, 300)
  if (source.isFine('TICK_SEC', 'STALE_AFTER_SEC') && staleAfterSec <= tickSec) {
    source.refuse(
      'STALE_AFTER_SEC',
      `is ${staleAfterSec}, not more than TICK_SEC, ${tickSec}: every tick would count as late`,
    )
  }
  const fundsWarnTransactions = readWhole(
    source,
    'FUNDS_WARN_TRANSACTIONS',
    { min: 0, max: 100_000, why: '0 never warns' },
    50,
  )
  return { tickSec, staleAfterSec, fundsWarnTransactions, timer: readSwitch(source, 'SCHEDULER', embedded) }
}
