// The balance that a sending account should have: gas for its next transactions and the next round's payouts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fundsNeededWei } from '../../src/domain/funds.ts'

test('the funds needed are gas for so many transactions, and the next round once', () => {
  const spending = { waitingGas: 0n, gasPerTransaction: 100_000n, maxFeeWei: 30n, nextRoundWei: 7n }
  assert.equal(fundsNeededWei(spending, 0), 7n)
  assert.equal(fundsNeededWei(spending, 1), 3_000_007n)
  assert.equal(fundsNeededWei(spending, 20), 60_000_007n)
  assert.equal(fundsNeededWei({ ...spending, nextRoundWei: 0n }, 20), 60_000_000n)
})

test('waiting transactions need their own funds besides', () => {
  const spending = { waitingGas: 16_000_000n, gasPerTransaction: 100_000n, maxFeeWei: 30n, nextRoundWei: 0n }
  assert.equal(fundsNeededWei(spending, 20), 540_000_000n)
})
