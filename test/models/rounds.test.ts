// What turns pay and which cohort a node joins: src/domain/{credit,turns,schedule,payouts,tiers}.ts and the second reading agree over random schedules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { turnDigest } from '../../src/chain/digest.ts'
import { firstBlocksOfTurns, pendingTurns } from '../../src/domain/rounds/due-turns.ts'
import { turnFate } from '../../src/domain/rounds/payouts.ts'
import {
  CREDITS_PER_ROUND_MAX,
  type DueCohort,
  type PayableCohort,
  planRound,
  shareTurns,
} from '../../src/domain/rounds/round-plan.ts'
import { boundsNeeded } from '../../src/domain/rounds/terms.ts'
import { type CreditTerms, seedOf, termsAt, turnAmountWei } from '../../src/domain/rounds/turn-amounts.ts'
import { chooseCohort, chooseSharedCohort, firstTurnDue } from '../../src/domain/schedule.ts'
import { payoutBpsAt, type TierVersion } from '../../src/domain/tiers.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'
import * as plans from './plans.ts'
import * as model from './rounds.ts'

const hex = (words: bigint[]): Hash =>
  `0x${words.map((one) => one.toString(16).padStart(16, '0')).join('')}` as unknown as Hash

/** Words at the edge of what counts as randomness. */
const edgeWord = fc.constantFrom(0n, 1n, 2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 64n - 1n)
const fullWord = fc.bigInt(2n ** 60n, 2n ** 64n - 1n)
const randao = fc
  .tuple(fc.array(fullWord, { minLength: 4, maxLength: 4 }), fc.nat(7), edgeWord)
  .map(([words, i, edge]) => hex(words.map((word, at) => (at === i ? edge : word))))

/** Up to four beginnings, in order; two may be at one time. */
const beginnings = fc.array(fc.constantFrom(0, 1, 59, 60, 61, 120), { minLength: 1, maxLength: 4 }).map((gaps) => {
  let time = 1_000
  return gaps.map((gap) => {
    time += gap
    return time
  })
})

const anyTerms = fc
  .tuple(beginnings, fc.array(fc.tuple(fc.boolean(), fc.nat(3), fc.nat(3)), { minLength: 4, maxLength: 4 }))
  .map(([times, terms]): CreditTerms[] =>
    [...new Set(times)].map((fromTime, i) => {
      const [payouts, least, more] = terms[i] ?? [true, 0, 0]
      const [minWei, maxWei] = [10n ** 15n * BigInt(least), 10n ** 15n * BigInt(least) + BigInt(more)]
      return { fromTime, payouts, minWei, maxWei, intervalSec: 60, slotSec: 20 } as unknown as CreditTerms
    }),
  )
/** The times around each beginning. */
const around = (times: number[]) => [...new Set(times.flatMap((time) => [time - 1, time, time + 1]))]

test('terms and rates are those of the time at which a turn is due', () => {
  const compare = (terms: CreditTerms[], starts: number[]) => {
    // Of two entries for one time the first holds. Versions are read in any order, beside those of another tier.
    const entries = [...terms.toReversed(), ...terms.map((one) => ({ ...one, slotSec: 30 }))]
    const rates = starts.map((fromTime, i) => ({ fromTime, payoutBps: 10_000 + i }))
    const ofTier = (tierNo: number) =>
      rates.map((one, i) => ({ ...one, payoutBps: one.payoutBps + 100 * tierNo, tierNo, version: i + 1 }))
    const versions = [...ofTier(0), ...ofTier(1)].toReversed() as unknown as TierVersion[]
    for (const time of around([...terms.map((one) => one.fromTime), ...starts])) {
      assert.equal(termsAt(entries, time) ?? undefined, model.termsAt(entries, time))
      const rate = model.rateAt(rates, time)
      for (const tierNo of [0, 1])
        assert.equal(payoutBpsAt(versions, tierNo, time), rate === undefined ? null : rate + 100 * tierNo)
    }
    assert.equal(payoutBpsAt(versions, 2, 10_000), null)
  }
  fc.assert(fc.property(anyTerms, beginnings, compare), { numRuns: cases(1_000) })
})

