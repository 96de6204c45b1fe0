// The frame of the admin routes: keys and actors, a request sent twice, and the format of refusals.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'

describe('the admin routes', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
  })
  after(() => desk.close())
  const auditOf = async (action: string) => (await desk.get(`audit?action=${action}`)).json.entries

  it('record the key’s label in the audit log, with the request, and what was before and after', async () => {
    const headers = { 'x-admin-key': KEYS[1]?.key, 'x-request-id': 'req-1' }
    const paused = await desk.post('pause', { reason: 'the treasury moves' }, { headers })
    const says = 'Crediting is paused. The service still accepts payments and mints.'
    assert.deepEqual([paused.status, paused.json], [200, { paused: true, changed: true, says }])
    assert.equal(paused.headers['cache-control'], 'private, no-store')
    const [entry] = await auditOf('paused')
    assert.equal(entry.actor, 'grace')
    assert.equal(entry.requestId, 'req-1')
    assert.deepEqual(entry.detail, { before: false, after: true, reason: 'the treasury moves' })
    assert.match(entry.at, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
    assert.partialDeepStrictEqual((await desk.post('resume')).json, { paused: false, changed: true })
  })

  it('report that nothing changed, and leave no row then', async () => {
    const before = (await auditOf('unpaused')).length
    assert.partialDeepStrictEqual((await desk.post('resume', {})).json, { paused: false, changed: false })
    assert.equal((await auditOf('unpaused')).length, before)
  })

  it('refuse wrong input with all that is wrong with it', async () => {
    const refused = await desk.get('audit?limit=0&cursor=x')
    assert.equal(refused.status, 400)
    assert.match(refused.json.error, /limit must be a whole number from 1 to 200; cursor must be/)
    for (const body of ['{', '[]', '{"reason": 5}', `{"reason": "${'x'.repeat(501)}"}`, '{"reason": "a\\u0007b"}'])
      assert.equal((await desk.post('pause', body, { headers: { 'content-type': 'application/json' } })).status, 400)
    assert.match((await desk.post('pause', { reason: 'two\nlines' })).json.error, /without line breaks/)
    assert.equal((await desk.get('audit?limit=5&limit=6')).status, 400)
    assert.equal((await desk.post('pause', 'reason=x', { headers: { 'content-type': 'text/plain' } })).status, 400)
  })

  it('check the key before the method, the route and the input', async () => {
    const noKey = { headers: { 'x-admin-key': 'wrong' } }
    assert.equal((await desk.get('audit?limit=0', noKey)).status, 401)
    assert.equal((await desk.post('pause', '{', noKey)).status, 401)
    const unkeyed = await desk.get('pause', noKey)
    assert.deepEqual([unkeyed.status, unkeyed.headers.allow], [401, undefined])
    assert.equal((await desk.get('no/such/route', noKey)).status, 401)
    const wrongMethod = await desk.get('pause')
    assert.deepEqual([wrongMethod.status, wrongMethod.headers.allow], [405, 'POST, OPTIONS'])
    assert.equal((await desk.get('no/such/route')).status, 404)
  })

  it('take no act from a page of another origin', async () => {
    const evil = { headers: { origin: 'https://evil.example' } }
    assert.equal((await desk.post('pause', {}, evil)).status, 401)
    const answer = await desk.get('audit', evil)
    assert.equal(answer.headers['access-control-allow-origin'], undefined)
    assert.equal((await desk.post('resume', {}, { headers: { origin: 'https://ledger.example' } })).status, 200)
  })

  it('page through the audit log, newest first, each row once', async () => {
    for (let i = 0; i < 6; i++) await desk.post(i % 2 ? 'resume' : 'pause')
    const seen: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { json }: { json: { entries: { id: number }[]; nextCursor: string | null } } = await desk.get(
        `audit?limit=2${cursor && `&cursor=${cursor}`}`,
      )
      assert.ok(json.entries.length <= 2)
      seen.push(...json.entries.map((entry) => entry.id))
      cursor = json.nextCursor
    }
    assert.deepEqual(
      seen,
      [...new Set(seen)].sort((a, b) => b - a),
    )
    assert.equal(seen.length, (await desk.world.pool`SELECT FROM audit`).count)
  })

  it('answer 503 while the database is away', async () => {
    const away = await startDesk()
    try {
      await away.world.pool.end({ timeout: 0 })
      assert.equal((await away.get('audit')).status, 503)
      assert.equal((await away.post('pause')).status, 503)
    } finally {
      await away.close()
    }
  })
})

