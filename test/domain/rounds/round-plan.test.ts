// The plan of a round: which due turns one transaction pays, and which cohorts wait.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  CREDITS_PER_ROUND_MAX,
  type DueCohort,
  firstHalf,
  type PayableCohort,
  planRound,
  type RoundPlan,
  shareTurns,
  TURNS_PER_ROUND_MAX,
} from '../../../src/domain/rounds/round-plan.ts'
import type { Turn } from '../../../src/domain/rounds/turn-amounts.ts'
import { wei } from '../../../src/domain/units.ts'
import '../../support/property.ts'

type Fields = Partial<Omit<DueCohort, 'turns'> & Turn>

/** A cohort with one payable turn. */
const cohortDue = (
  cohort: number,
  { due = 1000 + cohort, amountWei = wei(10n), ...fields }: Fields = {},
): DueCohort => ({
  cohort,
  size: 2,
  unbackedNodes: 0,
  pendingDue: due,
  skipped: 0,
  isSkipNeeded: false,
  isDelayed: false,
  turns: [{ due, amountWei }],
  ...fields,
})
/** The plan for a cohort with one payable turn. */
const credited = (cohort: number, due: number, amount: bigint) => ({
  cohort,
  pendingDue: due,
  skipped: 0,
  turns: [{ due, amountWei: wei(amount) }],
  amountWei: wei(amount),
})
const numbersOf = (plan: RoundPlan) => plan.credits.map(({ cohort }) => cohort)

test('a round has all due turns, oldest first, with its exact total', () => {
  const due = [cohortDue(3), cohortDue(1, { size: 5 }), cohortDue(2, { due: 1001, amountWei: wei(0n) })]
  assert.deepEqual(planRound(due, null), {
    credits: [
      { ...credited(1, 1001, 10n), nodeCount: 5 },
      { ...credited(2, 1001, 0n), nodeCount: 2 },
      { ...credited(3, 1003, 10n), nodeCount: 2 },
    ],
    totalWei: 70n,
    nodeCount: 9,
    notOwed: [],
    delayed: [],
    unbacked: [],
    unknown: [],
    outOfBounds: [],
  })
})

test('several turns of a cohort are one credit of their sum, up to the first unknown one', () => {
  const turns = [5n, 7n, null, 9n].map((wanted, i) => ({
    due: 1000 + i,
    amountWei: wanted === null ? null : wei(wanted),
  }))
  const plan = planRound([{ ...cohortDue(1, { due: 1000 }), turns }], null)
  assert.deepEqual(plan.credits, [
    { cohort: 1, pendingDue: 1000, skipped: 0, turns: turns.slice(0, 2), amountWei: 12n, nodeCount: 2 },
  ])
  assert.equal(plan.totalWei, 24n)
})

test('a cohort with an unpaid node and one that cannot be computed wait alone', () => {
  const plan = planRound([cohortDue(1, { unbackedNodes: 1 }), cohortDue(2, { amountWei: null }), cohortDue(3)], null)
  assert.deepEqual(
    [numbersOf(plan), plan.unbacked, plan.unknown, plan.totalWei, plan.nodeCount],
    [[3], [1], [2], 20n, 2],
  )
})

test('a cohort whose turns sum to less or more than the distributor may pay waits alone', () => {
  const bounds = { floorWei: 5n, ceilingWei: 10n }
  const amounts = [4n, 5n, 10n, 11n]
  const ofOne = planRound(
    amounts.map((wanted, i) => cohortDue(i + 1, { amountWei: wei(wanted) })),
    bounds,
  )
  assert.deepEqual([numbersOf(ofOne), ofOne.outOfBounds, ofOne.totalWei], [[2, 3], [1, 4], 30n])
  // The bounds are one turn's, times the number of turns; a single one may lie outside.
  const pairs = [
    [4n, 6n],
    [4n, 5n],
    [11n, 9n],
    [11n, 10n],
  ].map((pair, i) => ({
    ...cohortDue(i + 1),
    turns: pair.map((wanted, at) => ({ due: 1000 + at, amountWei: wei(wanted) })),
  }))
  const ofTwo = planRound(pairs, bounds)
  assert.deepEqual(
    [numbersOf(ofTwo), ofTwo.outOfBounds],
    [
      [1, 3],
      [2, 4],
    ],
  )
})

