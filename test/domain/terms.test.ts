// Which credit terms may be entered, and from when: each limit on its value and on both sides of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CreditTerms, creditMaxWei } from '../../src/domain/credit.ts'
import { boundsNeeded, COHORTS_PER_TIER_MAX, earliestFrom, refuseTerms } from '../../src/domain/terms.ts'
import { wei } from '../../src/domain/units.ts'

const GWEI = 10n ** 9n
const LIMITS = { leastIntervalSec: 3_600, payoutBps: [10_000, 15_000], zeroAllowed: false }
const SOUND = { payouts: true, minWei: wei(10n), maxWei: wei(20n), intervalSec: 86_400, slotSec: 3_600 }
const MOST = creditMaxWei(SOUND.intervalSec, 15_000)

const entries: [string, Partial<CreditTerms>, refusal: RegExp | null][] = [
  ['sound terms', {}, null],
  ['a range of one value', { minWei: wei(20n) }, null],
  ['a range upside down', { minWei: wei(21n) }, /^minWei is 21, more than maxWei/],
  ['the least turn', { minWei: wei(1n) }, null],
  ['a turn of nothing', { minWei: wei(0n) }, /set zero/],
  ['the shortest interval', { intervalSec: 3_600 }, null],
  ['a longer one', { intervalSec: 7_200 }, null],
  ['a shorter one', { intervalSec: 3_599, slotSec: 3_599 }, /opens no cohort below 3600/],
  ['a slot that does not divide', { slotSec: 3_601 }, /does not divide/],
  ['as many cohorts as there may be', { intervalSec: COHORTS_PER_TIER_MAX * 60, slotSec: 60 }, null],
  ['one more', { intervalSec: (COHORTS_PER_TIER_MAX + 1) * 60, slotSec: 60 }, /256 cohorts/],
  ['the largest turn', { maxWei: wei(MOST) }, null],
  ['a wei less', { maxWei: wei(MOST - 1n) }, null],
  ['a wei more', { maxWei: wei(MOST + 1n) }, /outgrow.* is the most/],
]
for (const [what, fields, refusal] of entries)
  test(`entering terms: ${what}`, () => {
    const refused = refuseTerms({ ...SOUND, ...fields }, LIMITS)
    if (refusal === null) assert.equal(refused, null)
    else assert.match(refused ?? '', refusal)
  })

test('the owner widens the bounds only if a turn at some rate is outside them, and never narrows them', () => {
  const range = { minWei: wei(10n * GWEI), maxWei: wei(20n * GWEI) }
  const needed = (floorWei: bigint, ceilingWei: bigint) =>
    boundsNeeded(range, LIMITS.payoutBps, { floorWei: wei(floorWei), ceilingWei: wei(ceilingWei) })
  const [low, high] = [10n * GWEI, 30n * GWEI]
  assert.equal(needed(low, high), null)
  assert.equal(needed(low - 1n, high + 1n), null)
  assert.deepEqual(needed(low + 1n, high), { floorGwei: 10n, ceilingGwei: 30n })
  assert.deepEqual(needed(low, high - 1n), { floorGwei: 10n, ceilingGwei: 30n })
  assert.deepEqual(needed(low + 1n, high + GWEI), { floorGwei: 10n, ceilingGwei: 31n })
  assert.deepEqual(needed(low - GWEI, high - 1n), { floorGwei: 9n, ceilingGwei: 30n })
})

test('an entry holds five minutes after the latest block, and later than the entry before it', () => {
  const from = (fromTime: number) => earliestFrom([{ ...SOUND, fromTime }], 1_000)
  assert.equal(earliestFrom([], 1_000), 1_300)
  assert.deepEqual([from(1_298), from(1_299), from(1_300)], [1_300, 1_300, 1_301])
})
