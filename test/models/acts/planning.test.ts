// Planning a round: src/domain/rounds/round-plan.ts and the second reading agree over random due cohorts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  type DueCohort,
  firstHalf,
  planRound,
  type RoundPlan,
  shareTurns,
  type TurnBounds,
} from '../../../src/domain/rounds/round-plan.ts'
import { cases } from '../../support/property.ts'
import * as model from './planning.ts'

/** Amounts at the edges of the bounds below, alone and in sums of two. */
const amount = fc.constantFrom(null, 0n, 4n, 5n, 6n, 9n, 10n, 11n, 15n, 20n)
const bounds = fc.constantFrom(
  null,
  { floor: 5n, ceiling: 10n },
  { floor: 0n, ceiling: 10n },
  { floor: 6n, ceiling: 6n },
)
const fates = fc.constantFrom(
  { skipped: 0, pays: true, endsDelayed: false },
  { skipped: 0, pays: true, endsDelayed: true },
  { skipped: 0, pays: false, endsDelayed: true },
  { skipped: 1, pays: true, endsDelayed: false },
  { skipped: 3, pays: true, endsDelayed: true },
  { skipped: 1, pays: false, endsDelayed: false },
  { skipped: 2, pays: false, endsDelayed: true },
)
const anyCohort = fc
  .record({
    fate: fates,
    size: fc.constantFrom(1, 2, 3),
    unpaidNodes: fc.constantFrom(0, 0, 0, 0, 1),
    amounts: fc.array(amount, { minLength: 1, maxLength: 4 }),
    someoneWaits: fc.boolean(),
    firstDue: fc.constantFrom(999, 1_000, 1_000, 1_001, 1_060),
  })
  .map(({ fate: { skipped, pays, endsDelayed }, amounts, ...rest }) => ({
    ...rest,
    skipped,
    amounts: pays ? amounts : [],
    endsDelayed,
  }))
const anyDue = fc
  .tuple(fc.array(anyCohort, { maxLength: 5 }), fc.shuffledSubarray([1, 2, 3, 4, 5], { minLength: 5, maxLength: 5 }))
  .map(([cohorts, numbers]): model.Cohort[] => cohorts.map((one, i) => ({ cohort: numbers[i] ?? 0, ...one })))

const toCode = (one: model.Cohort): DueCohort =>
  ({
    ...{ cohort: one.cohort, size: one.size, unbackedNodes: one.unpaidNodes, pendingDue: one.firstDue },
    ...{ skipped: one.skipped, isSkipNeeded: one.someoneWaits, isDelayed: one.endsDelayed && one.amounts.length === 0 },
    turns: one.amounts.map((amountWei, i) => ({ due: one.firstDue + model.INTERVAL * (one.skipped + i), amountWei })),
  }) as unknown as DueCohort
const boundsOf = (one: model.Bounds | null): TurnBounds | null =>
  one === null ? null : { floorWei: one.floor, ceilingWei: one.ceiling }
const entriesOf = (plan: RoundPlan): model.Entry[] =>
  plan.credits.map((one) => ({
    ...{ cohort: one.cohort, firstDue: one.pendingDue, skipped: one.skipped, paid: one.turns.length },
    perNode: one.amountWei as bigint,
  }))
const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b)
/** What a plan costs, and how many nodes it credits. */
function costOf(due: model.Cohort[], entries: model.Entry[]): { wei: bigint; nodes: number } {
  let [wei, nodes] = [0n, 0]
  for (const { cohort, paid, perNode } of entries) {
    const size = due.find((one) => one.cohort === cohort)?.size ?? 0
    wei += perNode * BigInt(size)
    if (paid > 0) nodes += size
  }
  return { wei, nodes }
}

test('a round pays each cohort all that it is owed, known and allowed, the oldest first', () => {
  const compare = (due: model.Cohort[], limits: model.Bounds | null) => {
    const plan = planRound(due.map(toCode), boundsOf(limits))
    const entries = model.planned(due, limits)
    assert.deepEqual(entriesOf(plan), entries)
    const cost = costOf(due, entries)
    assert.deepEqual([plan.totalWei, plan.nodeCount], [cost.wei, cost.nodes])
    const waiting = (kind: string) =>
      sorted(due.filter((one) => model.partOf(one, limits).kind === kind).map((one) => one.cohort))
    assert.deepEqual(sorted(plan.unbacked), waiting('unpaid'))
    assert.deepEqual(sorted(plan.unknown), waiting('unknown'))
    assert.deepEqual(sorted(plan.outOfBounds), waiting('outOfBounds'))
    assert.deepEqual(sorted(plan.delayed), waiting('delayed'))
    assert.deepEqual(sorted(plan.notOwed), waiting('notOwed'))
  }
  fc.assert(fc.property(anyDue, bounds, compare), { numRuns: cases(5_000) })
})

