// When an intent of the outbox is useless.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLapsed } from '../../src/db/sends/outbox.ts'

test('an intent is useless once its time is over, or if its guard may be out of sight', () => {
  const intent = { guardBlock: 100, validUntil: 5_000 }
  assert.equal(isLapsed(intent, { number: 355, time: 5_000 }), false)
  assert.equal(isLapsed(intent, { number: 101, time: 5_001 }), true)
  assert.equal(isLapsed(intent, { number: 356, time: 4_000 }), true)
  assert.equal(isLapsed({ ...intent, guardBlock: null }, { number: 9_999, time: 5_000 }), false)
})
