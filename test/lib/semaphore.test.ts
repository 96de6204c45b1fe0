// Limits of concurrency (src/lib/semaphore.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Crowded, Semaphore } from '../../src/lib/semaphore.ts'

const never = new AbortController().signal

test('some callers are admitted, some wait, and all others are turned away', async () => {
  const places = new Semaphore(2, 1)
  const leave = [await places.enter(), await places.enter()]
  const third = places.enter()
  await assert.rejects(places.enter(), Crowded)
  leave[0]?.()
  // Leaving twice must not admit another one.
  leave[0]?.()
  const leaveThird = await third
  const fourth = places.enter()
  let inside = false
  void fourth.then(() => {
    inside = true
  })
  await sleep(2)
  assert.equal(inside, false)
  leaveThird()
  ;(await fourth)()
})

test('a caller that gives up waiting leaves the queue to those behind', async () => {
  const places = new Semaphore(1, 5)
  const leave = await places.enter(never)
  const impatient = new AbortController()
  const gone = places.enter(impatient.signal)
  const patient = places.enter(never)
  impatient.abort(new Error('enough'))
  await assert.rejects(gone, /enough/)
  leave()
  ;(await patient)()
  await assert.rejects(places.enter(impatient.signal), /enough/)
  ;(await places.enter(never))()
})

test('waiting callers enter in their order, before one who comes when a place is free', async () => {
  const places = new Semaphore(1, 5)
  const order: string[] = []
  const enter = async (name: string) => {
    const leave = await places.enter()
    order.push(name)
    return leave
  }
  const leave = await enter('first')
  const waiting = [enter('second'), enter('third')]
  leave()
  const late = enter('late')
  for (const next of [...waiting, late]) (await next)()
  assert.deepEqual(order, ['first', 'second', 'third', 'late'])
})