test('the turns of a round are the oldest of all, and no more than it may pay', () => {
  const cohort = fc.record({
    interval: fc.constantFrom(1, 60, 60, 61, 120),
    first: fc.constantFrom(999, 1_000, 1_000, 1_001, 1_060, 5_000, 100_000),
    payable: fc.constantFrom(1, 2, 3, 10, 666, 999, 1_000, 1_001, 1_999, 2_000, 2_001),
  })
  const compare = (some: { interval: number; first: number; payable: number }[]) => {
    const cohorts = some.map((one, i) => ({ cohort: i + 1, ...one }))
    const code = shareTurns(cohorts.map((one) => ({ ...one, intervalSec: one.interval, firstPayable: one.first })))
    const dues: number[] = []
    for (const { cohort, interval, first, payable } of cohorts) {
      const turns = code.get(cohort) ?? 0
      assert.ok(turns <= payable, `${turns} of ${payable}`)
      for (let i = 0; i < turns; i++) dues.push(first + i * interval)
    }
    assert.deepEqual(sorted(dues), model.duesShared(cohorts))
  }
  fc.assert(fc.property(fc.array(cohort, { maxLength: 4 }), compare), { numRuns: cases(150) })
  const few = fc.record({
    interval: fc.constantFrom(1, 60),
    first: fc.nat(2_000),
    payable: fc.constantFrom(1, 9, 10, 11),
  })
  const many = fc.constantFrom(199, 200, 201, 202).chain((n) => fc.array(few, { minLength: n, maxLength: n }))
  fc.assert(fc.property(many, compare), { numRuns: cases(15) })
})

test('a round has at most 200 cohorts, those that are longest due', () => {
  const due = fc.constantFrom(199, 200, 201, 203).chain((n) => fc.array(anyCohort, { minLength: n, maxLength: n }))
  const compare = (some: Omit<model.Cohort, 'cohort'>[], limits: model.Bounds | null) => {
    const cohorts = some.map((one, i) => ({ cohort: i + 1, ...one, amounts: [7n], unpaidNodes: 0 }))
    assert.deepEqual(entriesOf(planRound(cohorts.map(toCode), boundsOf(limits))), model.planned(cohorts, limits))
  }
  fc.assert(fc.property(due, fc.constant({ floor: 5n, ceiling: 10n }), compare), { numRuns: cases(20) })
})

/** Halves a plan until it costs no more than `wei`. */
function halved(plan: RoundPlan, limits: TurnBounds | null, wei: bigint): RoundPlan | null {
  let part: RoundPlan | null = plan
  while (part !== null && part.totalWei > wei) part = firstHalf(part, limits)
  return part
}

test('half a plan is its older half, or fewer turns of its only cohort', () => {
  const compare = (due: model.Cohort[], limits: model.Bounds | null) => {
    const plan = planRound(due.map(toCode), boundsOf(limits))
    const [whole, half] = [entriesOf(plan), firstHalf(plan, boundsOf(limits))]
    if (whole.length === 0) return
    if (whole.length > 1) {
      const length = half?.credits.length ?? 0
      assert.ok(Math.abs(2 * length - whole.length) <= 1 && length > 0, `${length} of ${whole.length}`)
      assert.deepEqual(half && entriesOf(half), whole.slice(0, length))
      return
    }
    const [only] = whole as [model.Entry]
    const amounts = due.find((one) => one.cohort === only.cohort)?.amounts.slice(0, only.paid) as bigint[]
    const counts = model.fewer(amounts, limits)
    if (counts.length === 0) return assert.equal(half, null)
    const [part] = half === null ? [] : entriesOf(half)
    assert.ok(part !== undefined && counts.includes(part.paid), `${part?.paid} of ${only.paid}`)
    // No other number that the contract takes is nearer to the half.
    const away = (count: number) => Math.abs(2 * count - only.paid)
    for (const count of counts)
      assert.ok(away(part.paid) <= away(count) + 1, `${part.paid} of ${only.paid}, not ${count}`)
    const perNode = amounts.slice(0, part.paid).reduce((a, b) => a + b, 0n)
    assert.deepEqual(part, { ...only, paid: part.paid, perNode })
  }
  fc.assert(fc.property(anyDue, bounds, compare), { numRuns: cases(4_000) })
})

test('halving ends with what the account can pay, if it can pay the oldest turn', () => {
  const compare = (due: model.Cohort[], limits: model.Bounds | null, short: bigint) => {
    const plan = planRound(due.map(toCode), boundsOf(limits))
    const [oldest] = model.planned(due, limits)
    if (oldest === undefined) return
    const has = plan.totalWei > short ? plan.totalWei - short : 0n
    const part = halved(plan, boundsOf(limits), has)
    const { size, amounts } = due.find((one) => one.cohort === oldest.cohort) as model.Cohort
    const known = amounts.slice(0, oldest.paid) as bigint[]
    const [fewest = oldest.paid] = model.fewer(known, limits)
    const least = known.slice(0, fewest).reduce((a, b) => a + b, 0n) * BigInt(size)
    assert.equal(part !== null, least <= has)
    if (part !== null) assert.equal(part.credits[0]?.cohort, oldest.cohort)
  }
  const short = fc.constantFrom(0n, 1n, 2n, 5n, 10n, 20n, 40n, 80n)
  fc.assert(fc.property(anyDue, bounds, short, compare), { numRuns: cases(3_000) })
})
