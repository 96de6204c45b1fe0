// Rate limits: windows, counters that no caller can reset or exhaust, and what callers see of them, behind proxies as well.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Limits } from '../../src/http/edge/limits.ts'
import { type AskOptions, type Service, startService } from '../support/http.ts'

const MINUTE_MS = 60_000
const client = (index: number) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`

describe('counters', () => {
  it('count down to zero and no further, and begin again with the minute', () => {
    let now = 100 * MINUTE_MS + 59_000
    const limits = new Limits(() => now)
    const remaining = [1, 2, 3, 4].map(() => limits.take(0, 2, client(1)))
    assert.deepEqual(
      remaining.map((state) => [state.remaining, state.exceeded]),
      [
        [1, false],
        [0, false],
        [0, true],
        [0, true],
      ],
    )
    assert.deepEqual([remaining[0]?.reset, remaining[0]?.retryAfter], [101 * 60, 1])
    now += 1_000
    const next = limits.take(0, 2, client(1))
    assert.deepEqual([next.remaining, next.reset, next.retryAfter], [1, 102 * 60, 60])
  })

  it('are apart for each endpoint and each caller', () => {
    const limits = new Limits(() => 0)
    for (const [bucket, caller] of [
      [0, client(1)],
      [1, client(1)],
      [0, client(2)],
      [0, '2001:db8:0:1'],
      [0, '2001:db8:0:2'],
    ] as const)
      assert.equal(limits.take(bucket, 5, caller).remaining, 4)
  })

  it('of a million callers are bounded, and none is forgotten within its window', () => {
    let now = 0
    const limits = new Limits(() => now)
    for (let i = 0; i < 10; i++) limits.take(3, 10, client(7))
    for (let i = 0; i < 1_000_000; i++) limits.take(3, 10, client(1_000 + i))
    assert.ok(limits.size <= 200_000 + 65_536, `${limits.size} counters`)
    assert.equal(limits.take(3, 10, client(7)).exceeded, true)
    assert.equal(limits.take(3, 10, client(1_000)).remaining, 8)
    assert.equal(limits.take(3, 10, client(200_900)).remaining, 8)
    now = MINUTE_MS
    limits.take(3, 10, client(7))
    assert.equal(limits.size, 1, 'they go with their window')
  })

  it('that no longer fit are shared: this refuses callers early, never late, and old ones stay', () => {
    const limits = new Limits(() => 0, 1_000)
    for (let i = 0; i < 2; i++) limits.take(0, 2, client(7))
    for (let i = 0; i < 200_000; i++) limits.take(0, 2, client(1_000 + i))
    assert.ok(limits.size <= 1_000 + 65_536, `${limits.size} counters`)
    assert.equal(limits.isSpent(0, 2, client(7)), true)
    assert.equal(limits.take(0, 2, client(7)).exceeded, true)
    // 200,000 newcomers over 65,536 shared counters: most are used up.
    let refused = 0
    for (let i = 0; i < 1_000; i++) {
      const newcomer = client(2_000_000 + i)
      const isSpent = limits.isSpent(0, 2, newcomer)
      const { exceeded } = limits.take(0, 2, newcomer)
      assert.equal(exceeded, isSpent)
      if (exceeded) refused++
    }
    assert.ok(refused > 500, `${refused} of 1000`)
    for (let i = 0; i < 11; i++) limits.take(1, 10, client(3_000_000))
    assert.equal(limits.take(1, 10, client(3_000_000)).exceeded, true)
  })

  it('go by the window of the clock, also when it steps back', () => {
    let now = 100 * MINUTE_MS
    const limits = new Limits(() => now)
    limits.take(0, 1, client(1))
    now -= 60 * MINUTE_MS
    const state = limits.take(0, 1, client(1))
    assert.deepEqual([state.exceeded, state.reset], [false, 41 * 60])
    assert.equal(limits.take(0, 1, client(1)).exceeded, true)
  })
})

describe('limits over HTTP', () => {
  let service: Service
  let proxied: Service
  before(async () => {
    service = await startService()
    proxied = await startService({ settings: { trustedProxies: ['127.0.0.0/8'] } })
  })
  after(async () => {
    await service.close()
    await proxied.close()
  })
  const spend = async (on: Service, path: string, times: number, options: (i: number) => AskOptions = () => ({})) => {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) statuses.push((await on.get(path, options(i))).status)
    return statuses
  }

  it('answers 429 past the limit with the time to retry, and 200 in the next minute', async () => {
    await spend(service, '/api/tiers', 60, () => ({ from: '127.0.0.2' }))
    const refused = await service.get('/api/tiers', { from: '127.0.0.2' })
    assert.equal(refused.status, 429)
    assert.deepEqual(
      ['x-ratelimit-limit', 'x-ratelimit-remaining', 'retry-after'].map((name) => refused.headers[name]),
      ['60', '0', '30'],
    )
    assert.equal(refused.json.error, 'Too many requests: try again in 30 s.')
    assert.equal((await service.get('/api/tiers', { from: '127.0.0.3' })).status, 200)
    assert.equal((await service.get('/api/cover', { from: '127.0.0.2' })).status, 200)
    service.clock.now += 30_000
    assert.equal((await service.get('/api/tiers', { from: '127.0.0.2' })).status, 200)
  })

  it('believes no forwarding header of a peer that is not trusted', async () => {
    const forged = (i: number) => ({
      from: '127.0.0.4',
      headers: { 'x-forwarded-for': `9.9.9.${i}`, 'x-real-ip': `9.9.8.${i}`, forwarded: `for=9.9.7.${i}` },
    })
    const statuses = await spend(service, '/api/cover', 61, forged)
    assert.deepEqual([statuses.filter((s) => s === 200).length, statuses.at(-1)], [60, 429])
  })

  it('counts callers behind a trusted proxy separately, with anything put in front', async () => {
    const through = (i: number) => ({ headers: { 'x-forwarded-for': `9.9.9.${i}, 203.0.113.5` } })
    const statuses = await spend(proxied, '/api/cover', 61, through)
    assert.equal(statuses.at(-1), 429)
    const other = await proxied.get('/api/cover', { headers: { 'x-forwarded-for': '203.0.113.6' } })
    assert.equal(other.status, 200)
  })

  it('limits no caller on price and cron, and a health monitor far above one request a second', async () => {
    for (const path of ['/api/price', '/api/cron/health', '/api/cron/credit']) {
      const statuses = await spend(service, path, 150)
      assert.equal(statuses.includes(429), false, path)
    }
  })

  it('gives nonce, verify, sync and logout a bucket each, and limits before it reads the session', async () => {
    service.clock.now += MINUTE_MS
    for (const [path, limit] of [
      ['/api/auth/nonce', 20],
      ['/api/auth/verify', 20],
      ['/api/nodes/sync', 20],
      ['/api/auth/logout', 30],
      ['/api/payments/claim', 20],
    ] as const) {
      let status = 0
      for (let i = 0; i <= limit; i++) {
        assert.notEqual(status, 429, `${path} after ${i}`)
        status = (await service.post(path, {})).status
      }
      assert.equal(status, 429, path)
    }
    assert.equal((await service.get('/api/auth/nonce')).status, 429, 'GET and POST share a bucket')
    assert.equal((await service.get('/api/me')).status, 401)
  })
})
