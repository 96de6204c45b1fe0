// The tier that an amount buys: terms at the payment's block, the grace after a change of price, which terms an operator may enter.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { beforeBlock } from '../../src/domain/sale/position.ts'
import {
  isNearlySold,
  lowestPriceAt,
  payoutBpsAt,
  refuseTierVersion,
  selectTier,
  type TierSelection,
  type TierVersion,
  waitsForStep,
} from '../../src/domain/tiers.ts'
import { hash } from '../../src/domain/units.ts'
import '../support/property.ts'
import { GRACE_SEC, version } from './tiers/version.ts'

const at = (blockNumber: number, valueWei: bigint, blockTime = blockNumber * 10, txIndex = 5) => ({
  blockNumber,
  ...{ txIndex, innerIndex: 0 },
  blockTime,
  valueWei,
})
const told = (selection: TierSelection) =>
  selection.kind === 'none'
    ? 'none'
    : `${selection.kind} ${selection.tier.tierId}@${selection.tier.version}${selection.kind === 'onSale' && selection.byGrace ? ' byGrace' : ''}`

const raised = [version(), version({ version: 2, price: 200n, fromBlock: 20, fromTime: 200 })]
const closed = [version(), version({ version: 2, onSale: false, fromBlock: 20, fromTime: 200 })]
const atOnce = [
  version(),
  version({ version: 2, price: 200n, payoutBps: 20_000, fromBlock: 20, fromTime: 200 }),
  version({ version: 3, price: 300n, payoutBps: 30_000, fromBlock: 20, fromTime: 200 }),
]
const thrice = [
  version(),
  version({ version: 2, price: 200n, fromBlock: 20, fromTime: 200 }),
  version({ version: 3, price: 300n, fromBlock: 80, fromTime: 800 }),
]
const selections: [string, TierVersion[], ReturnType<typeof at>, string][] = [
  ['the exact price buys the tier', [version()], at(10, 100n), 'onSale basic@1'],
  ['one wei more buys nothing', [version()], at(10, 101n), 'none'],
  ['one wei less buys nothing', [version()], at(10, 99n), 'none'],
  ['nothing is sold before the first version begins', [version()], at(9, 100n), 'none'],
  ['the block before a change still has the old price', raised, at(19, 100n), 'onSale basic@1'],
  ['the block before a change does not have the new price', raised, at(19, 200n), 'none'],
  ['the block of a change has the new price', raised, at(20, 200n), 'onSale basic@2'],
  ['the old price buys the old terms in its grace', raised, at(20, 100n), 'onSale basic@1 byGrace'],
  ['the last second of the grace counts', raised, at(109, 100n, 200 + GRACE_SEC - 1), 'onSale basic@1 byGrace'],
  ['the grace ends', raised, at(110, 100n, 200 + GRACE_SEC), 'none'],
  ['of two versions that begin in one block the last one is in force', atOnce, at(20, 300n), 'onSale basic@3'],
  ['the one that was in force for no block still has its grace', atOnce, at(20, 200n), 'onSale basic@2 byGrace'],
  ['the one before both has its grace from their block on', atOnce, at(20, 100n), 'onSale basic@1 byGrace'],
  ['the block before a tier is taken off sale sells it', closed, at(19, 100n), 'onSale basic@1'],
  ['a tier taken off sale is sold for a grace', closed, at(109, 100n, 200 + GRACE_SEC - 1), 'onSale basic@1 byGrace'],
  [
    'a tier off sale is identified after the grace, not sold',
    closed,
    at(110, 100n, 200 + GRACE_SEC),
    'offSale basic@2',
  ],
  [
    'an old price of a tier taken off sale has a grace, too',
    [version(), version({ version: 2, price: 200n, onSale: false, fromBlock: 20, fromTime: 200 })],
    at(21, 100n),
    'onSale basic@1 byGrace',
  ],
  [
    'a tier taken off sale immediately is sold in no later block',
    [version(), version({ version: 2, onSale: false, graceSec: 0, fromBlock: 20, fromTime: 200 })],
    at(20, 100n),
    'offSale basic@2',
  ],
  [
    'a price changed immediately also ends the graces that were left',
    [...raised, version({ version: 3, price: 300n, graceSec: 0, fromBlock: 30, fromTime: 300 })],
    at(30, 100n),
    'none',
  ],
  [
    'each change has the grace that it was entered with',
    [version(), version({ version: 2, price: 200n, graceSec: 120, fromBlock: 20, fromTime: 200 })],
    at(32, 100n),
    'none',
  ],
  [
    'a version that was off sale leaves no grace behind',
    [version({ onSale: false }), version({ version: 2, price: 200n, fromBlock: 20, fromTime: 200 })],
    at(21, 100n),
    'none',
  ],
  ['a grace runs from the next version, not from the latest', thrice, at(111, 100n), 'none'],
  ['each price of several changes has its own grace', thrice, at(111, 200n), 'onSale basic@2 byGrace'],
  [
    'a version with the same price is bought at the terms in force, not at the older ones',
    [version(), version({ version: 2, maxPerWallet: 9, fromBlock: 20, fromTime: 200 })],
    at(21, 100n),
    'onSale basic@2',
  ],
  [
    'a price in force goes before another tier that has it in grace',
    [...raised, version({ tierId: 'plus', tierNo: 2, fromBlock: 20, fromTime: 200 })],
    at(21, 100n),
    'onSale plus@1',
  ],
  [
    'a tier on sale goes before one that is not',
    [version({ onSale: false }), version({ tierId: 'plus', tierNo: 2 })],
    at(21, 100n),
    'onSale plus@1',
  ],
]
const timed = [version({ opensAt: 150, closesAt: 300 })]
const closesSooner = [version(), version({ version: 2, closesAt: 210, graceSec: 120, fromBlock: 20, fromTime: 200 })]
const step = (blockNumber: number | null, txIndex = 5) => [
  version({ opensAfter: 'plus', opened: blockNumber === null ? null : { blockNumber, txIndex, innerIndex: 0 } }),
]
const postponed = [version(), version({ version: 2, opensAt: 5_000, fromBlock: 20, fromTime: 200 })]
selections.push(
  ['the second before the opening sells nothing', timed, at(10, 100n, 149), 'notOpenYet basic@1'],
  ['the second of the opening sells', timed, at(10, 100n, 150), 'onSale basic@1'],
  ['the second before the closing sells', timed, at(10, 100n, 299), 'onSale basic@1'],
  ['from the closing on it sells by grace', timed, at(10, 100n, 300), 'onSale basic@1 byGrace'],
  ['the last second of the closing’s grace sells', timed, at(10, 100n, 1_199), 'onSale basic@1 byGrace'],
  ['after it nothing is sold', timed, at(10, 100n, 1_200), 'offSale basic@1'],
  [
    'a closing without a grace is exact',
    [version({ closesAt: 300, graceSec: 0 })],
    at(10, 100n, 300),
    'offSale basic@1',
  ],
  ['an earlier closing has the grace of its version', closesSooner, at(21, 100n, 319), 'onSale basic@2 byGrace'],
  ['after both graces nothing is sold', closesSooner, at(21, 100n, 330), 'offSale basic@2'],
  ['an opening that is put off leaves a grace', postponed, at(21, 100n, 1_099), 'onSale basic@1 byGrace'],
  ['after which it is not open yet', postponed, at(21, 100n, 1_100), 'notOpenYet basic@2'],
  ['a step that no block has opened sells nothing', step(null), at(50, 100n), 'notOpenYet basic@1'],
  ['the block before the one that opens a step sells nothing', step(50), at(49, 100n, 490, 9), 'notOpenYet basic@1'],
  ['a payment before the one that opens a step buys nothing', step(50), at(50, 100n, 500, 4), 'notOpenYet basic@1'],
  ['the payment that opens a step buys nothing of it', step(50), at(50, 100n), 'notOpenYet basic@1'],
  ['the payment behind the one that opens a step buys', step(50), at(50, 100n, 500, 6), 'onSale basic@1'],
  ['a step that no payment opens sells in the whole block', step(50, -1), at(50, 100n, 500, 0), 'onSale basic@1'],
  ['the block after it sells', step(50), at(51, 100n, 510, 0), 'onSale basic@1'],
)
for (const [sentence, versions, payment, expected] of selections) {
  test(sentence, () => {
    assert.equal(told(selectTier(versions, payment)), expected)
    // The order in which we read the versions changes nothing.
    assert.equal(told(selectTier([...versions].reverse(), payment)), expected)
  })
}

