// What others read of tiers: the supply of now, the token of a holding, and the step that a tier waits for.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { holdingTokenOf, type TierSelection, type TierVersion, waitsForStep } from '../../../src/domain/tiers.ts'
import { address } from '../../../src/domain/units.ts'
import { version } from './version.ts'

const BLOCK = { blockNumber: 10, blockTime: 100 }

test('only a tier on sale has a holding read, by the first version that asks for one', () => {
  const [first, second] = [address(`0x${'1'.repeat(40)}`), address(`0x${'2'.repeat(40)}`)]
  const asks = version({ holdingToken: first })
  const sale = (tier: TierVersion, ...others: TierVersion[]): TierSelection => ({
    ...{ kind: 'onSale', tier, others, byGrace: false, supply: null },
  })
  const rows: [TierSelection, string | null][] = [
    [sale(asks, version({ holdingToken: second })), first],
    [sale(version(), version({ holdingToken: second }), asks), second],
    [sale(version(), version()), null],
    [{ kind: 'offSale', tier: asks }, null],
    [{ kind: 'notOpenYet', tier: asks }, null],
    [{ kind: 'none' }, null],
  ]
  for (const [selection, token] of rows) assert.equal(holdingTokenOf(selection), token)
})

test('a tier that does not wait for its opening waits for no step', () => {
  const tier = version({ opensAfter: 'plus' })
  assert.equal(waitsForStep({ kind: 'notOpenYet', tier }, BLOCK), 'plus')
  for (const selection of [{ kind: 'offSale' as const, tier }, { kind: 'none' as const }])
    assert.equal(waitsForStep(selection, BLOCK), null)
})
