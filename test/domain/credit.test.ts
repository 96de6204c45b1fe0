// The pay of a turn: terms of its own time, a seed that no one can choose, a draw without bias, and the contents of a round.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  CREDITS_PER_ROUND_MAX,
  type CreditTerms,
  creditMaxWei,
  type DueCohort,
  firstHalf,
  type PayableCohort,
  planRound,
  type RoundPlan,
  seedOf,
  shareTurns,
  TURNS_PER_ROUND_MAX,
  type Turn,
  termsAt,
  turnAmountWei,
} from '../../src/domain/credit.ts'
import { type Hash, hash, UINT256_MAX, wei, ZERO_HASH } from '../../src/domain/units.ts'
import { headers, randomness } from '../chain/prove/published.ts'
import '../support/property.ts'

const terms = (fromTime: number): CreditTerms => ({
  fromTime,
  payouts: true,
  minWei: wei(1n),
  maxWei: wei(2n),
  intervalSec: 100,
  slotSec: 10,
})

test('the latest terms that began by a time count, in any order of reading', () => {
  const all = [terms(200), terms(100), terms(300)]
  const cases: [number, number | null][] = [
    [99, null],
    [100, 100],
    [199, 100],
    [200, 200],
    [9999, 300],
  ]
  for (const [time, expected] of cases) assert.equal(termsAt(all, time)?.fromTime ?? null, expected)
  const twice = [terms(100), { ...terms(100), slotSec: 20 }]
  assert.equal(termsAt(twice, 100), twice[0], 'of two entries for one time the first holds')
})

test('a published block’s seed is its mixHash if the chain has randomness there, else its hash', () => {
  const published = [...headers(), ...randomness()].filter(({ block }) => block.mixHash !== undefined)
  const random = published.filter(({ block: { hash, mixHash } }) => {
    const prevrandao = mixHash as Hash
    return seedOf({ hash: hash as Hash, prevrandao }, { prevrandao: ZERO_HASH }) === prevrandao
  })
  const of = (list: typeof published) => [...new Set(list.map(({ chain, fork }) => `${chain}, ${fork}`))].sort()
  assert.deepEqual(of(random), [
    ...['Ethereum Classic, before London', 'Ethereum test chain, Amsterdam'],
    ...['Ethereum, Cancun', 'Ethereum, London', 'Ethereum, Shanghai', 'Gnosis, London, proof of stake'],
    ...['OP Mainnet, Isthmus', 'Taiko, Shanghai'],
  ])
  const others = of(published.filter((one) => !random.includes(one)))
  for (const chain of ['Arbitrum One', 'Avalanche C', 'BSC', 'Polygon'])
    assert.ok(
      others.some((name) => name.startsWith(chain)),
      `${chain} is among them`,
    )
})

test('prevrandao is the seed if its words are at least 2^32 and it differs from the parent’s', () => {
  const block = hash(`0x${'aa'.repeat(32)}`)
  const LEAST = '0000000100000000'
  const seedBy = (...words: string[]) => seedOf({ hash: block, prevrandao: hash(`0x${words.join('')}`) }, null)
  assert.equal(seedBy(LEAST, LEAST, LEAST, LEAST), `0x${LEAST.repeat(4)}`)
  for (let at = 0; at < 4; at++)
    for (const small of ['00000000ffffffff', '0000000000000000'])
      assert.equal(seedBy(...[0, 1, 2, 3].map((place) => (place === at ? small : 'f'.repeat(16)))), block, `word ${at}`)
})

test('the seed is prevrandao, or the block’s hash if prevrandao is constant', () => {
  const block = hash(`0x${'aa'.repeat(32)}`)
  const random = hash(`0x${'bb'.repeat(32)}`)
  assert.equal(seedOf({ hash: block, prevrandao: random }, { prevrandao: ZERO_HASH }), random)
  assert.equal(seedOf({ hash: block, prevrandao: random }, null), random)
  assert.equal(seedOf({ hash: block, prevrandao: ZERO_HASH }, { prevrandao: random }), block)
  assert.equal(seedOf({ hash: block, prevrandao: random }, { prevrandao: random }), block)
})

test('both ends of the range are drawn, and each value as often as any other', () => {
  const counts = new Map<bigint, number>()
  for (let digest = 0n; digest < 400n; digest++) {
    const amount = turnAmountWei(digest, { minWei: 5n, maxWei: 8n }, 10_000)
    counts.set(amount, (counts.get(amount) ?? 0) + 1)
  }
  assert.deepEqual(
    [...counts],
    [5n, 6n, 7n, 8n].map((amount) => [amount, 100]),
  )
})

test('the draw of any digest is within its range with edges, and the payout is rounded down', () => {
  const uint = fc.bigInt({ min: 0n, max: UINT256_MAX })
  const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })
  fc.assert(
    fc.property(uint, amount, amount, fc.integer({ min: 0, max: 1_000_000 }), (digest, a, b, bps) => {
      const range = { minWei: a < b ? a : b, maxWei: a < b ? b : a }
      const base = turnAmountWei(digest, range, 10_000)
      assert.ok(base >= range.minWei && base <= range.maxWei)
      const paid = turnAmountWei(digest, range, bps)
      const exact = base * BigInt(bps)
      assert.ok(paid * 10_000n <= exact && (paid + 1n) * 10_000n > exact)
    }),
  )
})

test('a range of one value pays that value; a payout of zero pays nothing', () => {
  assert.equal(turnAmountWei(UINT256_MAX, { minWei: 7n, maxWei: 7n }, 10_000), 7n)
  assert.equal(turnAmountWei(3n, { minWei: 7n, maxWei: 9n }, 0), 0n)
  assert.equal(turnAmountWei(0n, { minWei: 9_999n, maxWei: 9_999n }, 1), 0n)
})

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

test('the highest credit of a turn fits 80 bits for a hundred years of turns', () => {
  const day = creditMaxWei(86_400, 10_000)
  const turns = (100n * 31_557_600n) / 86_400n + 1n
  assert.equal(turns, 36_526n)
  assert.ok(day * turns <= 2n ** 80n - 1n && (day + 1n) * turns > 2n ** 80n - 1n)
  assert.equal(creditMaxWei(86_400, 20_000), day / 2n)
  assert.equal(creditMaxWei(86_400, 0), creditMaxWei(86_400, 1), 'a tier that is paid nothing sets no bound')
  assert.equal(creditMaxWei(Number(100n * 31_557_600n), 10_000), (2n ** 80n - 1n) / 2n)
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
