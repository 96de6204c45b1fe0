// Headers of every answer: caching verbatim, entity tags, sessions, CORS, methods, request ids.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { insertAllowlist } from '../../src/db/sale/allowlists.ts'
import { insertReferral } from '../../src/db/sale/referrals.ts'
import { hash } from '../../src/domain/units.ts'
import { PUBLIC_URL, type Service, startService } from '../support/http.ts'
import { insertSmallLedger, walletOf } from '../support/http-ledger.ts'

/** A wallet that a list does not have: what is answered for a list that there is. */
const LISTED = `/api/allowlists/0x${'11'.repeat(32)}/${walletOf(1)}`
/** Specification, section 8; the API's document settles the routes that it leaves open. */
const CACHE: Record<string, string> = {
  '/api/stats': 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  '/api/cover': 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  [`/api/nodes/${walletOf(1)}`]: 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
  '/api/node/1': 'public, max-age=0, s-maxage=5, stale-while-revalidate=15',
  '/api/distributions': 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  '/api/distributions/1/turns': 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  '/api/deploy-quote': 'public, max-age=0, s-maxage=30, stale-while-revalidate=90',
  '/api/tiers': 'public, max-age=0, s-maxage=30, stale-while-revalidate=90',
  [LISTED]: 'public, max-age=0, s-maxage=60',
  '/api/referrals/friends': 'public, max-age=0, s-maxage=10',
  '/api/price': 'public, max-age=60',
  '/api/openapi.json': 'public, max-age=300',
  '/.well-known/node-ledger.json': 'public, max-age=60',
}
const LIMITED: Record<string, number> = {
  '/api/stats': 120,
  '/api/cover': 60,
  '/api/tiers': 60,
  [LISTED]: 60,
  '/api/referrals/friends': 60,
  [`/api/nodes/${walletOf(1)}`]: 60,
  '/api/node/1': 60,
  '/api/distributions': 60,
  '/api/distributions/1/turns': 60,
  '/api/deploy-quote': 60,
  '/api/openapi.json': 60,
}

