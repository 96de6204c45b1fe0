// The choice of a tier by amount: the code of src/domain/tiers.ts and the second reading of the rules agree over random histories of versions.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { refuseTierVersion, selectTier, type TierVersion } from '../../src/domain/tiers.ts'
import { cases } from '../support/property.ts'
import { type History, histories, toCode } from './histories.ts'
import { choose, priceOwner, type Sale, supplyOf } from './sale.ts'

const KINDS = { none: 'wrongAmount', offSale: 'saleClosed', notOpenYet: 'notOpenYet' } as const

/** The model's choice and the code's, in the same words. */
function choices(sale: Sale, valueWei: bigint, block: { number: number; time: number }) {
  const versions: TierVersion[] = sale.versions.map((one) => toCode(one, sale.openings))
  const code = selectTier(versions, { valueWei, blockNumber: block.number, blockTime: block.time })
  return { model: choose(sale, valueWei, block), code }
}

function compareChoice({ sale, payments }: History): void {
  for (const { valueWei, block } of payments) {
    const { model, code } = choices(sale, valueWei, block)
    if (model.kind === 'held') {
      assert.equal(code.kind === 'onSale' ? 'sells' : KINDS[code.kind], model.reason, `of ${valueWei} in ${block.time}`)
      const tier = code.kind === 'none' ? null : code.tier
      assert.equal(tier?.tierId, model.version?.tierId)
      assert.equal(tier?.version, model.version?.version)
      continue
    }
    assert.ok(code.kind === 'onSale', `the model sells, the code says ${code.kind}`)
    assert.equal(code.tier.tierId, model.tierId)
    // The code names the version in force if it sells, else the newest graced one.
    assert.equal(code.tier.version, model.versions[0]?.version)
    const roots = model.versions.map((one) => one.allowlist)
    const lists = roots.includes(null) ? null : [...new Set(roots)].sort()
    assert.deepEqual(code.lists === null ? null : [...new Set(code.lists)].sort(), lists)
    assert.equal(code.supply, supplyOf(sale, model.tierId, block, null))
  }
}

test('an amount buys the tier and the version that the rules name, over random histories', () => {
  fc.assert(fc.property(histories(), compareChoice), { numRuns: cases(3_000) })
})

test('a price that another tier sells, or has in its grace, is refused to a new version', () => {
  const compare = ({ sale, payments }: History) => {
    const versions = sale.versions.map((one) => toCode(one, sale.openings))
    const begun = Math.max(...sale.versions.map((one) => one.fromTime))
    for (const { valueWei, block } of payments) {
      // The head is never older than what was entered last.
      if (block.time < begun) continue
      for (const onSale of [true, false]) {
        const candidate = { tierId: 't1', priceWei: valueWei, onSale }
        const model = priceOwner(sale, candidate, block.time)
        const code = refuseTierVersion(versions, candidate, block.time)
        assert.equal(code?.by ?? null, model?.tierId ?? null)
        if (model !== null) assert.equal(code?.kind, model.inGrace ? 'priceInGrace' : 'priceTaken')
      }
    }
  }
  fc.assert(fc.property(histories(), compare), { numRuns: cases(1_000) })
})
