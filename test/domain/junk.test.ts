// Dust, recognised by the transfer alone: no price is ever dust, and neither is a possible sale.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dustBound, sortTransfers } from '../../src/domain/junk.ts'
import type { Incoming } from '../../src/domain/observed.ts'
import { type Address, type Hash, wei } from '../../src/domain/units.ts'

const transfer = (valueWei: bigint, { blockNumber = 10, succeeded = true } = {}): Incoming => ({
  blockNumber,
  blockHash: '0x' as Hash,
  blockTime: 100,
  txHash: '0x' as Hash,
  txIndex: 0,
  wallet: '0xa' as Address,
  from: '0xb' as Address,
  valueWei: wei(valueWei),
  succeeded,
})
const tier = (priceWei: bigint, fromBlock = 0) => ({ priceWei: wei(priceWei), fromBlock })
const sortOf = (one: Incoming, ...tiers: ReturnType<typeof tier>[]) => {
  const sorted = sortTransfers([one], tiers)
  return (['payments', 'dust', 'zero'] as const).find((sort) => sorted[sort].length === 1)
}

test('less than a thousandth of the lowest price by its block is dust', () => {
  assert.equal(sortOf(transfer(4n), tier(5_000n), tier(9_000n)), 'dust')
  assert.equal(sortOf(transfer(5n), tier(5_000n), tier(9_000n)), 'payments')
  assert.equal(sortOf(transfer(5n), tier(5_001n)), 'dust')
})

test('a price that is yet to come does not count, one that was given up does', () => {
  assert.equal(sortOf(transfer(4n), tier(9_000n), tier(1n, 11)), 'dust')
  assert.equal(sortOf(transfer(4n), tier(9_000n), tier(1n, 10)), 'payments')
  assert.equal(sortOf(transfer(4n), tier(1_000n, 0), tier(9_000n, 5)), 'payments')
  assert.equal(sortOf(transfer(4n), tier(9_000n, 10)), 'dust', 'the block that has the first price')
})

test('without a tier nothing is dust', () => {
  assert.equal(sortOf(transfer(1n)), 'payments')
  assert.equal(sortOf(transfer(1n), tier(9_000n, 11)), 'payments')
})

test('a transfer that moved nothing is counted: failed dust, and zero, failed or not', () => {
  assert.equal(sortOf(transfer(4n, { succeeded: false }), tier(9_000n)), 'zero')
  assert.equal(sortOf(transfer(9_000n, { succeeded: false }), tier(9_000n)), 'payments')
  assert.equal(sortOf(transfer(0n), tier(9_000n)), 'zero')
  assert.equal(sortOf(transfer(0n, { succeeded: false })), 'zero')
})

test('the least value that may pay is the first that is not sorted out', () => {
  for (const price of [1n, 999n, 1_000n, 1_001n, 4_999n, 5_000n, 5_001n]) {
    let least = 1n
    while (sortOf(transfer(least), tier(price), tier(9_000n)) !== 'payments') least++
    assert.equal(dustBound(price), least, `price ${price}`)
  }
  assert.equal(dustBound(null), 1n)
})