describe('headers', () => {
  let service: Service
  before(async () => {
    service = await startService()
    await insertSmallLedger(service.sql)
    const list = { root: hash(`0x${'11'.repeat(32)}`), label: 'a list', entries: 1, allocated: 1, enteredBy: 'test' }
    await insertAllowlist(service.sql, list)
    const code = { code: 'friends', payee: walletOf(1), commissionBps: 500, opensAt: null, closesAt: null, waitSec: 0 }
    await insertReferral(service.sql, code, { version: 1, fromBlock: 1, enteredBy: 'test' })
  })
  after(() => service.close())

  for (const [path, cache] of Object.entries(CACHE)) {
    it(`${path} is cached as "${cache}", with a strong tag that yields a 304`, async () => {
      const first = await service.get(path)
      assert.equal(first.status, 200)
      assert.equal(first.headers['cache-control'], cache)
      const etag = first.headers.etag ?? ''
      assert.match(etag, /^"[A-Za-z0-9_-]+"$/)
      for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const again = await service.get(path, { headers: { 'if-none-match': tags } })
        assert.equal(again.status, 304, tags)
        assert.deepEqual([again.headers.etag, again.headers['cache-control']], [etag, cache])
      }
      assert.equal((await service.get(path, { headers: { 'if-none-match': '"other"' } })).status, 200)
    })

    it(`${path} is kept by no cache when a session cookie comes along`, async () => {
      const { status, headers } = await service.get(path, { headers: { cookie: 'a=b; nl_session=whatever' } })
      assert.equal(status, 200)
      assert.equal(headers['cache-control'], 'private, no-store')
      assert.equal(headers.etag, undefined)
    })

    it(`HEAD ${path} is GET without the body`, async () => {
      const [get, head] = [await service.get(path), await service.ask('HEAD', path)]
      assert.equal(head.status, 200)
      for (const name of ['content-type', 'content-length', 'etag', 'cache-control'])
        assert.equal(head.headers[name], get.headers[name], name)
    })

    it(`OPTIONS ${path} is 204, and pages of any origin may read it`, async () => {
      const preflight = await service.ask('OPTIONS', path, {
        headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'GET' },
      })
      assert.equal(preflight.status, 204)
      assert.equal(preflight.headers.allow, 'GET, HEAD, OPTIONS')
      assert.equal(preflight.headers['access-control-allow-origin'], '*')
      const { headers } = await service.get(path, { headers: { origin: 'https://elsewhere.example' } })
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.match(headers['access-control-expose-headers'] ?? '', /x-ratelimit-remaining.*retry-after/)
      assert.equal(headers['access-control-allow-credentials'], undefined)
    })

    it(`OPTIONS ${path} is kept by no cache when a session cookie comes along`, async () => {
      const { headers } = await service.ask('OPTIONS', path, { headers: { cookie: 'nl_session=whatever' } })
      assert.equal(headers['cache-control'], 'private, no-store')
      assert.equal((await service.ask('OPTIONS', path)).headers['cache-control'], 'no-store')
    })

    it(`other methods on ${path} are 405 with what is allowed`, async () => {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY']) {
        const answer = await service.ask(method, path, { headers: { 'x-http-method-override': 'GET' } })
        assert.equal(answer.status, 405, method)
        assert.equal(answer.headers.allow, 'GET, HEAD, OPTIONS')
      }
      service.clock.now += 60_000
    })
  }

  it('sends the rate headers on limited endpoints, on success and failure, and on no other', async () => {
    service.clock.now = Math.ceil(service.clock.now / 60_000) * 60_000 + 12_000
    for (const path in CACHE) {
      const { headers } = await service.get(path)
      const limit = LIMITED[path]
      assert.equal(headers['x-ratelimit-limit'], limit?.toString(), path)
      assert.equal(headers['x-ratelimit-remaining'], limit && (limit - 1).toString(), path)
      const reset = Math.ceil(service.clock.now / 60_000) * 60
      assert.equal(headers['x-ratelimit-reset'], limit && reset.toString(), path)
      assert.equal(headers['ratelimit-policy'], limit && `"default";q=${limit};w=60`, path)
      assert.equal(headers.ratelimit, limit && `"default";r=${limit - 1};t=48`, path)
      assert.equal(headers['retry-after'], undefined)
    }
    for (const path of ['/api/node/x', '/api/node/99', '/api/distributions?limit=0'])
      assert.equal((await service.get(path)).headers['x-ratelimit-limit'], '60', path)
    assert.equal((await service.get('/api/me')).headers['x-ratelimit-limit'], '120')
    assert.equal((await service.get('/api/cron/health')).headers['x-ratelimit-limit'], '600')
    assert.equal((await service.get('/readyz')).headers['x-ratelimit-limit'], '600')
  })

  it('never lets an error be kept', async () => {
    for (const path of [
      '/api/node/x',
      '/api/node/99',
      '/nowhere',
      '/api/price?x=%',
      '/api/admin/x',
      '/api/cron/credit',
    ]) {
      const { headers } = await service.get(path)
      assert.match(headers['cache-control'] ?? '', /^no-store$|^public/, path)
      const { headers: withSession, status } = await service.get(path, { headers: { cookie: 'nl_session=x' } })
      assert.equal(withSession['cache-control'], 'private, no-store', `${path} ${status}`)
    }
    assert.equal((await service.get('/api/me')).headers['cache-control'], 'private, no-store')
    assert.equal((await service.post('/api/nodes/sync', {})).headers['cache-control'], 'private, no-store')
    assert.equal((await service.get('/api/cron/health')).headers['cache-control'], 'no-store')
    assert.equal((await service.get('/api/auth/nonce')).headers['cache-control'], 'no-store')
  })

  it('keeps session, admin and cron routes to pages of our own', async () => {
    const headers = { origin: 'https://elsewhere.example' }
    for (const path of ['/api/me', '/api/auth/nonce', '/api/admin/x', '/api/cron/payments']) {
      const answer = await service.get(path, { headers })
      assert.equal(answer.headers['access-control-allow-origin'], undefined, path)
    }
    const own = await service.get('/api/me', { headers: { origin: PUBLIC_URL } })
    assert.equal(own.headers['access-control-allow-origin'], undefined)
    for (const path of ['/api/me', '/api/auth/verify', '/api/nodes/sync']) {
      const preflight = await service.ask('OPTIONS', path, { headers })
      assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, undefined], path)
    }
    const claim = await service.ask('OPTIONS', '/api/payments/claim', { headers })
    assert.deepEqual([claim.status, claim.headers['access-control-allow-origin']], [204, '*'])
    assert.equal(claim.headers['access-control-allow-headers']?.includes('content-type'), true)
  })

  it('accepts a request id that is safe to show, and otherwise makes one', async () => {
    const taken = await service.get('/api/stats', { headers: { 'x-request-id': 'abc-123_X.y' } })
    assert.equal(taken.headers['x-request-id'], 'abc-123_X.y')
    for (const id of ['a b', 'x'.repeat(129), '<script>', 'é', '']) {
      const { headers } = await service.get('/api/stats', { headers: { 'x-request-id': id } })
      assert.match(headers['x-request-id']?.toString() ?? '', /^[0-9a-f-]{36}$/, id)
    }
  })

  it('lets no header or parameter that it does not know change what others are given', async () => {
    const { text, headers } = await service.get('/api/distributions')
    const unkeyed = {
      'x-forwarded-host': 'evil.example',
      'x-original-url': '/api/admin',
      'x-rewrite-url': '/api/admin',
      accept: 'text/html',
      'accept-language': 'de',
      'accept-version': '2',
      origin: 'https://evil.example',
      range: 'bytes=0-1',
    }
    const again = await service.get('/api/distributions?callback=x&_method=DELETE&utm=1', { headers: unkeyed })
    assert.deepEqual([again.status, again.text, again.headers.etag], [200, text, headers.etag])
    assert.equal(again.headers['set-cookie'], undefined)
  })

  it('reveals nothing of its software', async () => {
    const { headers } = await service.get('/api/stats')
    assert.equal(headers.server, undefined)
    assert.equal(headers['x-powered-by'], undefined)
  })
})
