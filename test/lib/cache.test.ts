// The cache: it returns a value again for its time, all concurrent callers share one reading, and memory is bounded
// (src/lib/cache.ts). test/http/memo.test.ts checks the same cache against the ledger's changes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Cache, type CacheOptions, shared } from '../../src/lib/cache.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const AGE_MS = 5_000

function cacheOf<T = string>(options: Partial<CacheOptions<T>> = {}) {
  const clock = { now: 0 }
  const seen: string[] = []
  const cache = new Cache<T>({
    clock: () => clock.now,
    weightMax: 100,
    observe: (result) => seen.push(result),
    ...options,
  })
  return { clock, cache, seen }
}

test('a cached value is returned without a promise, until its age and no longer', async () => {
  const { cache, clock, seen } = cacheOf()
  assert.equal(await cache.get('a', AGE_MS, async () => 'first'), 'first')
  clock.now = AGE_MS - 1
  assert.equal(
    cache.get('a', AGE_MS, async () => 'second'),
    'first',
  )
  clock.now = AGE_MS
  assert.equal(await cache.get('a', AGE_MS, async () => 'second'), 'second')
  clock.now = AGE_MS - 1
  assert.equal(await cache.get('a', AGE_MS, async () => 'third'), 'third', 'a clock that stepped back')
  assert.deepEqual(seen, ['miss', 'hit', 'miss', 'miss'])
})

test('a reading counts its age from its beginning', async () => {
  const { cache, clock } = cacheOf()
  const reading = Promise.withResolvers<string>()
  const first = cache.get('a', AGE_MS, () => reading.promise)
  clock.now = AGE_MS - 1
  reading.resolve('slow')
  assert.equal(await first, 'slow')
  assert.equal(
    cache.get('a', AGE_MS, async () => 'new'),
    'slow',
  )
  clock.now = AGE_MS
  assert.equal(await cache.get('a', AGE_MS, async () => 'new'), 'new')
})

test('simultaneous callers share one reading, even if nothing is cached', async () => {
  const { cache, seen } = cacheOf()
  let read = 0
  const ask = () => cache.get('a', 0, async () => `${++read}`)
  assert.deepEqual(await Promise.all([ask(), ask(), ask()]), ['1', '1', '1'])
  assert.equal(await ask(), '2')
  assert.deepEqual(seen, ['miss', 'joined', 'joined', 'miss'])
})

test('all who share a failure get it, and it is not cached, even one before any promise', async () => {
  const { cache } = cacheOf()
  const refuse = () => Promise.reject(new Error('away'))
  const asked = [cache.get('a', AGE_MS, refuse), cache.get('a', AGE_MS, refuse)]
  for (const answer of asked) await assert.rejects(async () => answer, /away/)
  const broken = () => {
    throw new Error('broken')
  }
  await assert.rejects(async () => cache.get('a', AGE_MS, broken), /broken/)
  assert.equal(await cache.get('a', AGE_MS, async () => 'here'), 'here')
})

test('only values that the cache’s rule accepts are cached', async () => {
  const { cache } = cacheOf<string | null>({ keeps: (value) => value !== null })
  assert.equal(await cache.get('a', AGE_MS, async () => null), null)
  assert.equal(await cache.get('a', AGE_MS, async () => 'found'), 'found')
  assert.equal(
    cache.get('a', AGE_MS, async () => null),
    'found',
  )
})

test('a reading that began before the cache was cleared is neither kept nor joined', async () => {
  const { cache } = cacheOf()
  const reading = Promise.withResolvers<string>()
  const before = cache.get('a', AGE_MS, () => reading.promise)
  cache.clear()
  const after = cache.get('a', AGE_MS, async () => 'after')
  reading.resolve('before')
  assert.deepEqual([await before, await after], ['before', 'after'])
  assert.equal(
    cache.get('a', AGE_MS, async () => 'never'),
    'after',
  )
})

test('its weight is bounded: the least recently used goes first, a too heavy value is not kept', async () => {
  const { cache } = cacheOf({ weightMax: 10, weightOf: (value) => value.length })
  const read: string[] = []
  const ask = (key: string, value: string) =>
    cache.get(key, AGE_MS, async () => {
      read.push(key)
      return value
    })
  for (const key of ['a', 'b']) await ask(key, '12345')
  await ask('a', '')
  await ask('c', '12345')
  await ask('a', '')
  assert.deepEqual(read, ['a', 'b', 'c'])
  await ask('heavy', '12345678901')
  await ask('heavy', '')
  await ask('b', '12345')
  assert.deepEqual(read, ['a', 'b', 'c', 'heavy', 'heavy', 'b'])
})

test('a value that is too old is forgotten when another comes, even if there is room', async () => {
  const { cache, clock } = cacheOf<object>()
  const remember = async (key: string) => new WeakRef(await cache.get(key, AGE_MS, async () => ({})))
  const [first, second] = [await remember('first'), await remember('second')]
  clock.now = AGE_MS - 1
  const third = await remember('third')
  const held = () => {
    collectGarbage()
    return [first, second, third].map((value) => value.deref() !== undefined)
  }
  // A WeakRef keeps its target until the turn of the event loop ends.
  await new Promise(setImmediate)
  assert.deepEqual(held(), [true, true, true])
  clock.now = AGE_MS
  await remember('fourth')
  await new Promise(setImmediate)
  assert.deepEqual(held(), [false, false, true])
})

test('one reading shared by all begins at most once in its time, unless it fails', async () => {
  let now = 0
  let read = 0
  let away = false
  const ask = shared(async () => (away ? Promise.reject(new Error('away')) : ++read), {
    ageMaxMs: AGE_MS,
    clock: () => now,
  })
  assert.deepEqual(await Promise.all([ask(), ask()]), [1, 1])
  now = AGE_MS
  away = true
  await assert.rejects(ask(), /away/)
  away = false
  assert.equal(await ask(), 2)
  assert.equal(await ask(), 2)
})
