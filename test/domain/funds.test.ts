// The balance that a sending account should have: gas for its next transactions and the next round's payouts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { judgeFunds } from '../../src/domain/funds.ts'

const spending = { waitingGas: 0n, gasPerTransaction: 100_000n, nextRoundWei: 7n }
const needed = (given: typeof spending, warnTransactions: number) =>
  judgeFunds(0n, given, { maxFeeWei: 30n, warnTransactions }).neededWei

test('the funds needed are gas for some transactions, at least one, and the next round once', () => {
  assert.equal(needed(spending, 0), 3_000_007n)
  assert.equal(needed(spending, 1), 3_000_007n)
  assert.equal(needed(spending, 20), 60_000_007n)
  assert.equal(needed({ ...spending, nextRoundWei: 0n }, 20), 60_000_000n)
})

test('waiting transactions need their own funds besides', () => {
  assert.equal(needed({ ...spending, waitingGas: 16_000_000n, nextRoundWei: 0n }, 20), 540_000_000n)
})

test('a balance is low below what is needed, and pays for what is left of it', () => {
  const judged = (balanceWei: bigint) => judgeFunds(balanceWei, spending, { maxFeeWei: 30n, warnTransactions: 2 })
  const neededWei = 6_000_007n
  assert.deepEqual(judged(6_000_007n), { neededWei, low: false, leftWei: 6_000_000n, transactions: 2 })
  assert.deepEqual(judged(6_000_006n), { neededWei, low: true, leftWei: 5_999_999n, transactions: 1 })
  assert.deepEqual(judged(6n), { neededWei, low: true, leftWei: -1n, transactions: 0 })
})

test('gas that costs nothing pays for any number of transactions', () => {
  const free = judgeFunds(0n, { ...spending, nextRoundWei: 0n }, { maxFeeWei: 0n, warnTransactions: 2 })
  assert.deepEqual(free, { neededWei: 0n, low: false, leftWei: 0n, transactions: null })
})
