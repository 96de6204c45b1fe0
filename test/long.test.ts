// The slices of the long checks: each check is in one, and a commit's hash chooses one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longChecks } from '../scripts/long/checks.ts'
import { SLICE_MINUTES_MAX, sliceOfCommit, slicesOf } from '../scripts/long/slices.ts'

test('each long check is in one slice, and a slice fits into its time', () => {
  const checks = longChecks()
  const slices = slicesOf(checks)
  assert.deepEqual(new Set(slices.flat()), new Set(checks))
  assert.equal(slices.flat().length, checks.length)
  for (const slice of slices) {
    const minutes = slice.reduce((sum, check) => sum + check.minutes, 0)
    assert.ok(slice.length === 1 || minutes <= SLICE_MINUTES_MAX, `${minutes} minutes`)
  }
})

test('the hashes of commits choose every slice, and one hash always the same', () => {
  const hashes = Array.from({ length: 200 }, (_, i) => (BigInt(i) * 0x9e3779b97f4a7c15n).toString(16).padStart(40, 'a'))
  assert.equal(new Set(hashes.map((hash) => sliceOfCommit(hash, 7))).size, 7)
  assert.equal(sliceOfCommit('9'.padStart(40, '0'), 7), 2)
})
