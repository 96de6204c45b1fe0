// Reads the environment's credit terms for a ledger without terms, and how often the passes run. A ledger that has terms ignores the
// environment's.
import { creditMaxWei } from '../domain/credit.ts'
import { COHORTS_PER_TIER_MAX, type TermsContent } from '../domain/terms.ts'
import { wei } from '../domain/units.ts'
import type { CreditConfig, ScheduleConfig } from './shape.ts'
import type { Source } from './source.ts'
import { DAY_SEC, readChoice, readSwitch, readWei, readWhole } from './values.ts'

const YEAR_SEC = 365 * DAY_SEC

/** The embedded chain's terms: a round every minute or so, of amounts that visibly grow. */
const EMBEDDED_CREDIT = { minWei: wei(5n * 10n ** 14n), maxWei: wei(15n * 10n ** 14n), intervalSec: 60, slotSec: 10 }

/** The settings that make up the credit terms: all of these, or none. */
const TERMS = ['DIST_ENABLED', 'CREDIT_MIN_WEI', 'CREDIT_MAX_WEI', 'CREDIT_INTERVAL_SEC', 'CREDIT_SLOT_SEC'] as const
const TIMES = { min: 1, max: YEAR_SEC, why: 'a year' }

export function readCredit(source: Source, embedded: boolean): CreditConfig {
  return {
    mode: readChoice(source, 'DIST_MODE', ['treasury', 'swaps'], 'treasury'),
    named: readTerms(source, embedded),
  }
}

/** Reads the terms. On an embedded chain, that chain's own are the defaults. */
function readTerms(source: Source, embedded: boolean): CreditConfig['named'] {
  const missing = TERMS.filter((name) => !source.isSet(name))
  const isNamed = embedded || missing.length === 0
  if (!isNamed && missing.length < TERMS.length)
    for (const name of missing)
      source.refuse(name, `is missing: ${TERMS.join(', ')} name the terms of a new ledger together; set all, or none`)
  const terms = {
    payouts: readSwitch(source, 'DIST_ENABLED', embedded),
    minWei: readWei(source, 'CREDIT_MIN_WEI', EMBEDDED_CREDIT.minWei),
    maxWei: readWei(source, 'CREDIT_MAX_WEI', EMBEDDED_CREDIT.maxWei),
    intervalSec: readWhole(source, 'CREDIT_INTERVAL_SEC', TIMES, EMBEDDED_CREDIT.intervalSec),
    slotSec: readWhole(source, 'CREDIT_SLOT_SEC', TIMES, EMBEDDED_CREDIT.slotSec),
  }
  if (!isNamed) return null
  checkRange(source, terms)
  checkSlots(source, terms)
  return terms
}

/** Tiers are not known yet; a start that finds one with a higher rate refuses it by the same rule. */
const BASE_BPS = 10_000

function checkRange(source: Source, { minWei, maxWei, intervalSec }: TermsContent): void {
  if (!source.isFine('CREDIT_MIN_WEI', 'CREDIT_MAX_WEI', 'CREDIT_INTERVAL_SEC')) return
  if (minWei > maxWei) {
    source.refuse('CREDIT_MAX_WEI', `is ${maxWei}, less than CREDIT_MIN_WEI, ${minWei}: set it to that or more`)
    return
  }
  if (minWei === 0n)
    source.refuse(
      'CREDIT_MIN_WEI',
      'is 0, so that turns may pay nothing and are used up all the same: set it to 1 or more, or enter such terms with "node-ledger terms set --zero"',
    )
  const mostWei = creditMaxWei(intervalSec, BASE_BPS)
  if (maxWei > mostWei) {
    source.refuse(
      'CREDIT_MAX_WEI',
      `is ${maxWei}: a node's total could outgrow the contract's 80 bits within 100 years. With CREDIT_INTERVAL_SEC=${intervalSec}, ${mostWei} is the most`,
    )
  }
}

function checkSlots(source: Source, { intervalSec, slotSec }: TermsContent): void {
  if (!source.isFine('CREDIT_INTERVAL_SEC', 'CREDIT_SLOT_SEC')) return
  if (intervalSec % slotSec !== 0) {
    source.refuse('CREDIT_SLOT_SEC', `is ${slotSec}, which does not divide CREDIT_INTERVAL_SEC, ${intervalSec}`)
  } else if (intervalSec / slotSec > COHORTS_PER_TIER_MAX) {
    source.refuse(
      'CREDIT_SLOT_SEC',
      `is ${slotSec}: ${intervalSec / slotSec} cohorts for each tier, ${COHORTS_PER_TIER_MAX} are the most. With CREDIT_INTERVAL_SEC=${intervalSec}, set it to ${Math.ceil(intervalSec / COHORTS_PER_TIER_MAX)} or more`,
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
