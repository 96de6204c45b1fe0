// The limits of an offer for gas, whatever a provider suggests.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { feeLimits, feesSeen, median, offerFees, usualFeeRules } from '../../src/domain/fees.ts'

const GWEI = 10n ** 9n
const RULES = { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI }
const block = (baseFeeWei: bigint | null, tipWei: bigint | null, number = 1) => ({ number, baseFeeWei, tipWei })

test('a tip may be twice that of the dearest of the last blocks, a base fee four times', () => {
  const limits = feeLimits([block(20n * GWEI, 2n * GWEI), block(30n * GWEI, 3n * GWEI), block(10n * GWEI, null)], RULES)
  assert.deepEqual(limits, { capWei: RULES.feeCapWei, tipMaxWei: 6n * GWEI, baseFeeMaxWei: 120n * GWEI })
})

test('in near-empty blocks one gwei may be offered, without blocks the base fee is believed', () => {
  const quiet = { capWei: RULES.feeCapWei, tipMaxWei: GWEI, baseFeeMaxWei: GWEI }
  assert.deepEqual(feeLimits([block(7n, 5n)], RULES), quiet)
  assert.deepEqual(feeLimits([], RULES), { ...quiet, baseFeeMaxWei: null })
  assert.deepEqual(feeLimits([block(null, null)], RULES), { ...quiet, baseFeeMaxWei: null })
})

test('the operator’s limit bounds a tip, even if others pay more', () => {
  assert.equal(feeLimits([block(GWEI, 90n * GWEI)], RULES).tipMaxWei, RULES.tipMaxWei)
})

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

test('the offer keeps to a cap that pays for one more full block, and else exceeds it', () => {
  const baseFeeWei = 80n * GWEI
  const tipWei = 2n * GWEI
  // The next base fee is an eighth higher, and at least 1 wei.
  const least = 90n * GWEI + 1n + tipWei
  const roomy = 2n * baseFeeWei + tipWei
  const offered = (capWei: bigint) =>
    offerFees({ baseFeeWei, tipWei }, { capWei, tipMaxWei: tipWei, baseFeeMaxWei: null }).maxFeeWei
  assert.deepEqual([least - 1n, least, least + 1n].map(offered), [roomy, least, least + 1n])
  assert.deepEqual([roomy - 1n, roomy, roomy + 1n].map(offered), [roomy - 1n, roomy, roomy])
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
