// Concurrency of an expensive call, and the sharing of its result (src/http/edge/single-flight.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SingleFlight } from '../../src/http/edge/single-flight.ts'

const flightsOf = (options: {
  concurrencyMax: number
  waitingMax: number
  keptMs?: number
  keeps?: (value: string) => boolean
}) => {
  const clock = { now: 0 }
  const flights = new SingleFlight<string>({ clock: () => clock.now, keptMs: 1_000, keeps: () => false, ...options })
  const doors: ((value: string) => void)[] = []
  let inside = 0
  let most = 0
  const act = () => {
    most = Math.max(most, ++inside)
    return new Promise<string>((resolve) =>
      doors.push((value) => {
        inside--
        resolve(value)
      }),
    )
  }
  return { clock, flights, doors, act, most: () => most }
}

test('only so many are let through at a time, so many wait, and the others are turned away', async () => {
  const { flights, doors, act, most } = flightsOf({ concurrencyMax: 2, waitingMax: 3 })
  const asked = ['a', 'b', 'c', 'd', 'e'].map((key) => flights.run(key, act))
  assert.equal(await flights.run('f', act), null)
  await turn()
  assert.equal(doors.length, 2)
  const again = flights.run('a', act)
  for (let i = 0; i < 5; i++) {
    doors[i]?.(`answer ${i}`)
    await turn()
  }
  assert.deepEqual(await Promise.all(asked), ['answer 0', 'answer 1', 'answer 2', 'answer 3', 'answer 4'])
  assert.equal(await again, 'answer 0', 'who asks for the same shares the answer')
  assert.equal(most(), 2)
  const next = ['g', 'h'].map((key) => flights.run(key, act))
  await turn()
  assert.equal(doors.length, 7, 'the places are free again')
  for (const open of doors.slice(5)) open('')
  await Promise.all(next)
})

test('a failure frees its place and is not remembered', async () => {
  const { flights } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keeps: () => true })
  for (let i = 0; i < 3; i++)
    await assert.rejects(
      flights.run('a', () => Promise.reject(new Error('no'))),
      /no/,
    )
  assert.equal(await flights.run('a', async () => 'yes'), 'yes')
})

test('a result worth keeping is answered again for its time, and not a moment longer', async () => {
  const keeps = (value: string) => value === '2'
  const { flights, clock } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keptMs: 500, keeps })
  let built = 0
  const build = async () => `${++built}`
  assert.equal(await flights.run('a', build), '1')
  assert.equal(await flights.run('a', build), '2')
  clock.now = 499
  assert.equal(await flights.run('a', build), '2')
  assert.equal(await flights.run('b', build), '3')
  clock.now = 500
  assert.equal(await flights.run('a', build), '4')
})

test('ten thousand answers are kept, the least recently used goes first', async () => {
  const { flights } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keeps: () => true })
  for (let i = 0; i < 10_000; i++) await flights.run(`${i}`, async () => 'old')
  assert.equal(await flights.run('0', async () => 'new'), 'old')
  await flights.run('one more', async () => 'old')
  assert.equal(await flights.run('0', async () => 'new'), 'old')
  assert.equal(await flights.run('2', async () => 'new'), 'old')
  assert.equal(await flights.run('1', async () => 'new'), 'new')
})
