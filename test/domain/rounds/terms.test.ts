// Which credit terms may be entered, and from when: each limit on its value and on both sides of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  COHORTS_PER_TIER_MAX,
  earliestFrom,
  floorFor,
  refuseTerms,
  sameTerms,
  type TermsContent,
  type TermsLimits,
} from '../../../src/domain/rounds/terms.ts'
import { type CreditTerms, creditMaxWei } from '../../../src/domain/rounds/turn-amounts.ts'
import { wei } from '../../../src/domain/units.ts'

const GWEI = 10n ** 9n
const LIMITS = { leastIntervalSec: 3_600, payoutBps: [10_000, 15_000], zeroAllowed: false }
const SOUND = { payouts: true, minWei: wei(10n), maxWei: wei(20n), intervalSec: 86_400, slotSec: 3_600 }
const MOST = creditMaxWei(SOUND.intervalSec, 15_000)

const OUTGROWN = `maxWei is ${MOST + 1n}: at 15000 basis points, a node's total could outgrow the contract's 80 bits within 100 years. With intervalSec 86400, ${MOST} is the most.`
const entries: [string, Partial<CreditTerms>, refusal: string | null][] = [
  ['sound terms', {}, null],
  ['a range of one value', { minWei: wei(20n) }, null],
  ['a range upside down', { minWei: wei(21n) }, 'maxWei is 20, less than minWei, 21.'],
  ['the least turn', { minWei: wei(1n) }, null],
  [
    'a turn of nothing',
    { minWei: wei(0n) },
    'minWei is 0, so turns could pay nothing and still be used up: use zero if you mean that.',
  ],
  ['the shortest interval', { intervalSec: 3_600 }, null],
  ['a longer one', { intervalSec: 7_200 }, null],
  [
    'a shorter one',
    { intervalSec: 3_599, slotSec: 3_599 },
    'intervalSec is 3599, and the contract opens no cohort below 3600.',
  ],
  ['a slot that does not divide', { slotSec: 3_601 }, 'slotSec is 3601, which does not divide intervalSec, 86400.'],
  ['as many cohorts as there may be', { intervalSec: COHORTS_PER_TIER_MAX * 60, slotSec: 60 }, null],
  [
    'one more',
    { intervalSec: (COHORTS_PER_TIER_MAX + 1) * 60, slotSec: 60 },
    'slotSec is 60: 256 cohorts for each tier, but at most 255 are allowed. With intervalSec 15360, set it to 61 or more.',
  ],
  ['the largest turn', { maxWei: wei(MOST) }, null],
  ['a wei less', { maxWei: wei(MOST - 1n) }, null],
  ['a wei more', { maxWei: wei(MOST + 1n) }, OUTGROWN],
]
/** The objections, each with the name of its field. */
function refused(terms: TermsContent, limits: TermsLimits, nameOf = (field: string) => field): string | null {
  const objections = refuseTerms(terms, limits, nameOf).map(({ field, text }) => `${nameOf(field)} ${text}.`)
  return objections.join(' ') || null
}

for (const [what, fields, refusal] of entries)
  test(`entering terms: ${what}`, () => {
    assert.equal(refused({ ...SOUND, ...fields }, LIMITS), refusal)
    const called = refused({ ...SOUND, ...fields }, LIMITS, (field) => `<${field}>`)
    assert.equal(called, refusal?.replaceAll(/\b(minWei|maxWei|intervalSec|slotSec|zero)\b/g, '<$1>') ?? null)
  })

test('every objection is named', () => {
  const terms = { ...SOUND, minWei: wei(0n), intervalSec: 3_599, slotSec: 7 }
  assert.deepEqual(
    refuseTerms(terms, LIMITS).map(({ field }) => field),
    ['minWei', 'intervalSec', 'slotSec'],
  )
})

test('a turn of nothing needs a confirmation, and the base rate counts if no tier is higher', () => {
  const { intervalSec } = SOUND
  assert.equal(refused({ ...SOUND, minWei: wei(0n) }, { ...LIMITS, zeroAllowed: true }), null)
  const most = creditMaxWei(intervalSec, 10_000)
  for (const payoutBps of [[], [900]]) {
    assert.equal(refused({ ...SOUND, maxWei: wei(most) }, { ...LIMITS, payoutBps }), null)
    assert.match(refused({ ...SOUND, maxWei: wei(most + 1n) }, { ...LIMITS, payoutBps }) ?? '', /at 10000 basis/)
  }
})

test('the floor of a new factory is half of the smallest turn at the lowest rate, in whole gwei', () => {
  assert.equal(floorFor(100n * GWEI, 10_000n), 50n)
  assert.equal(floorFor(100n * GWEI, 5_000n), 25n)
  assert.equal(floorFor(4n * GWEI - 1n, 10_000n), 1n)
  assert.equal(floorFor(GWEI, 10_000n), 0n)
})

test('two entries are equal if each of their fields is', () => {
  const other = { payouts: false, minWei: wei(11n), maxWei: wei(21n), intervalSec: 7_200, slotSec: 60 }
  assert.equal(sameTerms(SOUND, { ...SOUND }), true)
  assert.equal(sameTerms(other, { ...other }), true)
  for (const [field, value] of Object.entries(other))
    assert.equal(sameTerms(SOUND, { ...SOUND, [field]: value }), false, field)
})

test('an entry applies five minutes after the latest block, and later than the entry before it', () => {
  const from = (fromTime: number) => earliestFrom([{ ...SOUND, fromTime }], 1_000)
  assert.equal(earliestFrom([], 1_000), 1_300)
  assert.deepEqual([from(1_298), from(1_299), from(1_300)], [1_300, 1_300, 1_301])
})
