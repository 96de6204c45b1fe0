// GET /api/price: one upstream fetch a minute for all callers on all instances, and no price without a quote.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type Service, startService } from '../support/http.ts'

const older = (service: Service, seconds: number) => {
  service.clock.now += seconds * 1000
  return service.sql`UPDATE price SET attempted_at = attempted_at - make_interval(secs => ${seconds})`
}
const usd = async (service: Service) => {
  const { status, json } = await service.get('/api/price')
  assert.equal(status, 200)
  return json.usd
}

it('requests upstream once for a stampede, then once a minute, on all instances together', async () => {
  let fetches = 0
  const priceFeed = async () => {
    fetches++
    return 3000 + fetches
  }
  const service = await startService({ priceFeed })
  const other = await startService({
    priceFeed,
    sql: service.sql,
    readSql: service.sql,
    clock: () => service.clock.now,
  })
  const answers = await Promise.all(Array.from({ length: 300 }, () => service.get('/api/price')))
  assert.deepEqual(new Set(answers.map((answer) => answer.json.usd)), new Set([3001]))
  assert.equal(await usd(other), 3001)
  // Leaves half a minute for this test to run in.
  await older(service, 30)
  assert.deepEqual([await usd(service), await usd(other), fetches], [3001, 3001, 1])
  await older(service, 31)
  assert.equal(await usd(service), 3002)
  await older(service, 6)
  assert.deepEqual([await usd(other), fetches], [3002, 2])
  await other.close()
  await service.close()
})

it('answers null while upstream fails, and requests it no more often', async () => {
  let fetches = 0
  let quote: () => Promise<number | null> = async () => 3000
  const service = await startService({
    priceFeed: () => {
      fetches++
      return quote()
    },
  })
  assert.equal(await usd(service), 3000)
  for (const bad of [
    async () => null,
    () => Promise.reject(new Error('https://key@upstream')),
    async () => Number.NaN,
    async () => -1,
    async () => 0,
    async () => Number.POSITIVE_INFINITY,
    async () => '3000' as never,
  ]) {
    quote = bad
    await older(service, 61)
    const before = fetches
    for (let i = 0; i < 5; i++) assert.equal(await usd(service), null)
    await older(service, 30)
    assert.equal(await usd(service), null)
    assert.equal(fetches, before + 1)
  }
  await service.close()
})

it('shows no price whose minute is long over while a new one is sought elsewhere', async () => {
  const sought = Promise.withResolvers<void>()
  const found = Promise.withResolvers<number>()
  const slow = await startService({
    priceFeed: () => {
      sought.resolve()
      return found.promise
    },
  })
  const other = await startService({ priceFeed: async () => 1, sql: slow.sql, readSql: slow.sql })
  await slow.sql`INSERT INTO price (usd, attempted_at) VALUES (2500, now() - interval '3 hours')`
  const asked = slow.get('/api/price')
  await sought.promise
  assert.equal(await usd(other), null)
  found.resolve(3100)
  assert.equal((await asked).json.usd, 3100)
  await other.close()
  await slow.close()
})

it('is null, without any request, if no upstream is configured', async () => {
  const service = await startService({ priceFeed: null })
  assert.equal(await usd(service), null)
  await service.close()
})
