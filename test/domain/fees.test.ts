// What an offer for gas rests on if a provider or blocks are silent, and the limits of each chain.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feesSeen, median, offerFees, usualFeeRules } from '../../src/domain/fees.ts'

const GWEI = 10n ** 9n
const RULES = { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI }
const block = (baseFeeWei: bigint | null, tipWei: bigint | null, number = 1) => ({ number, baseFeeWei, tipWei })

test('the median is one of the values, of two in the middle the lower one', () => {
  assert.equal(median([]), null)
  assert.equal(median([10n, 9n]), 9n)
  assert.equal(median([10n, 9n, 100n]), 10n)
  assert.equal(median([10n, 9n, 100n, 100n]), 10n)
  assert.equal(median([3n, 3n, 2n, 2n, 2n ** 70n]), 3n)
})

test('a rollup allows less by default, an unknown chain most', () => {
  assert.deepEqual(usualFeeRules(1), { feeCapWei: 500n * GWEI, tipMaxWei: 10n * GWEI })
  assert.deepEqual(usualFeeRules(8453), { feeCapWei: 50n * GWEI, tipMaxWei: 2n * GWEI })
  assert.deepEqual(usualFeeRules(137), { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI })
})

test('without limits the offer rests on the provider’s word alone', () => {
  assert.deepEqual(offerFees({ baseFeeWei: 80n * GWEI, tipWei: 2n * GWEI }), {
    maxFeeWei: 162n * GWEI,
    maxPriorityFeeWei: 2n * GWEI,
  })
})

test('without a provider’s fees the offer uses the last base fee and dearest tip, or one gwei', () => {
  const seen = [block(30n * GWEI, 3n * GWEI), block(20n * GWEI, 2n * GWEI), block(10n * GWEI, null)]
  assert.deepEqual(feesSeen(seen, RULES), { maxFeeWei: 23n * GWEI, maxPriorityFeeWei: 3n * GWEI })
  assert.deepEqual(feesSeen([block(10n * GWEI, null)], RULES), { maxFeeWei: 21n * GWEI, maxPriorityFeeWei: GWEI })
  const rules = { feeCapWei: 15n * GWEI, tipMaxWei: GWEI }
  assert.deepEqual(feesSeen(seen, rules), { maxFeeWei: 15n * GWEI, maxPriorityFeeWei: GWEI })
  for (const none of [[], [block(null, GWEI)], [block(10n * GWEI, GWEI), block(null, GWEI)]])
    assert.equal(feesSeen(none, RULES), null)
})
