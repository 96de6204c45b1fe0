// Deadlines: a caller waits no longer than its time (src/lib/deadline.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTime, inTimeOrNull, isTimeout, Overdue, within } from '../../src/lib/deadline.ts'

/** Longer than any test waits. */
const NEVER_MS = 60_000
const never = () => sleep(NEVER_MS, 'an answer', { ref: false })
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('an answer in time is the answer, and leaves no timer behind', async () => {
  const before = timers()
  assert.equal(await within(NEVER_MS, Promise.resolve(7), () => null), 7)
  assert.equal(timers(), before)
})

test('a failure in time is thrown, and leaves no timer behind', async () => {
  const before = timers()
  await assert.rejects(
    within(NEVER_MS, Promise.reject(new TypeError('wrong')), () => null),
    TypeError,
  )
  assert.equal(timers(), before)
})

test('if it is late, the caller gets the answer for that case', async () => {
  assert.equal(await within(1, never(), () => 'late'), 'late')
  await assert.rejects(
    within(1, never(), () => {
      throw new RangeError('late')
    }),
    RangeError,
  )
})

test('a failure after that is not left unhandled', async () => {
  const unhandled: unknown[] = []
  const note = (error: unknown) => unhandled.push(error)
  process.on('unhandledRejection', note)
  const failing = Promise.withResolvers<number>()
  assert.equal(await within(1, failing.promise, () => null), null)
  failing.reject(new Error('too late to matter'))
  await sleep(10)
  process.off('unhandledRejection', note)
  assert.deepEqual(unhandled, [])
})

test('a required call that is late is reported by its name', async () => {
  await assert.rejects(inTime('the database', 1, never()), (error) => {
    assert.ok(error instanceof Overdue)
    assert.equal(error.message, 'the database did not answer within 1 ms')
    return true
  })
  assert.equal(await inTime('the database', NEVER_MS, Promise.resolve('here')), 'here')
})

test('an optional value is null if it is late or fails, immediately or later', async () => {
  assert.equal(await inTimeOrNull(1, never), null)
  assert.equal(await inTimeOrNull(NEVER_MS, () => Promise.reject(new Error('away'))), null)
  const broken = () => {
    throw new Error('at once')
  }
  assert.equal(await inTimeOrNull(NEVER_MS, broken), null)
  assert.equal(await inTimeOrNull(NEVER_MS, async () => 3), 3)
})

test('a request that was given up on is distinguished from one that failed', async () => {
  const { reason } = await new Promise<AbortSignal>((resolve) => {
    const signal = AbortSignal.timeout(1)
    signal.addEventListener('abort', () => resolve(signal))
  })
  assert.ok(isTimeout(reason))
  assert.ok(!isTimeout(AbortSignal.abort().reason))
  assert.ok(!isTimeout(new Error('TimeoutError')))
})
