// The failpoints, and the calls made at them (src/lib/failpoint.ts). test/faults/crashes.long.test.ts kills real processes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf } from '../../src/lib/errors.ts'
import { armFailpoint, FAILPOINTS, FailpointError, failpoint, watchFailpoints } from '../../src/lib/failpoint.ts'

test('no point is armed in production', () => {
  assert.throws(
    () => armFailpoint('mint.sent', { production: true }),
    (error) => error instanceof FailpointError && kindOf(error) === 'refused' && /is refused/.test(error.message),
  )
})

test('an unknown point is refused with the list of points', () => {
  assert.throws(
    () => armFailpoint('mint.sending', { production: false }),
    /there is no point mint\.sending.*mint\.sent/,
  )
})

test('without a name nothing is armed, in production either, and the points are passed', () => {
  for (const name of [undefined, '']) for (const production of [true, false]) armFailpoint(name, { production })
  for (const point of FAILPOINTS) failpoint(point)
})

test('a simulation hears of every point until it has seen enough', () => {
  const seen: string[] = []
  watchFailpoints((point) => seen.push(point))
  failpoint('follow.stored')
  failpoint('mint.signed')
  watchFailpoints(null)
  failpoint('mint.sent')
  assert.deepEqual(seen, ['follow.stored', 'mint.signed'])
})