const candidate = { tierId: 'plus', priceWei: 100n, onSale: true }
const refusals: [string, TierVersion[], Partial<typeof candidate>, number, ReturnType<typeof refuseTierVersion>][] = [
  ['two tiers on sale may not share a price', [version()], {}, 200, { kind: 'priceTaken', otherId: 'basic' }],
  ['a tier off sale may have any price', [version()], { onSale: false }, 200, null],
  ['the price of a tier off sale is free', [version({ onSale: false })], {}, 200, null],
  ['a tier may keep its own price', [version()], { tierId: 'basic' }, 200, null],
  ['another price is free', [version()], { priceWei: 101n }, 200, null],
  [
    'a price stays with its tier through the grace',
    raised,
    {},
    200 + GRACE_SEC - 1,
    { kind: 'priceInGrace', otherId: 'basic', untilTime: 200 + GRACE_SEC },
  ],
  ['an unused price is free while another has its grace', raised, { priceWei: 101n }, 210, null],
  ['after the grace the price is free', raised, {}, 200 + GRACE_SEC, null],
  [
    'a price given up at once is free at once',
    [version(), version({ version: 2, price: 200n, graceSec: 0, fromBlock: 20, fromTime: 200 })],
    {},
    200,
    null,
  ],
  ['a tier may take back its own price at any time', raised, { tierId: 'basic' }, 250, null],
  [
    'a price that was never on sale has no grace',
    [version({ onSale: false }), version({ version: 2, price: 200n, fromBlock: 20, fromTime: 200 })],
    {},
    210,
    null,
  ],
  [
    'the price of a tier just taken off sale is still its own',
    closed,
    {},
    300,
    { kind: 'priceInGrace', otherId: 'basic', untilTime: 200 + GRACE_SEC },
  ],
]
for (const [sentence, versions, fields, now, expected] of refusals) {
  test(`entering a tier: ${sentence}`, () => {
    assert.deepEqual(refuseTierVersion(versions, { ...candidate, ...fields }, now), expected)
    assert.deepEqual(refuseTierVersion(versions.toReversed(), { ...candidate, ...fields }, now), expected)
  })
}