describe('an Idempotency-Key', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
  })
  after(() => desk.close())
  const under = (key: string | string[], extra: object = {}) => ({ headers: { 'idempotency-key': key, ...extra } })

  it('has an act done once, and the same request answered the same again', async () => {
    const first = await desk.post('pause', { reason: 'a' }, under('k-1'))
    const again = await desk.post('pause', { reason: 'a' }, under('k-1'))
    assert.partialDeepStrictEqual(first.json, { paused: true, changed: true })
    assert.equal(again.text, first.text)
    assert.equal((await desk.world.pool`SELECT FROM audit WHERE action = 'paused'`).count, 1)
  })

  it('is refused with another body, or on another route', async () => {
    for (const answer of [
      await desk.post('pause', { reason: 'b' }, under('k-1')),
      await desk.post('resume', { reason: 'a' }, under('k-1')),
    ]) {
      assert.equal(answer.status, 422)
      assert.match(answer.json.error, /used for another request/)
    }
  })

  it('belongs to its actor', async () => {
    const grace = under('k-1', { 'x-admin-key': KEYS[1]?.key })
    assert.partialDeepStrictEqual((await desk.post('resume', {}, grace)).json, { paused: false, changed: true })
  })

  it('of a request in progress gets 409, and is taken over if that request was cut off', async () => {
    const pending = (ageSec: number) => desk.world.pool`
      INSERT INTO idempotency_keys (actor, key, digest, started_at)
      SELECT 'ada', ${`k-${ageSec}`}, digest, now() - make_interval(secs => ${ageSec}) FROM idempotency_keys WHERE actor = 'ada' AND key = 'k-1'`
    await pending(5)
    await pending(61)
    assert.equal((await desk.post('pause', { reason: 'a' }, under('k-5'))).status, 409)
    assert.equal((await desk.post('pause', { reason: 'a' }, under('k-61'))).status, 200)
  })

  it('used by many callers together does the act once', async () => {
    await desk.post('resume')
    const answers = await Promise.all(Array.from({ length: 8 }, () => desk.post('pause', {}, under('k-many'))))
    const statuses = answers.map(({ status }) => status)
    assert.ok(statuses.includes(200))
    assert.ok(
      statuses.every((status) => status === 200 || status === 409),
      statuses.join(),
    )
    for (const { status, json } of answers)
      if (status === 200) assert.partialDeepStrictEqual(json, { paused: true, changed: true })
  })

  it('of a refused request may be used again: the request is judged again', async () => {
    assert.equal((await desk.post('halt/clear', {}, under('k-halt'))).status, 409)
    await desk.world.pool`INSERT INTO troubles (name, value) VALUES ('halted',
      '{"reason": "tooDeep", "since": "2026-01-01T00:00:00.000Z", "detail": {}, "looks": 9, "sealed": true}')`
    const cleared = await desk.post('halt/clear', {}, under('k-halt'))
    assert.deepEqual([cleared.status, cleared.json.cleared.reason], [200, 'tooDeep'])
    assert.equal((await desk.post('halt/clear', {}, under('k-halt'))).text, cleared.text)
  })

  it('is refused if it is no key', async () => {
    for (const key of ['', 'x'.repeat(129), 'two words'])
      assert.equal((await desk.post('pause', {}, under(key))).status, 400)
  })

  it('is forgotten after two days', async () => {
    await desk.world.pool`UPDATE idempotency_keys SET started_at = now() - interval '49 hours'`
    await desk.post('pause', {}, under('k-new'))
    const kept = await desk.world.pool<{ key: string }[]>`SELECT key FROM idempotency_keys`
    assert.deepEqual([...kept.map(({ key }) => key)], ['k-new'])
  })
})
