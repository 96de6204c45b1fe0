// When the allowances of our keys run low: each figure at its limit and on both sides of it, and ranges at every rate.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { budgetShortOf, isSoldOut, turnRange } from '../../src/domain/budget.ts'
import { cases } from '../support/property.ts'

test('a part of the budget is short if it is empty, or less than is needed', () => {
  for (const left of [0, 1, 2, 3])
    for (const needed of [0, 1, 2, 3])
      for (const [nodes, cohorts] of [
        [left, 9],
        [9, left],
        [left, left],
      ] as const) {
        const isShort = (part: number) => part < Math.max(1, needed)
        const found = budgetShortOf({ nodes, cohorts, nodesPerWeek: needed, cohortsPerTier: needed })
        assert.deepEqual(found, [...(isShort(nodes) ? ['nodes'] : []), ...(isShort(cohorts) ? ['cohorts'] : [])])
      }
})

test('nothing is for sale if no node is left, or if a payment waits for a part of the budget', () => {
  const told = [0, 1].flatMap((nodes) => [null, 'nodes', 'cohorts'].map((spent) => isSoldOut({ nodes, spent })))
  assert.deepEqual(told, [true, true, true, false, true, true])
})

test('a turn pays between the least amount at the lowest rate and the most at the highest', () => {
  const compare = (minWei: bigint, more: bigint, rates: number[]) => {
    const maxWei = minWei + more
    const { lowWei, highWei } = turnRange({ minWei, maxWei }, rates)
    const paid = rates.flatMap((rate) => [minWei, maxWei].map((amount) => (amount * BigInt(rate)) / 10_000n))
    for (const amount of paid) assert.ok(lowWei <= amount && amount <= highWei)
    if (rates.length > 0) assert.ok(paid.includes(lowWei) && paid.includes(highWei))
    else assert.deepEqual([lowWei, highWei], [0n, 0n])
  }
  const rates = fc.array(fc.constantFrom(1, 900, 9_999, 10_000, 10_001, 200_000), { maxLength: 4 })
  const amount = fc.bigInt({ min: 0n, max: 10n ** 20n })
  fc.assert(fc.property(amount, amount, rates, compare), { numRuns: cases(1_000) })
})
