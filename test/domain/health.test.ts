// When a pass has fallen behind: by its last start and its last success, at the limit and on both sides of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isStale, LAG_SEC, STUCK_SEC } from '../../src/domain/health.ts'

const AFTER_SEC = 60

test('a pass is stale if it never started, or its last start or success is beyond the limit', () => {
  const times = [null, 0, AFTER_SEC - 1, AFTER_SEC, AFTER_SEC + 1, 10 * AFTER_SEC]
  for (const secondsAgo of times)
    for (const secondsWithoutSuccess of times) {
      const isLate = (sec: number | null) => sec !== null && sec > AFTER_SEC
      const expected = secondsAgo === null || isLate(secondsAgo) || isLate(secondsWithoutSuccess)
      const what = `started ${secondsAgo} s ago, succeeded ${secondsWithoutSuccess} s ago`
      assert.equal(isStale({ secondsAgo, secondsWithoutSuccess }, AFTER_SEC), expected, what)
    }
})

test('a ledger lags after five minutes, a transaction is stuck after half an hour', () => {
  assert.deepEqual([LAG_SEC, STUCK_SEC], [5 * 60, 30 * 60])
})