test('with any accepted entries, an amount buys at most one tier at any block', () => {
  const step = fc.record({
    tier: fc.integer({ min: 0, max: 2 }),
    price: fc.integer({ min: 1, max: 4 }),
    onSale: fc.boolean(),
    blocks: fc.integer({ min: 1, max: 120 }),
    graceSec: fc.constantFrom(0, 300, GRACE_SEC),
  })
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 14, size: 'max' }),
      fc.integer({ min: 0, max: 1200 }),
      fc.integer({ min: 1, max: 4 }),
      (steps, blockNumber, price) => {
        const versions: TierVersion[] = []
        let block = 1
        for (const { tier, price: asked, onSale, blocks, graceSec } of steps) {
          block += blocks
          const tierId = `t${tier}`
          const entry = { tierId, priceWei: BigInt(asked), onSale }
          if (refuseTierVersion(versions, entry, block * 10)) continue
          const number = versions.filter((v) => v.tierId === tierId).length + 1
          versions.push(
            version({
              tierId,
              tierNo: tier + 1,
              version: number,
              price: BigInt(asked),
              onSale,
              graceSec,
              fromBlock: block,
              fromTime: block * 10,
            }),
          )
        }
        const payment = at(blockNumber, BigInt(price))
        const sellers = new Set<string>()
        for (const v of versions) {
          const ofTier = versions.filter((o) => o.tierId === v.tierId && o.fromBlock <= blockNumber)
          const buys = ofTier
            .slice(v.version)
            .every((next) => next.graceSec > 0 && payment.blockTime - next.fromTime < next.graceSec)
          if (ofTier.includes(v) && v.onSale && buys && v.priceWei === payment.valueWei) sellers.add(v.tierId)
        }
        const selected = selectTier(versions, payment)
        assert.ok(sellers.size <= 1, `sold by ${[...sellers]}`)
        assert.deepEqual(selected.kind === 'onSale' ? [selected.tier.tierId] : [], [...sellers])
        const reversed = selectTier(versions.toReversed(), payment)
        assert.equal(reversed.kind, selected.kind)
        if (selected.kind === 'onSale') assert.equal(told(reversed), told(selected))
      },
    ),
    { numRuns: 500 },
  )
})

