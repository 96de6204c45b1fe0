// What a round pays of what is due: src/domain/credit.ts and the second reading agree over random cohorts, in small rounds and in full ones.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  CREDITS_PER_ROUND_MAX,
  type DueCohort,
  type PayableCohort,
  planRound,
  shareTurns,
} from '../../src/domain/credit.ts'
import { wei } from '../../src/domain/units.ts'
import { cases } from '../support/property.ts'
import * as model from './plans.ts'

test('turns are shared by their time, those of one time by the cohort whose first is older, then by its number', () => {
  const counts = fc.constantFrom(0, 1, 2, 700, 1_000, 1_001, 2_500)
  const anyCohort = fc.record({
    firstPayable: fc.integer({ min: 0, max: 3 }),
    intervalSec: fc.constantFrom(1, 2),
    payable: counts,
  })
  const compare = (drawn: Omit<PayableCohort, 'cohort'>[]) => {
    const cohorts = drawn.map((one, i) => ({ ...one, cohort: (7 * (i + 1)) % 11 }))
    assert.deepEqual(Object.fromEntries(shareTurns(cohorts)), model.shares(cohorts))
  }
  fc.assert(fc.property(fc.array(anyCohort, { maxLength: 4 }), compare), { numRuns: cases(100) })
})

test('of too many cohorts those with the oldest turns share a round, by their numbers if these are equal', () => {
  const many = Array.from({ length: 2 * CREDITS_PER_ROUND_MAX }, (_, i) => ({
    ...{ cohort: i, firstPayable: 1_000 + Math.floor(i / 8), intervalSec: 100, payable: 1 },
  }))
  const oldest = many.slice(0, CREDITS_PER_ROUND_MAX).map(({ cohort }) => [cohort, 1])
  assert.deepEqual([...shareTurns(many.toReversed())], oldest)
})

test('each cohort waits for its own reason, or is paid the most turns that the bounds and the round have room for', () => {
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
    assert.deepEqual(found, model.fatesOf(due, bounds))
  }
  fc.assert(fc.property(fc.array(anyDue, { maxLength: 5 }), fc.boolean(), compare), { numRuns: cases(500) })
})
