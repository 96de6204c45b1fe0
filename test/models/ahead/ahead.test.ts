// Changes of tiers that are entered ahead: over random walks of an operator and a chain, the code reads what holds as the second reading does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { isTooLate, readChanges } from '../../../src/domain/sale/changes.ts'
import { selectTier, type TierVersion } from '../../../src/domain/tiers.ts'
import { cases } from '../../support/property.ts'
import { type Block, choose, type Sale, supplyOf } from '../sale.ts'
import { inOrder, isInTime, read, selling, type Version } from './ahead.ts'
import { placeOf, toPlan, toSale, toVersion } from './code.ts'
import { type Walk, walks } from './walks.ts'

/** A version without what only the row of a planned change has. */
function shown(version: object): object {
  const { names: _names, ...one } = version as { names?: unknown }
  return one
}

test('planned changes become the versions that the rules name, or do not fit for the same reason', () => {
  const compare = ({ sights }: Walk) => {
    for (const ledger of sights) {
      const model = read(ledger)
      const code = readChanges(
        ledger.versions.map((one) => toVersion(ledger, one)),
        ledger.plans.map((one) => toPlan(ledger, one)),
      )
      const fit = model.versions.filter((one) => model.follows.has(one.entry))
      assert.deepEqual(
        code.fit.map(({ version, before }) => [shown(version), before.tierId, before.version]),
        fit.map((one) => [toVersion(ledger, one), one.tierId, model.follows.get(one.entry)?.version]),
      )
      assert.deepEqual(
        code.unfit.map(({ plan: { tierId, version } }) => [tierId, version]),
        model.unfit.map(({ plan: { tierId, version } }) => [tierId, version]),
      )
      for (const [n, { why }] of code.unfit.entries()) {
        const said = { otherId: null, untilTime: null, ...why }
        const reasons = model.unfit[n]?.reasons ?? []
        assert.ok(
          reasons.some((one) => isDeepStrictEqual(one, said)),
          `${fc.stringify(said)} is not ${fc.stringify(reasons)}`,
        )
      }
    }
  }
  fc.assert(fc.property(walks(), compare), { numRuns: cases(2_000) })
})

test('a change is in time 120 seconds before its time, by the head and by the clock', () => {
  const near = fc.constantFrom(-200, -121, -120.5, -120, -119.5, -119, -1, 0, 1, 200)
  const compare = (head: number, clock: number) => {
    const [headTime, fromTime] = [10_000 + Math.floor(head), 10_000]
    assert.equal(
      !isTooLate(fromTime, headTime, 10_000 + clock),
      isInTime(fromTime, { headTime, clock: 10_000 + clock }),
    )
  }
  fc.assert(fc.property(near, near, compare), { numRuns: cases(300) })
})

/** What becomes of the acts of a walk, and why planned changes do not fit. */
const REACHED = [
  ...['plan: entered', 'plan: too late', 'plan: does not fit', 'change: entered', 'change: does not fit'],
  ...['cancel: cancelled', 'cancel: too late', 'cancel: does not fit', 'revoke: revoked', 'open: opened'],
  ...['mine: followed', 'mine: not followed', 'reorganise: followed'],
  ...['noTier', 'closing', 'holding', 'ladder', 'awaited', 'raised', 'priceTaken', 'priceInGrace'],
]

test('the walks do every act, and reach every refusal and every reason', () => {
  const reached = new Set<string>()
  for (const { seen, sights } of fc.sample(walks(), { numRuns: 3_000, seed: 2 })) {
    for (const one of seen) reached.add(one)
    for (const ledger of sights)
      for (const { reasons } of read(ledger).unfit) for (const { kind } of reasons) reached.add(kind)
  }
  assert.deepEqual([...reached].filter((one) => !one.endsWith('nothing')).sort(), [...REACHED].sort())
})

test('blocks followed one by one give what one range gives', () => {
  const compare = ({ entered, blocks, ledger }: Walk) => {
    const once = read({ ...ledger, ...entered }, blocks.at(-1)?.time)
    const terms = ({ entry, fromTime, graceSec, terms }: Version) => ({ entry, fromTime, graceSec, terms })
    assert.deepEqual(inOrder(ledger.versions).map(terms), once.versions.map(terms))
  }
  fc.assert(fc.property(walks({ opens: false }), compare), { numRuns: cases(500) })
})

test('in no block do two tiers sell at one price', () => {
  const compare = ({ blocks, ledger: { versions } }: Walk) => {
    for (const block of blocks) {
      const owners = new Map<bigint, string>()
      for (const tierId of ['t0', 't1', 't2']) {
        for (const { terms } of selling(versions, tierId, block)) {
          assert.equal(owners.get(terms.priceWei) ?? tierId, tierId, `${terms.priceWei} in ${block.time}`)
          owners.set(terms.priceWei, tierId)
        }
      }
    }
  }
  fc.assert(fc.property(walks({ isForced: false }), compare), { numRuns: cases(2_000) })
})

const PRICES = [10n, 20n, 30n, 40n]
/** Before, at and behind the place in block 11 of the payment behind which the step of the second tier opens. */
const AT = placeOf('t1', 't0')
const PLACES = [0, 1, 2].map((innerIndex) => ({ txIndex: AT.txIndex, innerIndex }))

interface Payment {
  valueWei: bigint
  block: Block & { txIndex: number; innerIndex: number }
}

function compareChoice(sale: Sale, versions: TierVersion[], { valueWei, block }: Payment): void {
  const { number, time, ...place } = block
  const model = choose(sale, valueWei, block)
  const code = selectTier(versions, { valueWei, blockNumber: number, blockTime: time, ...place })
  const tier = code.kind === 'none' ? null : code.tier
  const named = model.kind === 'sells' ? model.versions[0] : model.version
  const what = `${valueWei} in ${number}, ${time}`
  assert.deepEqual([tier?.tierId, tier?.version], [named?.tierId, named?.version], what)
  assert.equal(code.kind === 'onSale', model.kind === 'sells', what)
  if (model.kind !== 'sells' || code.kind !== 'onSale') return
  const others = code.others.map(({ version }) => version)
  const graced = model.versions.slice(1).map(({ version }) => version)
  assert.deepEqual(others, graced, what)
  assert.equal(code.supply, supplyOf(sale, model.tierId, block, null), what)
}

test('a payment buys by the change with the latest time, of equal times by the last entry', () => {
  const compare = ({ blocks, ledger }: Walk) => {
    const versions = ledger.versions.map((one) => toVersion(ledger, one))
    const sale = toSale(ledger)
    for (const block of blocks)
      for (const valueWei of PRICES)
        for (const place of PLACES) compareChoice(sale, versions, { valueWei, block: { ...block, ...place } })
  }
  fc.assert(fc.property(walks({ isForced: false }), compare), { numRuns: cases(2_000) })
})