test('the payout is that of the version in force at the time, and unknown before the first', () => {
  const versions = [
    version({ payoutBps: 5_000 }),
    version({ version: 2, payoutBps: 7_000, fromTime: 200 }),
    version({ tierId: 'plus', tierNo: 2, payoutBps: 1 }),
  ]
  const cases: [number, number, number | null][] = [
    [1, 99, null],
    [1, 100, 5_000],
    [1, 199, 5_000],
    [1, 200, 7_000],
    [2, 200, 1],
    [3, 200, null],
  ]
  for (const [tierNo, time, expected] of cases) {
    assert.equal(payoutBpsAt(versions, tierNo, time), expected)
    assert.equal(payoutBpsAt(versions.toReversed(), tierNo, time), expected)
  }
})

test('of two versions with one start, the last decides what a turn pays', () => {
  for (const versions of [atOnce, atOnce.toReversed()])
    assert.deepEqual(
      [99, 199, 200, 201].map((time) => payoutBpsAt(versions, 1, time)),
      [null, 10_000, 30_000, 30_000],
    )
})

test('a supply holds from its block on, also for purchases by grace, and a lower one immediately', () => {
  const raised = [
    version({ supply: 5 }),
    version({ version: 2, price: 200n, supply: 10, fromBlock: 20, fromTime: 200 }),
    version({ version: 3, price: 200n, supply: null, fromBlock: 30, fromTime: 300 }),
  ]
  const lowered = [...raised, version({ version: 4, price: 200n, supply: 7, fromBlock: 40, fromTime: 400 })]
  const supplyAt = (versions: TierVersion[], payment: ReturnType<typeof at>) => {
    const selection = selectTier(versions, payment)
    return selection.kind === 'onSale' ? selection.supply : assert.fail()
  }
  assert.equal(supplyAt(raised, at(19, 100n)), 5)
  assert.equal(supplyAt(raised, at(20, 100n)), 10, 'in the grace of the price')
  assert.equal(supplyAt(raised, at(29, 200n)), 10)
  assert.equal(supplyAt(raised, at(30, 200n)), null)
  assert.deepEqual(
    [at(19, 100n), at(29, 200n), at(30, 200n)].map((payment) => supplyAt(lowered, payment)),
    [5, 7, 7],
  )
})

test('a payment before an opening is measured by its price, and is no dust', () => {
  const versions = [version({ opensAt: 1_000 }), version({ tierId: 'plus', tierNo: 2, price: 500n })]
  assert.equal(lowestPriceAt(versions, { blockNumber: 10, blockTime: 200 }), 100n)
})

