// Concurrency of an expensive call, and the sharing of its result (src/http/edge/single-flight.ts).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SingleFlight } from '../../src/http/edge/single-flight.ts'
import { until } from '../support/until.ts'

const flightsOf = (options: {
  concurrencyMax: number
  waitingMax: number
  keptMs?: number
  keeps?: (value: string) => boolean
}) => {
  const clock = { now: 0 }
  const flights = new SingleFlight<string>({
    clock: () => clock.now,
    keptMs: 1_000,
    keeps: () => false,
    ofCaller: { concurrencyMax: 1, waitingMax: 1 },
    ...options,
  })
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
  const asked = ['a', 'b', 'c', 'd', 'e'].map((key) => flights.run(key, key, act))
  assert.equal(await flights.run('f', 'f', act), null)
  assert.equal(doors.length, 2)
  const again = flights.run('a', 'another', act)
  for (let i = 0; i < 5; i++) {
    doors[i]?.(`answer ${i}`)
    await turn()
  }
  assert.deepEqual(await Promise.all(asked), ['answer 0', 'answer 1', 'answer 2', 'answer 3', 'answer 4'])
  assert.equal(await again, 'answer 0', 'who asks for the same shares the answer')
  assert.equal(most(), 2)
  const next = ['g', 'h'].map((key) => flights.run(key, key, act))
  await turn()
  assert.equal(doors.length, 7, 'the places are free again')
  for (const open of doors.slice(5)) open('')
  await Promise.all(next)
})

test('one caller gets few places, and others never wait for that caller’s other requests', async () => {
  const { flights, doors, act } = flightsOf({ concurrencyMax: 2, waitingMax: 9 })
  const greedy = ['a', 'b'].map((key) => flights.run(key, 'greedy', act))
  assert.equal(await flights.run('c', 'greedy', act), null, 'one runs and one waits')
  const other = flights.run('b', 'other', act)
  await turn()
  assert.equal(doors.length, 2)
  doors[1]?.('the other’s')
  assert.equal(await other, 'the other’s')
  await turn()
  assert.equal(doors.length, 2, 'the place stays free for others')
  doors[0]?.('first')
  await turn()
  doors[2]?.('again')
  assert.deepEqual(await Promise.all(greedy), ['first', 'again'])
})

test('one caller’s equal requests share one place, and the queue is retried before a refusal', async () => {
  const { flights, doors, act } = flightsOf({ concurrencyMax: 1, waitingMax: 0 })
  const same = Array.from({ length: 10 }, () => flights.run('a', 'one', act))
  const late = flights.run('b', 'another', act)
  await turn()
  doors[0]?.('shared')
  assert.deepEqual([...new Set(await Promise.all(same))], ['shared'])
  await until('its second try', () => doors.length === 2)
  doors[1]?.('late')
  assert.equal(await late, 'late')
})

test('a failure frees its place and is not remembered', async () => {
  const { flights } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keeps: () => true })
  for (let i = 0; i < 3; i++)
    await assert.rejects(
      flights.run('a', 'a', () => Promise.reject(new Error('no'))),
      /no/,
    )
  assert.equal(await flights.run('a', 'a', async () => 'yes'), 'yes')
})

test('a result worth keeping is answered again for its time, and not a moment longer', async () => {
  const keeps = (value: string) => value === '2'
  const { flights, clock } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keptMs: 500, keeps })
  let built = 0
  const build = async () => `${++built}`
  assert.equal(await flights.run('a', 'a', build), '1')
  assert.equal(await flights.run('a', 'a', build), '2')
  clock.now = 499
  assert.equal(await flights.run('a', 'a', build), '2')
  assert.equal(await flights.run('b', 'b', build), '3')
  clock.now = 500
  assert.equal(await flights.run('a', 'a', build), '4')
})

test('ten thousand answers are kept, the least recently used goes first', async () => {
  const { flights } = flightsOf({ concurrencyMax: 1, waitingMax: 0, keeps: () => true })
  for (let i = 0; i < 10_000; i++) await flights.run(`${i}`, `${i}`, async () => 'old')
  assert.equal(await flights.run('0', '0', async () => 'new'), 'old')
  await flights.run('one more', 'one more', async () => 'old')
  assert.equal(await flights.run('0', '0', async () => 'new'), 'old')
  assert.equal(await flights.run('2', '2', async () => 'new'), 'old')
  assert.equal(await flights.run('1', '1', async () => 'new'), 'new')
})