test('a seed is prevrandao if that is random, else the block’s hash', () => {
  const compare = (own: Hash, other: Hash | 'same' | 'none', hash: Hash) => {
    const parent = other === 'none' ? null : { prevrandao: other === 'same' ? own : other }
    const chain = [
      ...(parent === null ? [] : [{ number: 6, hash: own, time: 99, prevrandao: parent.prevrandao }]),
      { number: 7, hash, time: 100, prevrandao: own },
    ]
    assert.equal(seedOf({ hash, prevrandao: own }, parent), model.seedOf(chain, 100))
  }
  const other = fc.oneof(randao, fc.constantFrom('same' as const, 'none' as const))
  fc.assert(fc.property(randao, other, randao, compare), { numRuns: cases(3_000) })
})

test('a turn pays its draw at its rate, rounded down, and several turns the sum of each', () => {
  const compare = (seed: Hash, cohort: number, terms: CreditTerms[], payoutBps: number, count: number) => {
    const dues = Array.from({ length: count }, (_, i) => 1_000 + 60 * i)
    const chain = [{ number: 1, hash: seed, time: 2_000, prevrandao: seed }]
    const sum = model.sumOf(cohort, dues, { chain, terms, rates: [{ fromTime: 0, payoutBps }] })
    const used = seedOf({ hash: seed, prevrandao: seed }, null)
    const each = dues.map((due) => {
      const at = termsAt(terms, due)
      return at === null ? null : turnAmountWei(turnDigest(used, cohort, due), at, payoutBps)
    })
    const known = each.filter((one) => one !== null)
    assert.equal(known.length < each.length ? undefined : known.reduce((a, b) => a + b, 0n), sum)
  }
  const rate = fc.constantFrom(0, 1, 9_999, 10_000, 10_001, 15_000, 1_000_000)
  const numbers = fc.constantFrom(1, 2, 255, 256, 65_535)
  fc.assert(fc.property(randao, numbers, anyTerms, rate, fc.integer({ min: 1, max: 4 }), compare), {
    numRuns: cases(800),
  })
})

const anyWindows = fc
  .array(fc.tuple(fc.constantFrom(0, 1, 60, 119), fc.constantFrom(1, 59, 60, 61, 180)), { maxLength: 3 })
  .map((spans) => {
    let end = 990
    return spans.map(([gap, length], i) => {
      const from = end + gap
      end = from + length
      return { window: i + 1, from, until: end }
    })
  })

test('terms and windows decide which turns an entry skips, pays and delays', () => {
  const compare = (terms: CreditTerms[], windows: { window: number; from: number; until: number }[], at: number[]) => {
    const [start = 0, behind = 0] = at
    const [nextDue, upTo] = [985 + start, 985 + start + behind]
    for (const due of around([...terms.map((one) => one.fromTime), ...windows.flatMap((one) => [one.from, one.until])]))
      assert.equal(turnFate(terms, windows, due), model.fateOf(terms, windows, due), `due ${due}`)
    const code = pendingTurns({ nextDue, intervalSec: 60 }, { terms, windows }, upTo)
    assert.deepEqual(code, model.entryOf({ nextDue, interval: 60 }, { terms, windows }, upTo))
  }
  const at = fc.tuple(fc.nat(130), fc.constantFrom(-1, 0, 1, 59, 60, 61, 119, 120, 300, 600))
  fc.assert(fc.property(anyTerms, anyWindows, at, compare), { numRuns: cases(4_000) })
})

