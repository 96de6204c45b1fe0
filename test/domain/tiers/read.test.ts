// What others read of tiers: the token of a holding, and whether a supply is nearly sold.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  holdingTokenOf,
  isNearlySold,
  selectTier,
  type TierSelection,
  type TierVersion,
} from '../../../src/domain/tiers.ts'
import { address } from '../../../src/domain/units.ts'
import { version } from './version.ts'

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

test('a supply is nearly sold from nine tenths of it on', () => {
  const nearly = [8, 9, 10].map((sold) => isNearlySold(sold, 10))
  assert.deepEqual(nearly, [false, true, true])
  assert.deepEqual([isNearlySold(13, 15), isNearlySold(14, 15)], [false, true])
})

test('a price in force sells before the same price of another tier in its grace period', () => {
  const raised = [version(), version({ version: 2, price: 200n, fromBlock: 20, fromTime: 200 })]
  const plus = version({ tierId: 'plus', tierNo: 2, fromBlock: 20, fromTime: 200 })
  const payment = { blockNumber: 21, blockTime: 210, txIndex: 0, innerIndex: 0, valueWei: 100n }
  for (const versions of [
    [...raised, plus],
    [plus, ...raised],
  ]) {
    const selection = selectTier(versions, payment)
    assert.equal(selection.kind === 'onSale' && selection.tier.tierId, 'plus')
  }
})
