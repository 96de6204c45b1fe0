// Wrong admin keys: counted for each address, refused with 429 after so many in a minute. The right key is never refused.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { ADMIN_KEY, type Service, startService } from '../support/http.ts'
import { until } from '../support/until.ts'

const PER_MINUTE = 20

describe('wrong admin keys', () => {
  let service: Service
  beforeEach(async () => {
    service = await startService()
  })
  afterEach(() => service.close())

  const ask = (key: string | null, path = '/api/admin/config', from = '127.0.0.1', method = 'GET') =>
    service.ask(method, path, { from, headers: key === null ? {} : { 'x-admin-key': key } })
  const guess = async (count: number, from?: string) => {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) statuses.push((await ask(`guess-${i}`, undefined, from)).status)
    return statuses
  }

  it('are 401 so many times a minute, then 429 for that address alone', async () => {
    const statuses = await guess(PER_MINUTE + 5)
    assert.deepEqual(statuses, [...Array(PER_MINUTE).fill(401), ...Array(5).fill(429)])
    const refused = await ask('guess')
    assert.equal(refused.headers['x-ratelimit-limit'], String(PER_MINUTE))
    assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)
    assert.equal(refused.json.error, `Too many requests: try again in ${refused.headers['retry-after']} s.`)
    assert.equal((await ask('guess', undefined, '127.0.0.2')).status, 401)
    service.clock.now += 60_000
    assert.equal((await ask('guess')).status, 401)
  })

  it('are counted together over all routes and methods', async () => {
    const targets = [
      ['GET', '/api/admin/config'],
      ['POST', '/api/admin/pause'],
      ['OPTIONS', '/api/admin/pause'],
      ['DELETE', '/api/admin/nowhere'],
      ['GET', '/api/admin'],
    ] as const
    const statuses: number[] = []
    for (let i = 0; i < PER_MINUTE + 5; i++) {
      const [method, path] = targets[i % targets.length] ?? targets[0]
      statuses.push((await ask('guess', path, undefined, method)).status)
    }
    assert.deepEqual(statuses, [...Array(PER_MINUTE).fill(401), ...Array(5).fill(429)])
  })

  it('are reported at twenty within ten minutes, and again at the next ten', async () => {
    const told = async () => (await service.sql`SELECT FROM audit WHERE action = 'wrongAdminKeys'`).count
    await guess(PER_MINUTE - 1, '127.0.0.3')
    assert.equal(await told(), 0)
    await guess(1, '127.0.0.4')
    await until('the first report', async () => (await told()) === 1)
    service.clock.now += 599_999
    await guess(PER_MINUTE, '127.0.0.5')
    service.clock.now += 1
    await guess(PER_MINUTE - 1, '127.0.0.6')
    assert.equal(await told(), 1)
    await guess(1, '127.0.0.7')
    await until('the second report', async () => (await told()) === 2)
  })

  it('leave the right key alone, before and after, and it leaves their count alone', async () => {
    for (let i = 0; i < PER_MINUTE + 5; i++) assert.equal((await ask(ADMIN_KEY)).status, 200)
    assert.deepEqual(await guess(PER_MINUTE), Array(PER_MINUTE).fill(401))
    assert.equal((await ask('guess')).status, 429)
    assert.equal((await ask(ADMIN_KEY)).status, 200)
    assert.equal((await ask(ADMIN_KEY, '/api/admin/nowhere')).status, 404)
  })

  it('are not what a request without any key is', async () => {
    for (let i = 0; i < PER_MINUTE + 5; i++) assert.equal((await ask(null)).status, 401)
    assert.equal((await ask('guess')).status, 401)
  })

  it('come before method, existence and OPTIONS: a stranger learns nothing of the routes', async () => {
    const answers = new Set<string>()
    for (const path of ['/api/admin', '/api/admin/pause', '/api/admin/tiers/x', '/api/admin/nowhere']) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND']) {
        const { status, headers, json } = await ask(null, path, undefined, method)
        answers.add(JSON.stringify([status, headers.allow ?? null, method === 'HEAD' ? null : json]))
      }
    }
    assert.deepEqual([...answers].sort(), ['[401,null,null]', '[401,null,{"error":"Unauthorized."}]'])
    const options = await ask(ADMIN_KEY, '/api/admin/pause', undefined, 'OPTIONS')
    assert.deepEqual([options.status, options.headers.allow], [204, 'POST, OPTIONS'])
    assert.equal((await ask(ADMIN_KEY, '/api/admin/pause')).status, 405)
  })
})
