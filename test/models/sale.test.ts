// The choice of a tier by amount: the code of src/domain/tiers.ts and the second reading of the rules agree over random histories of versions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { listedBy } from '../../src/domain/judgement.ts'
import { byPosition } from '../../src/domain/sale/position.ts'
import { lowestPriceAt, refuseTierVersion, selectTier, type TierVersion, waitsForStep } from '../../src/domain/tiers.ts'
import { cases } from '../support/property.ts'
import { type History, histories, toCode } from './histories.ts'
import { allocationOf, awaited, type Block, choose, comesBefore, priceOwner, type Sale, supplyOf } from './sale.ts'

const KINDS = { none: 'wrongAmount', offSale: 'saleClosed', notOpenYet: 'notOpenYet' } as const

/** The model's choice and the code's, in the same words. */
function choices(sale: Sale, valueWei: bigint, block: Block) {
  const versions: TierVersion[] = sale.versions.map((one) => toCode(one, sale.openings))
  const payment = {
    ...{ valueWei, blockNumber: block.number, blockTime: block.time },
    ...{ txIndex: block.txIndex ?? Number.MAX_SAFE_INTEGER, innerIndex: block.innerIndex ?? 0 },
  }
  // The order in which versions are read changes nothing.
  const ofTier = Map.groupBy(versions.toReversed(), (one) => one.tierId)
  const tiers = [...new Set(versions.map((one) => one.tierId))]
  const code = selectTier(
    tiers.flatMap((tierId) => ofTier.get(tierId) ?? []),
    payment,
  )
  return { model: choose(sale, valueWei, block), code, step: waitsForStep(code, payment) }
}

function compareChoice({ sale, payments }: History): void {
  // At the place of an opening, before it and behind it.
  const places = [{}, { txIndex: 0, innerIndex: 0 }, { txIndex: 0, innerIndex: 1 }]
  for (const [n, { valueWei, block: own }] of payments.entries()) {
    const block = { ...own, ...places[n % places.length] }
    const { model, code, step } = choices(sale, valueWei, block)
    if (model.kind === 'held') {
      const waiting = model.reason === 'notOpenYet' ? model.version : null
      assert.equal(step, waiting && awaited(sale, waiting, block))
      assert.equal(code.kind === 'onSale' ? 'sells' : KINDS[code.kind], model.reason, `of ${valueWei} in ${block.time}`)
      const tier = code.kind === 'none' ? null : code.tier
      assert.equal(tier?.tierId, model.version?.tierId)
      assert.equal(tier?.version, model.version?.version)
      continue
    }
    assert.ok(code.kind === 'onSale', `the model sells, the code says ${code.kind}`)
    assert.equal(step, null)
    assert.equal(code.byGrace, model.byGrace)
    assert.equal(code.tier.tierId, model.tierId)
    // The code names the version in force if it sells, else the newest graced one.
    assert.equal(code.tier.version, model.versions[0]?.version)
    assert.deepEqual(
      [code.tier, ...code.others].map(({ version, allowlist }) => [version, allowlist]),
      model.versions.map(({ version, allowlist }) => [version, allowlist]),
    )
    assert.equal(code.supply, supplyOf(sale, model.tierId, block, null))
  }
}

test('an amount buys the tier and version of the rules, over random histories', () => {
  fc.assert(fc.property(histories(), compareChoice), { numRuns: cases(3_000) })
})

test('the lowest price is that of a tier that sells, by grace too, or that is to open', () => {
  const compare = ({ sale, payments }: History) => {
    const versions = sale.versions.map((one) => toCode(one, sale.openings))
    for (const { block } of payments) {
      let lowest: bigint | null = null
      for (const { priceWei } of sale.versions) {
        const found = choose(sale, priceWei, block)
        const isPrice = found.kind === 'sells' || found.reason === 'notOpenYet'
        if (isPrice && (lowest === null || priceWei < lowest)) lowest = priceWei
      }
      assert.equal(lowestPriceAt(versions, { blockNumber: block.number, blockTime: block.time }), lowest)
    }
  }
  fc.assert(fc.property(histories(), compare), { numRuns: cases(500) })
})

test('a price that another tier sells, or has in its grace, is refused', () => {
  const compare = ({ sale, payments }: History) => {
    const versions = sale.versions.map((one) => toCode(one, sale.openings)).toReversed()
    const begun = Math.max(...sale.versions.map((one) => one.fromTime))
    for (const { valueWei, block } of payments) {
      // The head is never older than what was entered last.
      if (block.time < begun) continue
      for (const onSale of [true, false]) {
        const candidate = { tierId: 't1', priceWei: valueWei, onSale }
        const model = priceOwner(sale, candidate, block.time)
        const code = refuseTierVersion(versions, candidate, block.time)
        const { tierId: otherId, untilTime } = model ?? {}
        const taken = untilTime ? { kind: 'priceInGrace', otherId, untilTime } : { kind: 'priceTaken', otherId }
        assert.deepEqual(code, model && taken)
      }
    }
  }
  fc.assert(fc.property(histories(), compare), { numRuns: cases(1_000) })
})

const WALLET = '0xb1' as unknown as Parameters<typeof listedBy>[1]
/** Each root of the histories, with the allocations of one wallet at the edges: none, one, and more. */
const ROOTS = ['0xaa', '0xbb', '0xcc']

test('each selling version has its own list’s allocation', () => {
  const compare = ({ sale, payments }: History, allocations: number[], used: number) => {
    const lists = new Map(ROOTS.map((root, i) => [root, new Map([[String(WALLET), allocations[i] ?? 0]])]))
    const known = new Map(ROOTS.map((root, i) => [`${root} ${WALLET}`, allocations[i] ?? 0]))
    for (const { valueWei, block } of payments) {
      const { model, code } = choices(sale, valueWei, block)
      if (model.kind !== 'sells' || code.kind !== 'onSale') continue
      const use = new Map([[`${code.tier.tierNo} ${WALLET}`, used]])
      const listed = listedBy(code, WALLET, { allocations: known, used: use })
      for (const one of model.versions) {
        const own = listed.find(({ root }) => root === one.allowlist)
        assert.equal(own?.allocation ?? null, allocationOf(one, lists, String(WALLET)))
        if (own) assert.equal(own.used, used)
      }
    }
  }
  const allocations = fc.array(fc.nat(3), { minLength: 3, maxLength: 3 })
  fc.assert(fc.property(histories(), allocations, fc.nat(3), compare), { numRuns: cases(1_000) })
})

test('places are taken in the order of the chain', () => {
  const payment = fc.record({ block: fc.nat(2), txIndex: fc.nat(2), innerIndex: fc.nat(2) })
  const compare = (a: { block: number; txIndex: number; innerIndex: number }, b: typeof a) => {
    const at = ({ block, txIndex, innerIndex }: typeof a) => ({ blockNumber: block, txIndex, innerIndex })
    const order = byPosition(at(a), at(b))
    assert.equal(Math.sign(order), comesBefore(a, b) ? -1 : comesBefore(b, a) ? 1 : 0)
  }
  fc.assert(fc.property(payment, payment, compare), { numRuns: cases(500) })
})
