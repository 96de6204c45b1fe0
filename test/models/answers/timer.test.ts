// The timer: src/passes/scheduler.ts, over runs that find few or many payments, fail, or are not made, and with runs from elsewhere in between, runs the passes when the
// second reading does. The clock is the test's own.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import fc from 'fast-check'
import { silentLog } from '../../../src/lib/log.ts'
import { createScheduler } from '../../../src/passes/scheduler.ts'
import { cases } from '../../support/property.ts'
import * as model from './timer.ts'

let now = 0
beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
  mock.method(performance, 'now', () => now)
})
afterEach(() => {
  mock.timers.reset()
  mock.restoreAll()
})

const STEP_MS = 200
const waiting = fc.constantFrom<model.Found>(0, 0, 1, 1, 2, 200, 201, 201, 401, 'notRun', 'fault')
const beside = fc.constantFrom<number | 'notRun'>(0, 1, 1, 201, 401, 'notRun')
const drawn = fc.record({
  tickSec: fc.constantFrom(3, 7, 20),
  /** What own runs find; the last one again and again. */
  finds: fc.array(waiting, { minLength: 1, maxLength: 6 }),
  /** So many steps, and what a run from elsewhere finds after them. */
  besides: fc.array(fc.record({ steps: fc.constantFrom(1, 3, 6, 25, 110), found: fc.option(beside) }), {
    minLength: 1,
    maxLength: 4,
  }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const outcomeOf = (found: Exclude<model.Found, 'fault'>) =>
  ({ ran: found !== 'notRun', pending: found === 'notRun' ? null : found }) as never
/** The loop's promises are done. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function compare({ tickSec, finds, besides }: Drawn): Promise<void> {
  now = 0
  let [runs, next] = [0, null as Exclude<model.Found, 'fault'> | null]
  const credited: unknown[] = []
  const found = (nth: number) => finds[Math.min(nth, finds.length - 1)] ?? 0
  const payments = async () => {
    if (next !== null) return outcomeOf(next)
    const own = found(runs)
    runs += 1
    if (own === 'fault') throw new Error('no database')
    return outcomeOf(own)
  }
  const credit = async (paid: unknown) => {
    credited.push(paid)
    return {} as never
  }
  const scheduler = createScheduler({ payments, credit }, tickSec, silentLog)
  const timer: model.Timer = { tickMs: tickSec * 1_000, pending: 0, backlog: false, inVain: 0, endsAt: 0 }
  let expected = 0
  const due = () => {
    if (timer.endsAt > now) return
    model.learn(timer, found(expected), { isOwn: true })
    expected += 1
    timer.endsAt = now + model.pauseMs(timer)
  }
  const stop = scheduler.start()
  await settled()
  due()
  for (const one of besides) {
    for (let step = 0; step < one.steps; step++) {
      now += STEP_MS
      mock.timers.tick(STEP_MS)
      await settled()
      due()
      assert.equal(runs, expected, `runs after ${now} ms`)
    }
    if (one.found === null) continue
    next = one.found
    await scheduler.payments()
    next = null
    await settled()
    model.learnBeside(timer, one.found, now)
  }
  const ended = stop()
  now += 60_000
  mock.timers.tick(60_000)
  await ended
  assert.equal(runs, expected, 'nothing runs once it is stopped')
  const paid = Array.from({ length: expected }, (_, n) => found(n))
  assert.deepEqual(
    credited,
    paid.map((one) => (one === 'fault' ? null : outcomeOf(one))),
  )
}

test('the passes run a tick apart, sooner while payments wait, and every second in a backlog', async () => {
  await fc.assert(fc.asyncProperty(drawn, compare), { numRuns: cases(400) })
})
