// Admin keys of the ledger: what each scope opens, how to create, use and revoke one, and what its thief cannot do with it. Real parts.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SCOPES, type Scope } from '../../../src/domain/keys/admin-key.ts'
import { buildRoutes } from '../../../src/http/routes.ts'
import { buildTools } from '../../../src/http/tools.ts'
import { startService } from '../../support/http.ts'
import { adminDocument } from '../../support/http-contract.ts'
import { type Desk, KEYS, startDesk } from '../../support/operator.ts'
import { until } from '../../support/until.ts'

const HOLDS_MS = 3_000
const PER_MINUTE = 20
const [ADA] = KEYS

const SETTINGS = {
  publicUrl: 'http://x',
  frameAncestors: [],
  sessionSecret: 'x'.repeat(32),
  previousSessionSecret: null,
}
/** Every operation of the admin routes, with its declared scope; null means any key. */
const ROUTES = buildRoutes(buildTools({ settings: SETTINGS, clock: () => 0 } as never))
  .filter(({ path, methods }) => path.startsWith('/api/admin/') && methods !== 'any')
  .flatMap(({ path, methods, scopes }) =>
    (methods as readonly ('GET' | 'POST')[]).map((method) => ({
      method,
      path,
      scope: scopes === null ? null : scopes?.[method],
    })),
  )

describe('the scopes of the admin routes', () => {
  it('are declared by each route, and in the document, and none is unused', () => {
    for (const { method, path, scope } of ROUTES) {
      const described = adminDocument.paths[path.replaceAll(/:(\w+)/g, '{$1}')][method.toLowerCase()]
      assert.equal(scope ?? 'any', described['x-scope'], `${method} ${path}`)
      assert.equal(scope === null, /\/(keys\/self(\/sign-out)?|proposals\/:id\/\w+)$/.test(path), `${method} ${path}`)
    }
    assert.deepEqual(new Set(ROUTES.map(({ scope }) => scope)), new Set([...SCOPES, null]))
  })
})

