// Changes of tiers that are entered ahead: over random walks of an operator and a chain, the code reads what holds as the second reading does.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { readChanges } from '../../../src/domain/sale/changes.ts'
import { selectTier } from '../../../src/domain/tiers.ts'
import { cases } from '../../support/property.ts'
import { choose, type Sale, supplyOf } from '../sale.ts'
import { inOrder, read, selling, type Version } from './ahead.ts'
import { toPlan, toVersion } from './code.ts'
import { type Walk, walks } from './walks.ts'

/** A version without what only its row has. */
const shown = ({ names: _names, ...one }: { names?: unknown }) => one

test('planned changes become the versions that the rules name, or do not fit for the same reason', () => {
  const compare = ({ sights }: Walk) => {
    for (const { ledger } of sights) {
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
        const said = { by: null, untilTime: null, ...why }
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

/** What becomes of the acts of a walk, and why planned changes do not fit. */
const REACHED = [
  ...['plan: entered', 'plan: too late', 'plan: does not fit', 'change: entered', 'change: does not fit'],
  ...['cancel: cancelled', 'cancel: too late', 'cancel: does not fit', 'revoke: revoked', 'open: opened'],
  ...['mine: followed', 'mine: not followed', 'reorganise: followed'],
  ...['noTier', 'closing', 'holding', 'ladder', 'awaited', 'raised', 'priceTaken', 'priceInGrace'],
]

test('the walks do every act, and reach every refusal and every reason', () => {
  const reached = new Set<string>()
  for (const { seen, sights } of fc.sample(walks(), { numRuns: 3_000, seed: 1 })) {
    for (const one of seen) reached.add(one)
    for (const { ledger } of sights)
      for (const { reasons } of read(ledger).unfit) for (const { kind } of reasons) reached.add(kind)
  }
  assert.deepEqual([...reached].filter((one) => !one.endsWith('nothing')).sort(), [...REACHED].sort())
})

test('blocks that are followed one by one put in force what is read at once', () => {
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
      // A reorganisation may move the block of a change that was entered at once behind a planned change of a later time.
      if (versions.some((one) => one.fromTime <= block.time && (one.fromBlock ?? 0) > block.number)) continue
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

test('a payment buys by the change with the latest time, of equal times by the last entry', () => {
  const compare = ({ blocks, ledger }: Walk) => {
    const versions = ledger.versions.map((one) => toVersion(ledger, one))
    const sale: Sale = {
      versions: ledger.versions.map(({ terms, fromBlock, ...one }) => ({
        ...one,
        ...terms,
        fromBlock: fromBlock ?? 0,
      })),
      openings: ledger.opened.map((one) => ({ ...one, fromBlock: 0, txIndex: 0, innerIndex: 0 })),
    }
    for (const { number, time } of blocks)
      for (const valueWei of PRICES) {
        const model = choose(sale, valueWei, { number, time, txIndex: 0, innerIndex: 0 })
        const code = selectTier(versions, { valueWei, blockNumber: number, blockTime: time, txIndex: 0, innerIndex: 0 })
        const tier = code.kind === 'none' ? null : code.tier
        const named = model.kind === 'sells' ? model.versions[0] : model.version
        const what = `${valueWei} in ${number}, ${time}`
        assert.deepEqual([tier?.tierId, tier?.version], [named?.tierId, named?.version], what)
        if (model.kind !== 'sells' || code.kind !== 'onSale') continue
        const others = code.others.map(({ version }) => version)
        assert.deepEqual(
          others,
          model.versions.slice(1).map(({ version }) => version),
          what,
        )
        assert.equal(code.supply, supplyOf(sale, model.tierId, { number, time }, null), what)
      }
  }
  fc.assert(fc.property(walks({ isForced: false }), compare), { numRuns: cases(2_000) })
})