test('a round is at most its maximum, with the oldest turns, and others go into the next', () => {
  const due = Array.from({ length: CREDITS_PER_ROUND_MAX + 5 }, (_, i) => cohortDue(i, { due: 5000 - i }))
  const plan = planRound(due, null)
  assert.equal(plan.credits.length, CREDITS_PER_ROUND_MAX)
  assert.equal(plan.totalWei, 20n * BigInt(CREDITS_PER_ROUND_MAX))
  assert.ok(plan.credits.every(({ turns }) => (turns[0]?.due ?? 0) <= 5000 - 5))
})

test('planning drops no due cohort: it is paid, waits for the operator, or has an unknown amount', () => {
  const anyTurn = fc.record({
    cohort: fc.integer({ min: 0, max: 65_535 }),
    due: fc.integer({ min: 0, max: 50 }),
    size: fc.integer({ min: 1, max: 1_000 }),
    isDelayed: fc.boolean(),
    unbackedNodes: fc.integer({ min: 0, max: 1 }),
    amountWei: fc.option(fc.bigInt({ min: 0n, max: 10n ** 18n }).map(wei)),
  })
  fc.assert(
    fc.property(fc.uniqueArray(anyTurn, { selector: (t) => t.cohort, maxLength: 40, size: 'max' }), (drawn) => {
      const due = drawn.map(({ cohort, ...fields }) => cohortDue(cohort, fields))
      const before = structuredClone(due)
      const plan = planRound(due, { floorWei: 10n ** 16n, ceilingWei: 10n ** 17n })
      assert.deepEqual(structuredClone(due), before)
      const placed = [
        ...numbersOf(plan),
        ...plan.notOwed,
        ...plan.delayed,
        ...plan.unbacked,
        ...plan.unknown,
        ...plan.outOfBounds,
      ]
      assert.deepEqual(placed.toSorted(), due.map((t) => t.cohort).toSorted())
      assert.equal(
        plan.totalWei,
        plan.credits.reduce((sum, t) => sum + t.amountWei * BigInt(t.nodeCount), 0n),
      )
    }),
  )
})

test('turns due at one time are paid in the order of their cohorts, however they were read', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray([1, 2, 3, 4, 5, 6], { minLength: 6 }), (order) => {
      const due = order.map((cohort) => cohortDue(cohort, { due: 1000 }))
      assert.deepEqual(numbersOf(planRound(due, null)), [1, 2, 3, 4, 5, 6])
    }),
  )
})

test('a plan halves down to one cohort, oldest first, with its own credits’ sums', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: CREDITS_PER_ROUND_MAX }), (count) => {
      const due = Array.from({ length: count }, (_, i) => cohortDue(i, { size: i + 1, amountWei: wei(BigInt(i * i)) }))
      const plan = planRound(due, null)
      const half = firstHalf(plan, null)
      if (count < 2) return assert.equal(half, null)
      const credits = plan.credits.slice(0, Math.ceil(count / 2))
      assert.deepEqual(half, {
        ...plan,
        credits,
        totalWei: credits.reduce((sum, t) => sum + t.amountWei * BigInt(t.nodeCount), 0n),
        nodeCount: credits.reduce((sum, t) => sum + t.nodeCount, 0),
      })
    }),
  )
})