const [OLD, NEW, OTHER] = ['11', '22', '33'].map((byte) => hash(`0x${byte.repeat(32)}`))
/** The lists of the versions that sell for a hundred at a block and time; null is a version without one. */
const listsAt = (versions: readonly TierVersion[], blockTime: number, valueWei = 100n) => {
  const selection = selectTier(versions, at(110, valueWei, blockTime))
  if (selection.kind !== 'onSale') return selection.kind
  return [...new Set([selection.tier, ...selection.others].map(({ allowlist }) => allowlist))]
}
const next = (fields: Partial<TierVersion> & { price?: bigint }) =>
  version({ version: 2, fromBlock: 20, fromTime: 200, ...fields })
const [listed, open] = [version({ allowlist: OLD ?? null }), version()]
const IN_GRACE = 200 + GRACE_SEC - 1

test('a payment waits for the tier before its step, if only that keeps it from buying', () => {
  const waits = (fields: Partial<TierVersion>, blockTime: number) => {
    const payment = at(10, 100n, blockTime)
    return waitsForStep(selectTier([version({ opensAfter: 'plus', ...fields })], payment), payment)
  }
  assert.deepEqual([waits({ opensAt: 150 }, 149), waits({ opensAt: 150 }, 150)], [null, 'plus'])
  assert.deepEqual(
    [waits({}, 100), waits({ opened: beforeBlock(11) }, 100), waits({ opened: beforeBlock(10) }, 100)],
    ['plus', null, null],
  )
})

test('a supply is nearly sold from nine tenths of it on', () => {
  const nearly = [8, 9, 10].map((sold) => isNearlySold(sold, 10))
  assert.deepEqual(nearly, [false, true, true])
  assert.deepEqual([isNearlySold(13, 15), isNearlySold(14, 15)], [false, true])
})

test('a list that was replaced counts beside the new one until the grace ends', () => {
  const replaced = [listed, next({ allowlist: NEW ?? null })]
  assert.deepEqual(listsAt(replaced, IN_GRACE), [NEW, OLD])
  assert.deepEqual(listsAt(replaced, 200 + GRACE_SEC), [NEW])
  const atOnce = [listed, next({ allowlist: NEW ?? null, graceSec: 0 })]
  assert.deepEqual(listsAt(atOnce, 201), [NEW])
  const thrice = [...replaced, version({ version: 3, fromBlock: 30, fromTime: 300, allowlist: OTHER ?? null })]
  assert.deepEqual(listsAt(thrice, 300), [OTHER, NEW, OLD])
})

test('a list that stays counts once', () => {
  assert.deepEqual(listsAt([listed, next({ allowlist: OLD ?? null, maxPerWallet: 5 })], IN_GRACE), [OLD])
})

test('a tier’s first list applies after the grace, and a tier without its list opens immediately', () => {
  const first = [open, next({ allowlist: NEW ?? null })]
  assert.deepEqual(listsAt(first, IN_GRACE), [NEW, null])
  assert.deepEqual(listsAt(first, 200 + GRACE_SEC), [NEW])
  assert.deepEqual(listsAt([listed, next({})], IN_GRACE), [null, OLD])
})

test('a new price goes by the new list alone, the former price by the former list alone', () => {
  const raised = [listed, next({ allowlist: NEW ?? null, price: 200n })]
  assert.deepEqual(listsAt(raised, IN_GRACE, 200n), [NEW])
  assert.deepEqual(listsAt(raised, IN_GRACE, 100n), [OLD])
  const openedUp = [listed, next({ price: 200n })]
  assert.deepEqual(listsAt(openedUp, IN_GRACE, 100n), [OLD])
})

test('a version that has not opened yet lends its list to no other', () => {
  const later = [listed, next({ opensAt: 10_000 })]
  assert.deepEqual(listsAt(later, IN_GRACE), [OLD])
})