describe('admin keys of the ledger', () => {
  let desk: Desk
  before(async () => {
    desk = await startDesk()
  })
  after(() => desk.close())

  const by = (key: string, extra: object = {}) => ({ headers: { 'x-admin-key': key, ...extra } })
  const make = async (label: string, scopes: readonly Scope[], more: object = {}, options = {}) => {
    const { status, json, text } = await desk.post('keys', { label, scopes, ...more }, options)
    assert.equal(status, 200, text)
    return json as { id: number; key: string; expiresAt: string }
  }
  const lapse = () => {
    desk.service.clock.now += HOLDS_MS
  }

  it('each open what their scope allows, and a sentence names the scope that they lack', async () => {
    const keys = new Map<Scope, string>()
    for (const scope of SCOPES) keys.set(scope, (await make(`only-${scope}`, [scope])).key)
    for (const { method, path, scope } of ROUTES)
      for (const held of SCOPES.filter((one) => scope !== null && one !== scope)) {
        const answer = await desk.service.ask(method, path.replaceAll(/:\w+/g, '1'), by(keys.get(held) ?? ''))
        assert.equal(answer.status, 403, `${held}: ${method} ${path}`)
        assert.equal(answer.json.error, `Your key may not do that: it lacks the scope ${scope}.`)
      }
    const opened: [Scope, string, string, number][] = [
      ['read', 'GET', 'senders', 200],
      ['decide', 'POST', 'payments/1/release', 404],
      ['prices', 'POST', 'tiers', 400],
      ['terms', 'POST', 'terms/cancel', 400],
      ['operate', 'POST', 'pause', 200],
      ['operate', 'POST', 'resume', 200],
    ]
    for (const [scope, method, path, status] of opened)
      assert.equal(
        (await desk.service.ask(method, `/api/admin/${path}`, by(keys.get(scope) ?? ''))).status,
        status,
        path,
      )
    // Any key may learn methods and routes, and its own scopes.
    const reader = keys.get('read') ?? ''
    assert.equal((await desk.service.ask('GET', '/api/admin/pause', by(reader))).status, 405)
    assert.equal((await desk.service.ask('GET', '/api/admin/nowhere', by(reader))).status, 404)
    const { json } = await desk.get('keys/self', by(reader))
    assert.deepEqual([json.label, json.scopes], ['only-read', ['read']])
    const none = { id: null, expiresAt: null, passkeyId: null }
    assert.deepEqual((await desk.get('keys/self')).json, { ...none, label: 'ada', scopes: SCOPES })
  })

  it('act under their label; their use is on record to the minute, beside the request', async () => {
    const { id, key } = await make('grace-2', ['read', 'operate'])
    assert.equal((await desk.post('pause', { reason: 'x' }, by(key))).status, 200)
    await desk.post('resume', {}, by(key))
    const [row] = await desk.world.pool<{ actor: string }[]>`SELECT actor FROM audit ORDER BY id DESC LIMIT 1`
    assert.equal(row?.actor, 'grace-2')
    const usedAt = () =>
      until('its use is on record', async () => {
        const [used] = await desk.world.pool<
          { at: Date | null }[]
        >`SELECT used_at AS at FROM admin_keys WHERE id = ${id}`
        return used?.at ?? null
      })
    const first = await usedAt()
    lapse()
    assert.equal((await desk.get('senders', by(key))).status, 200)
    assert.deepEqual(await usedAt(), first)
    const { json } = await desk.get('keys')
    assert.deepEqual(json.environment, ['ada', 'grace'])
    const listed = json.keys.find((one: { id: number }) => one.id === id)
    assert.equal(listed.state, 'open')
    assert.equal(listed.madeBy, 'ada')
    assert.ok(!JSON.stringify(json).includes(key))
  })

  it('are revoked without a restart: on every instance, within three seconds', async () => {
    const other = await startService({
      sql: desk.world.pool,
      readSql: desk.world.pool,
      settings: { adminKeys: KEYS },
    })
    const { id, key } = await make('leaver', ['read'])
    const both = [desk.service, other]
    const statuses = async () =>
      Promise.all(both.map(async (one) => (await one.get('/api/admin/keys/self', by(key))).status))
    assert.deepEqual(await statuses(), [200, 200])
    const revoked = await desk.post(`keys/${id}/revoke`, { reason: 'left' })
    assert.partialDeepStrictEqual(revoked.json, { id, label: 'leaver', revoked: true })
    for (const one of both) one.clock.now += HOLDS_MS
    assert.deepEqual(await statuses(), [401, 401])
    assert.equal((await desk.post(`keys/${id}/revoke`)).status, 409)
    assert.equal((await desk.post('keys/999999/revoke')).status, 404)
    await other.close()
  })

  it('end by themselves', async () => {
    const { id, key } = await make('guest', ['read'], { expires: '1h' })
    assert.equal((await desk.get('senders', by(key))).status, 200)
    await desk.world.pool`UPDATE admin_keys SET expires_at = now() WHERE id = ${id}`
    lapse()
    assert.equal((await desk.get('senders', by(key))).status, 401)
    assert.equal((await desk.get('keys')).json.keys.find((one: { id: number }) => one.id === id).state, 'expired')
  })

  it('make no key that is stronger, lives longer or has another name, and revoke no stronger one', async () => {
    const { key } = await make('junior', ['read', 'operate'], { expires: '30d' })
    const strong = await make('senior', ['read', 'terms'])
    const ask = async (body: object) => {
      const { status, json } = await desk.post('keys', body, by(key))
      return [status, json.error ?? 'made']
    }
    const refused: [object, RegExp][] = [
      [{ label: 'bot', scopes: ['read', 'terms'], expires: '1d' }, /cannot give scopes that it lacks: terms/],
      [{ label: 'bot', scopes: ['read'], expires: '31d' }, /cannot be valid for longer/],
      [{ label: 'bot', scopes: ['read'] }, /cannot be valid for longer/],
      [{ label: 'ada', scopes: ['read'], expires: '1d' }, /ada is another person's/],
      [{ label: 'senior', scopes: ['read'], expires: '1d' }, /senior is another person's/],
    ]
    for (const [body, words] of refused) {
      const [status, error] = await ask(body)
      assert.equal(status, 403, error)
      assert.match(error, words)
    }
    assert.deepEqual(await ask({ label: 'bot', scopes: ['read'], expires: '1d' }), [200, 'made'])
    assert.deepEqual(await ask({ label: 'bot', scopes: ['read'], expires: '1d' }), [200, 'made'], 'it renews its own')
    const above = await desk.post(`keys/${strong.id}/revoke`, {}, by(key))
    assert.equal(above.status, 403)
    assert.match(above.json.error, /more scopes than yours: terms/)
    const own = (await desk.get('keys/self', by(key))).json.id
    assert.equal((await desk.post(`keys/${own}/revoke`, {}, by(key))).status, 200)
  })

  it('are refused with each thing that is wrong', async () => {
    const wrong: [object, RegExp][] = [
      [{ label: 'x y', scopes: [] }, /label must be at most 32 letters.*scopes must be some of/],
      [{ label: 'pass', scopes: ['read'] }, /the service uses this name itself/],
      [{ label: 'x', scopes: ['read', 'all'] }, /scopes must be some of read, decide/],
      [{ label: 'x', scopes: ['read'], expires: '367d' }, /expires must be a time like 90d/],
      [{ label: 'x', scopes: ['read'], expires: '0d' }, /expires must be a time like 90d/],
      [{ label: 'x', scopes: ['read'], expires: 'never' }, /expires must be a time like 90d/],
    ]
    for (const [body, words] of wrong) {
      const { status, json } = await desk.post('keys', body)
      assert.equal(status, 400)
      assert.match(json.error, words)
    }
  })

  it('are shown once: neither the answer of an Idempotency-Key nor any other row holds one', async () => {
    const once = { headers: { 'idempotency-key': 'make-one' } }
    const first = await make('shown-once', ['read'], {}, once)
    assert.match(first.key, /^nlk_[\w-]{43}$/)
    assert.deepEqual(await make('shown-once', ['read'], {}, once), { ...first, key: null })
    for (const table of ['admin_keys', 'audit', 'idempotency_keys']) {
      const rows = await desk.world.pool.unsafe(`SELECT t::text FROM ${table} t`)
      assert.ok(rows.length > 0)
      assert.ok(!JSON.stringify(rows).includes(first.key.slice(4)), table)
    }
  })

  it('are limited if they are wrong, like any other, and the right one never is', async () => {
    const { key } = await make('steady', ['read'])
    desk.service.clock.now += 60_000
    const wrong = (i: number) => `nlk_${String(i).padStart(43, 'x')}`
    assert.equal((await desk.get('senders', by(key))).status, 200)
    const statuses: number[] = []
    for (let i = 0; i < PER_MINUTE + 2; i++) statuses.push((await desk.get('senders', by(wrong(i)))).status)
    assert.deepEqual(statuses, [...Array(PER_MINUTE).fill(401), 429, 429])
    lapse()
    assert.equal((await desk.get('senders', by(key))).status, 200)
    const told = await until('a row in the audit log', async () => {
      const rows = await desk.world.pool<{ detail: object }[]>`SELECT detail FROM audit WHERE action = 'wrongAdminKeys'`
      return rows.length > 0 ? rows : null
    })
    assert.equal(told.length, 1)
    assert.doesNotMatch(JSON.stringify(told), /nlk_|xxx/)
  })
})

describe('without a key in the settings', () => {
  it('everything is 404 until the ledger has a key, and again once none opens', async () => {
    const desk = await startDesk({}, { http: { settings: { adminKeys: [] } } })
    const status = async (key = 'none') =>
      (await desk.service.get('/api/admin/senders', { headers: { 'x-admin-key': key } })).status
    assert.equal(await status(), 404)
    const { createKey, revokeAllKeys } = await import('../../../src/operator/acts/keys/admin-keys.ts')
    const actor = { name: 'cli:test', requestId: null }
    const given = { label: 'first', scopes: 'read' }
    const { key } = (await createKey({ ...desk.world, environmentKeys: [] }, actor, given)) as { key: string }
    assert.equal(await status(key), 200, 'at once')
    desk.service.clock.now += HOLDS_MS
    assert.equal(await status(), 401)
    await revokeAllKeys(desk.world, actor, {})
    desk.service.clock.now += HOLDS_MS
    assert.equal(await status(key), 404)
    await desk.close()
  })
})

describe('while the database is away', () => {
  it('keys of the settings open; one that only the ledger could know is 503, any other text 401', async () => {
    const desk = await startDesk()
    const status = async (key: string) =>
      (await desk.service.get('/api/admin/config', { headers: { 'x-admin-key': key } })).status
    await desk.world.pool.end({ timeout: 0 })
    assert.equal(await status(ADA?.key ?? ''), 200)
    assert.equal(await status(`nlk_${'a'.repeat(43)}`), 503)
    assert.equal(await status('guess'), 401)
    await desk.close()
  })
})