test('the only cohort of a plan is halved by its turns, down to one', () => {
  const turns = [1n, 2n, 4n].map((amount, i) => ({ due: 1000 + i, amountWei: wei(amount) }))
  const plan = planRound([{ ...cohortDue(1, { due: 1000, skipped: 3 }), turns }], null)
  const half = firstHalf(plan, null) ?? assert.fail()
  assert.deepEqual([half.credits[0]?.turns.length, half.credits[0]?.skipped, half.totalWei], [2, 3, 6n])
  const quarter = firstHalf(half, null) ?? assert.fail()
  assert.deepEqual([quarter.credits[0]?.turns.length, quarter.totalWei, quarter.nodeCount], [1, 2n, 2])
  assert.equal(firstHalf(quarter, null), null)
})

test('a cohort without owed turns is skipped alone if a node waits for it, and credits nothing', () => {
  const skip = { ...cohortDue(1, { skipped: 5 }), turns: [] }
  assert.deepEqual(planRound([skip], null).credits, [])
  const plan = planRound([{ ...skip, isSkipNeeded: true }, cohortDue(2)], { floorWei: 1n, ceilingWei: 10n })
  assert.deepEqual(
    plan.credits.map(({ cohort, skipped, turns }) => [cohort, skipped, turns.length]),
    [
      [1, 5, 0],
      [2, 0, 1],
    ],
  )
  assert.deepEqual([plan.totalWei, plan.nodeCount, plan.outOfBounds, plan.unknown], [20n, 2, [], []])
})

test('a cohort is paid the turns before the first with which their sum leaves the bounds', () => {
  const turns = [6n, 8n, 40n, 1n].map((amount, i) => ({ due: 1000 + i, amountWei: wei(amount) }))
  const plan = planRound([{ ...cohortDue(1), turns }], { floorWei: 5n, ceilingWei: 10n })
  assert.deepEqual([plan.credits[0]?.turns.length, plan.totalWei, plan.outOfBounds], [2, 28n, []])
})

test('a part of a cohort’s turns is as near to half of them as the bounds allow', () => {
  const partsOf = (amounts: bigint[]) => {
    const turns = amounts.map((amount, i) => ({ due: 1000 + i, amountWei: wei(amount) }))
    const bounds = { floorWei: 5n, ceilingWei: 10n }
    const lengths: number[] = []
    let plan: RoundPlan | null = planRound([{ ...cohortDue(1), turns }], bounds)
    for (; plan; plan = firstHalf(plan, bounds)) lengths.push(plan.credits[0]?.turns.length ?? 0)
    return lengths
  }
  assert.deepEqual(partsOf([6n, 6n, 6n, 6n, 6n]), [5, 3, 2, 1])
  assert.deepEqual(partsOf([1n, 1n, 9n, 9n, 9n]), [5, 4])
  assert.deepEqual(partsOf([9n, 1n, 1n, 9n, 9n, 9n]), [6, 2, 1])
  assert.deepEqual(partsOf([1n, 9n]), [2])
})

test('a round holds two thousand turns at most, shared from the oldest on', () => {
  const payable = (cohort: number, firstPayable: number, count: number, intervalSec = 100): PayableCohort => ({
    cohort,
    firstPayable,
    intervalSec,
    payable: count,
  })
  assert.deepEqual(
    [...shareTurns([payable(1, 500, 5_000), payable(2, 1_000, 3)])],
    [
      [1, 1_997],
      [2, 3],
    ],
  )
  assert.deepEqual([...shareTurns([payable(7, 1_000, 5_000, 1), payable(8, 2_999, 9)])], [[7, 2_000]])
  assert.deepEqual([...shareTurns([])], [])
  const many = Array.from({ length: CREDITS_PER_ROUND_MAX + 9 }, (_, i) => payable(i + 1, 1_000 + i, 400))
  const shares = shareTurns(many)
  const sum = [...shares.values()].reduce((turns, of) => turns + of, 0)
  assert.deepEqual([shares.size, sum], [CREDITS_PER_ROUND_MAX, TURNS_PER_ROUND_MAX])
})