test('the seed of a turn lies in the first block that is not before it', () => {
  const compare = (gaps: number[], cohorts: { nextDue: number; intervalSec: number }[]) => {
    let time = 1_000
    const times = gaps.map((gap) => {
      time += gap
      return time
    })
    const chain = [1_000, ...times].map((at, number) => ({ number, time: at, hash: hex([1n]), prevrandao: hex([1n]) }))
    const expected = new Set<number>()
    for (const { nextDue, intervalSec } of cohorts) {
      for (let due = nextDue; due <= time; due += intervalSec) {
        const found = model.seedBlock(chain, due)
        // The block before the range has been looked at.
        if (found !== undefined && found.number > 0) expected.add(found.number - 1)
      }
    }
    assert.deepEqual(
      firstBlocksOfTurns(times, 1_000, cohorts),
      [...expected].sort((a, b) => a - b),
    )
  }
  const gap = fc.constantFrom(0, 1, 2, 12, 60, 61, 200)
  const cohort = fc.record({ nextDue: fc.integer({ min: 940, max: 1_200 }), intervalSec: fc.constantFrom(1, 12, 60) })
  fc.assert(fc.property(fc.array(gap, { maxLength: 8 }), fc.array(cohort, { maxLength: 3 }), compare), {
    numRuns: cases(1_500),
  })
})

const cohortAround = fc.record({
  shift: fc.constantFrom(-121, -120, -100, -80, -60, -21, -20, -1, 0, 1, 39, 40, 41, 59, 60, 61, 100),
  size: fc.constantFrom(0, 1, 7),
  tierNo: fc.constantFrom(1, 1, 1, 2),
  interval: fc.constantFrom(60, 60, 60, 120),
})
type CohortAround = typeof cohortAround extends fc.Arbitrary<infer One> ? One : never
const cohortsAt = (dues: CohortAround[], now: number) =>
  dues.map(({ shift, size, tierNo, interval }, i) => ({
    ...{ cohort: i + 1, tierNo, size, intervalSec: interval, nextDue: now + shift },
  }))
const anyTime = fc.integer({ min: 200, max: 260 })

test('a node joins the cohort whose next turn is between interval - slot and interval ahead', () => {
  const schedule = { interval: 60, slot: 20 }
  const compare = (dues: CohortAround[], now: number) => {
    const cohorts = cohortsAt(dues, now)
    const code = chooseCohort(cohorts, 1, { intervalSec: 60, slotSec: 20 }, now)
    const fits = cohorts.filter(
      (one) =>
        one.tierNo === 1 && model.mayJoin({ nextDue: one.nextDue, interval: one.intervalSec }, one.size, schedule, now),
    )
    assert.equal(code?.cohort, fits[0]?.cohort)
    const first = firstTurnDue({ intervalSec: 60, slotSec: 20 }, now)
    assert.equal(first, model.firstTurn(schedule, now))
  }
  fc.assert(fc.property(fc.array(cohortAround, { maxLength: 5 }), anyTime, compare), { numRuns: cases(3_000) })
})

test('while no turn is paid, a node joins the cohort whose turn is the latest within an interval', () => {
  const compare = (dues: CohortAround[], now: number) => {
    const cohorts = cohortsAt(dues, now)
    const ofTier = cohorts.filter(({ tierNo }) => tierNo === 1).map((one) => ({ ...one, interval: one.intervalSec }))
    const code = chooseSharedCohort(cohorts, 1, { intervalSec: 60, slotSec: 20 }, now)
    assert.equal(code?.cohort, model.sharedCohort(ofTier, 60, now)?.cohort)
  }
  fc.assert(fc.property(fc.array(cohortAround, { maxLength: 5 }), anyTime, compare), { numRuns: cases(3_000) })
})

test('the owner’s bounds widen to whole gwei around the range at every rate, if it is outside', () => {
  const near = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.constantFrom(-1n, 0n, 1n, 500_000_000n))
  const gwei = near.map(([whole, more]) => (whole === 0 && more < 0n ? 0n : BigInt(whole) * 1_000_000_000n + more))
  const compare = (amounts: bigint[], rates: number[]) => {
    const [minWei = 0n, maxWei = 0n] = amounts.slice(0, 2).sort((a, b) => Number(a - b))
    const [floorWei = 0n, ceilingWei = 0n] = amounts.slice(2).sort((a, b) => Number(a - b))
    const [range, bounds] = [
      { minWei: wei(minWei), maxWei: wei(maxWei) },
      { floorWei: wei(floorWei), ceilingWei: wei(ceilingWei) },
    ]
    const code = boundsNeeded(range, rates, bounds)
    const expected = model.boundsFor(range, rates, bounds)
    assert.deepEqual(code, expected)
  }
  const rates = fc.array(fc.constantFrom(1, 5_000, 9_999, 10_000, 10_001, 30_000), { maxLength: 3 })
  fc.assert(fc.property(fc.array(gwei, { minLength: 4, maxLength: 4 }), rates, compare), { numRuns: cases(2_000) })
})

