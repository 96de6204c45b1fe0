// The sessions that passkeys open: keys like any other, which expire, are revoked with their passkey, grant no more
// than they have, and belong to their person alone. Real parts.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { operatorDeps } from '../../../src/boot/app.ts'
import { invite } from '../../../src/operator/acts/keys/passkeys.ts'
import { PUBLIC_URL, startService } from '../../support/http.ts'
import { KEYS, startDesk } from '../../support/operator.ts'
import { Authenticator } from './authenticator.ts'
import { as, CLI, codeIn, HOLDS_MS, openDoor } from './door.ts'

const SESSIONS_MAX = 10

describe('passkeys', () => {
  const door = openDoor()
  const { post, begin, lapse, codeFor, enrol, signIn, passkeyOf, audit } = door

  it('let a person in who was invited: their session has their label, their scopes and an end', async () => {
    assert.deepEqual((await door.desk.service.get('/api/passkeys')).json, { offered: false, whyNot: null })
    const made = await door.desk.post('keys/invite', { label: 'hana', scopes: ['read', 'operate'], reason: 'on call' })
    assert.equal(made.status, 200, made.text)
    assert.match(made.json.link, /^https:\/\/ledger\.example\/console#invite=nli_[\w-]{43}$/)
    assert.deepEqual(
      (await door.desk.get('keys')).json.invitations.map((row: { label: string }) => row.label),
      ['hana'],
    )
    const code = codeIn(made.json.link)
    const { options, ...whom } = await begin(code)
    assert.deepEqual([whom.label, whom.scopes], ['hana', ['read', 'operate']])
    assert.equal(options.rp.id, 'ledger.example')
    assert.deepEqual(
      [options.authenticatorSelection.userVerification, options.authenticatorSelection.residentKey],
      ['required', 'required'],
    )
    const { key, device, answer } = await enrol(code)
    assert.equal(answer.status, 200, answer.text)
    const self = (await door.desk.get('keys/self', as(key))).json
    const { id } = await passkeyOf('hana')
    assert.deepEqual([self.label, self.scopes, self.passkeyId], ['hana', ['read', 'operate'], id])
    const hours = (Date.parse(self.expiresAt) - Date.now()) / 3_600_000
    assert.ok(hours > 7.9 && hours <= 8, `${hours} hours`)
    lapse()
    assert.deepEqual((await door.desk.service.get('/api/passkeys')).json, { offered: true, whyNot: null })

    const again = await signIn(device)
    assert.equal(again.status, 200, again.text)
    assert.notEqual(again.json.key, key)
    const row = await passkeyOf('hana')
    assert.deepEqual([row.state, row.sessions, row.invitedBy], ['open', 2, 'ada'])
    assert.ok(row.usedAt)
    const { keys, invitations } = (await door.desk.get('keys')).json
    assert.deepEqual([keys, invitations], [[], []], 'its sessions are no rows of the list')
    // A sign-out ends only its own session.
    assert.equal((await door.desk.post('keys/self/sign-out', {}, as(key))).status, 200)
    lapse()
    assert.equal((await door.desk.get('keys/self', as(key))).status, 401)
    assert.equal((await door.desk.get('keys/self', as(again.json.key))).status, 200)
    assert.equal((await door.desk.post('keys/self/sign-out')).status, 409)
    assert.deepEqual(
      (await audit('signedIn')).map(({ actor, subject }) => [actor, subject]),
      [
        ['hana', `passkey ${id}`],
        ['hana', `passkey ${id}`],
      ],
    )
    for (const table of ['admin_keys', 'passkeys', 'passkey_invitations', 'audit', 'used_nonces']) {
      const text = JSON.stringify(await door.desk.world.pool.unsafe(`SELECT t::text FROM ${table} t`))
      for (const secret of [key, again.json.key, code]) assert.ok(!text.includes(secret.slice(4)), table)
    }
  })

  it('are revoked with their sessions and invitations, on every instance, within three seconds', async () => {
    const { device, key } = await enrol(await codeFor('mara', 'read,operate'))
    const sql = door.desk.world.pool
    const operator = operatorDeps(door.desk.world.ctx, sql)
    const other = await startService({ sql, readSql: sql, operator, settings: { adminKeys: KEYS } })
    const both = [door.desk.service, other]
    const second = (await signIn(device)).json.key as string
    const opens = async () =>
      Promise.all(
        both.flatMap((one) =>
          [key, second].map(async (each) => (await one.get('/api/admin/keys/self', as(each))).status),
        ),
      )
    assert.deepEqual(await opens(), [200, 200, 200, 200])
    const invited = (await door.desk.post('keys/invite', { label: 'maras', scopes: ['read'], expires: '1d' }, as(key)))
      .json
    const { id } = await passkeyOf('mara')
    assert.partialDeepStrictEqual((await door.desk.post(`passkeys/${id}/revoke`, { reason: 'left' })).json, {
      id,
      label: 'mara',
      revoked: true,
    })
    // A session that an instance still caches as open creates nothing that outlives it.
    for (const path of ['keys', 'keys/invite']) {
      const body = { label: 'maras', scopes: ['read'], expires: '1d' }
      const { status, json } = await other.post(`/api/admin/${path}`, body, as(second))
      assert.deepEqual([status, json.error], [403, 'Your key is revoked or has expired.'], path)
    }
    for (const one of both) one.clock.now += HOLDS_MS
    assert.deepEqual(await opens(), [401, 401, 401, 401])
    assert.equal((await signIn(device)).status, 401)
    assert.match((await post('/invitation', { code: codeIn(invited.link) })).json.error, /was revoked/)
    assert.equal((await door.desk.post(`passkeys/${id}/revoke`)).status, 409)
    assert.equal((await door.desk.post('passkeys/999999/revoke')).status, 404)
    await other.close()
    // Its expiry is final.
    const guest = await enrol(await codeFor('guest', 'read', '1h'))
    const { expiresAt } = (await door.desk.get('keys/self', as(guest.key))).json
    assert.ok(Date.parse(expiresAt) <= Date.now() + 3_600_000, 'no session outlives its passkey')
    await door.desk.world.pool`UPDATE passkeys SET expires_at = now() WHERE label = 'guest'`
    assert.equal((await signIn(guest.device)).status, 401)
  })

  it('give only their own scopes, in their own name, and only shortly after a sign-in', async () => {
    const { key, device } = await enrol(await codeFor('nora', 'read,operate', '10d'))
    const asked = async (body: object, by = key) => {
      const { status, json } = await door.desk.post('keys/invite', body, as(by))
      return [status, json.error ?? 'invited']
    }
    for (const [body, words] of [
      [{ label: 'x', scopes: ['read', 'terms'], expires: '1d' }, /cannot give scopes that it lacks: terms/],
      [{ label: 'x', scopes: ['read'], expires: '11d' }, /cannot be valid for longer/],
      [{ label: 'x', scopes: ['read'] }, /cannot be valid for longer/],
      [{ label: 'grace', scopes: ['read'], expires: '1d' }, /grace is another person's/],
      [{ label: 'mara', scopes: ['read'], expires: '1d' }, /mara is another person's/],
    ] as const) {
      const [status, error] = await asked(body)
      assert.equal(status, 403, error)
      assert.match(error, words)
    }
    // If someone else has invited a person who has not come yet, the name stays theirs.
    await codeFor('olga', 'read')
    assert.match((await asked({ label: 'olga', scopes: ['read'], expires: '1d' }))[1], /olga is another person's/)
    const makesKey = (by: string) =>
      door.desk.post('keys', { label: 'noras-bot', scopes: ['read'], expires: '9d' }, as(by))
    assert.deepEqual(await asked({ label: 'noras', scopes: ['read'], expires: '9d' }), [200, 'invited'])
    assert.equal((await makesKey(key)).status, 200, 'a key may end with the passkey, not with the session')
    await door.desk.world.pool`UPDATE admin_keys SET made_at = now() - interval '11 minutes' WHERE label = 'nora'`
    lapse()
    assert.match((await asked({ label: 'noras', scopes: ['read'], expires: '1d' }))[1], /within the last ten minutes/)
    assert.equal((await makesKey(key)).status, 403)
    const fresh = (await signIn(device)).json.key as string
    assert.deepEqual(await asked({ label: 'noras', scopes: ['read'], expires: '1d' }, fresh), [200, 'invited'])
    // An invitation ends with the key that made it.
    const maker = (await door.desk.post('keys', { label: 'maker', scopes: ['read', 'operate'] })).json
    const { link } = (
      await door.desk.post('keys/invite', { label: 'made', scopes: ['read'], expires: '1d' }, as(maker.key))
    ).json
    await door.desk.post(`keys/${maker.id}/revoke`)
    const late = { label: 'made', scopes: ['read'], expires: '1d' }
    assert.match((await door.desk.post('keys', late, as(maker.key))).json.error ?? 'made', /is revoked or has expired/)
    assert.match((await post('/invitation', { code: codeIn(link) })).json.error, /was revoked/)
  })

  it('keep ten sessions each, of which another sign-in ends the oldest', async () => {
    const { device, key } = await enrol(await codeFor('petra', 'read'))
    for (let i = 0; i < SESSIONS_MAX; i++) assert.equal((await signIn(device)).status, 200)
    assert.equal((await passkeyOf('petra')).sessions, SESSIONS_MAX)
    lapse()
    assert.equal((await door.desk.get('keys/self', as(key))).status, 401)
  })

  it('of one person are one person to the rule of the second', async () => {
    const [one, two] = [
      await enrol(await codeFor('sara', 'read,operate')),
      await enrol(await codeFor('sara', 'read,operate')),
    ]
    const other = await enrol(await codeFor('tina', 'read,operate'))
    const invited = await door.desk.post(
      'keys/invite',
      { label: 'uma', scopes: ['read', 'operate'], expires: '1d' },
      as(one.key),
    )
    const hers = await enrol(codeIn(invited.json.link))
    await door.desk.post('second-person', { aboveWei: '1' })
    const again = (await signIn(one.device)).json.key as string
    const propose = async () =>
      (await door.desk.post('second-person', { off: true }, as(one.key))).json.proposal.id as number
    const id = await propose()
    const confirm = (by: string) => door.desk.post(`proposals/${id}/confirm`, {}, as(by))
    const refused: [string, string, RegExp][] = [
      ['the session that proposed', one.key, /you proposed it yourself/],
      ['another session of the passkey', again, /you proposed it yourself/],
      ['another passkey of the person', two.key, /you proposed it yourself/],
      ['whom the person has invited', hers.key, /one of you made the other’s key/],
    ]
    for (const [what, by, words] of refused) {
      const { status, json } = await confirm(by)
      assert.equal(status, 403, what)
      assert.match(json.error, words)
    }
    assert.equal((await confirm(other.key)).status, 200, 'who was invited on the command line, as they were')
  })
})

describe('without a key in the settings', () => {
  it('a passkey opens the door with 401, an invitation does not yet, and one act ends them all', async () => {
    const desk = await startDesk({}, { http: { settings: { adminKeys: [] } } })
    const status = async (key = 'none') => {
      desk.service.clock.now += HOLDS_MS
      return (await desk.service.get('/api/admin/senders', { headers: { 'x-admin-key': key } })).status
    }
    const deps = { ...desk.world, environmentKeys: [], publicUrl: PUBLIC_URL }
    const invited = async (label: string) => (await invite(deps, CLI, { label, scopes: 'read' })) as { link: string }
    const code = (await invited('vera')).link.split('=')[1]
    assert.equal(await status(), 404)
    const { options } = (await desk.service.post('/api/passkeys/invitation', { code })).json
    const credential = new Authenticator(PUBLIC_URL).make(options)
    const { key } = (await desk.service.post('/api/passkeys/make', { code, credential })).json
    assert.equal(await status(key), 200)
    await desk.world.pool`UPDATE admin_keys SET expires_at = now()`
    assert.equal(await status(key), 401, 'nobody has a session now, and somebody can have one')
    await invited('wanda')
    const { revokeAllKeys } = await import('../../../src/operator/acts/keys/admin-keys.ts')
    assert.deepEqual(await revokeAllKeys(desk.world, CLI, {}), { revoked: 0, passkeys: 1, invitations: 1 })
    assert.equal(await status(key), 404)
    await desk.close()
  })
})