test('turns are shared by time, then by the cohort with the older first turn, then by number', () => {
  const counts = fc.constantFrom(0, 1, 2, 700, 1_000, 1_001, 2_500)
  const anyCohort = fc.record({
    firstPayable: fc.integer({ min: 0, max: 3 }),
    intervalSec: fc.constantFrom(1, 2),
    payable: counts,
  })
  const compare = (drawn: Omit<PayableCohort, 'cohort'>[]) => {
    const cohorts = drawn.map((one, i) => ({ ...one, cohort: (7 * (i + 1)) % 11 }))
    assert.deepEqual(Object.fromEntries(shareTurns(cohorts)), plans.shares(cohorts))
  }
  fc.assert(fc.property(fc.array(anyCohort, { maxLength: 4 }), compare), { numRuns: cases(100) })
})

test('if there are too many cohorts, those with the oldest turns share a round, then by number', () => {
  const many = Array.from({ length: 2 * CREDITS_PER_ROUND_MAX }, (_, i) => ({
    ...{ cohort: i, firstPayable: 1_000 + Math.floor(i / 8), intervalSec: 100, payable: 1 },
  }))
  const oldest = many.slice(0, CREDITS_PER_ROUND_MAX).map(({ cohort }) => [cohort, 1])
  assert.deepEqual([...shareTurns(many.toReversed())], oldest)
})

test('each cohort waits for its own reason, or gets the most turns that bounds and round allow', () => {
  const amount = fc.constantFrom(4n, 5n, 10n, 11n, null)
  const anyDue = fc.record({
    turns: fc.tuple(
      fc.constantFrom(0, 1, 2, 3, 3, 999, 1_000, 1_001, 2_000, 2_001),
      fc.array(amount, { minLength: 1, maxLength: 3 }),
    ),
    begins: fc.tuple(fc.nat(3), fc.nat(3)),
    isSkipNeeded: fc.boolean(),
    isDelayed: fc.constantFrom(false, false, false, true),
    unbackedNodes: fc.constantFrom(0, 0, 0, 1),
  })
  const compare = (drawn: (typeof anyDue extends fc.Arbitrary<infer One> ? One : never)[], isBound: boolean) => {
    const due = drawn.map(({ turns: [count, amounts], begins: [pendingDue, skipped], ...fields }, i): DueCohort => {
      const amountOf = (at: number) => amounts[Math.min(at, amounts.length - 1)] ?? null
      const turns = Array.from({ length: count }, (_, at) => {
        const wanted = at < 900 ? amountOf(at) : (amounts[0] ?? null)
        return { due: pendingDue + skipped + at, amountWei: wanted === null ? null : wei(wanted) }
      })
      return { cohort: (7 * (i + 1)) % 11, size: 2, pendingDue, skipped, turns, ...fields }
    })
    const bounds = isBound ? { floorWei: 5n, ceilingWei: 10n } : null
    const { credits, totalWei, nodeCount, ...waiting } = planRound(due, bounds)
    const found: Record<number, string> = Object.fromEntries(due.map(({ cohort }) => [cohort, 'later']))
    for (const { cohort, turns } of credits) found[cohort] = `${turns.length} turns`
    for (const [why, cohorts] of Object.entries(waiting)) for (const cohort of cohorts) found[cohort] = why
    assert.deepEqual(found, plans.fatesOf(due, bounds))
  }
  fc.assert(fc.property(fc.array(anyDue, { maxLength: 5 }), fc.boolean(), compare), { numRuns: cases(500) })
})
