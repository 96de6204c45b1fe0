// What anyone may send to the sign-in routes, rightly or wrongly: an invited person creates a passkey once, the service checks where, when
// and by whom each answer was signed, and refuses all else. Real parts; the device is one in software, so it can be wrong.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { relyingPartyAt } from '../../../src/domain/keys/passkey.ts'
import { PUBLIC_URL, startService } from '../../support/http.ts'
import { KEYS, startDesk } from '../../support/operator.ts'
import { meetAt } from '../../support/postgres.ts'
import { until } from '../../support/until.ts'
import { Authenticator, type Said } from './authenticator.ts'
import { codeIn, MINUTE_MS, openDoor } from './door.ts'

const CHALLENGE_MS = 300_000
const PER_MINUTE = 20

describe('the relying party', () => {
  it('is the service’s name by https or one’s own machine, and an address has none', () => {
    const cases: [string, { id: string; origin: string } | null][] = [
      ['https://ledger.example', { id: 'ledger.example', origin: 'https://ledger.example' }],
      ['https://a.ledger.example:8443', { id: 'a.ledger.example', origin: 'https://a.ledger.example:8443' }],
      ['http://localhost:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
      ['http://127.0.0.1:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
      ['http://[::1]:3000', { id: 'localhost', origin: 'http://localhost:3000' }],
      ['http://ledger.example', null],
      ['https://192.0.2.7', null],
      ['https://[2001:db8::1]', null],
    ]
    for (const [url, party] of cases) assert.deepEqual(relyingPartyAt(url), party, url)
  })
})

describe('passkeys', () => {
  const door = openDoor()
  const { post, challenge, begin, codeFor, enrol, signIn, audit } = door

  it('are made once by an invitation, in its time, by the holder of its code', async () => {
    const code = await codeFor('iris', 'read')
    const { options } = await begin(code)
    const first = new Authenticator(PUBLIC_URL)
    const second = new Authenticator(PUBLIC_URL)
    const answers = await meetAt(
      door.desk.world.pool,
      (sql) => sql`SELECT FROM passkey_invitations WHERE label = 'iris' FOR UPDATE`,
      [first, second].map((device) => () => post('/make', { code, credential: device.make(options) })),
    )
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409])
    assert.equal((await post('/invitation', { code })).json.error, 'This invitation was used: ask for another one.')

    const late = await codeFor('late', 'read')
    const asked = await begin(late)
    await door.desk.world.pool`UPDATE passkey_invitations SET expires_at = now() WHERE label = 'late'`
    assert.equal((await post('/invitation', { code: late })).status, 409)
    const made = await post('/make', { code: late, credential: first.make(asked.options) })
    assert.match(made.json.error, /has expired/)

    const open = (await door.desk.post('keys/invite', { label: 'taken', scopes: ['read'] })).json
    assert.equal((await door.desk.post(`invitations/${open.id}/revoke`)).status, 200)
    assert.match((await post('/invitation', { code: codeIn(open.link) })).json.error, /was revoked/)
    assert.equal((await door.desk.post(`invitations/${open.id}/revoke`)).status, 409)
    assert.equal((await door.desk.post('invitations/999999/revoke')).status, 404)
    for (const wrong of [`nli_${'a'.repeat(43)}`, 'nli_', '', 7, null, ['x'], { toString: 1 }])
      assert.equal((await post('/invitation', { code: wrong })).status, 404, JSON.stringify(wrong))
    // A challenge for one person does not serve another.
    const mine = await codeFor('mine', 'read')
    const theirs = (await begin(await codeFor('theirs', 'read,operate'))).options
    assert.equal((await post('/make', { code: mine, credential: second.make(theirs) })).status, 401)
    const known = (
      await door.desk.world.pool<{ id: Buffer }[]>`SELECT credential_id AS id FROM passkeys WHERE label = 'iris'`
    )[0]?.id
    const again = known?.toString('base64url') === first.id ? first : second
    assert.equal((await enrol(mine, {}, again)).answer.status, 401, 'one device makes the same one twice')
    assert.equal((await enrol(mine)).answer.status, 200)
  })

  it('must fit the origin that made and signed them, and a person whom the device verified', async () => {
    const code = await codeFor('jane', 'read')
    const wrong: [string, Said][] = [
      ['another origin', { origin: 'https://ledger.example.evil' }],
      ['a sub-domain', { origin: 'https://a.ledger.example' }],
      ['http', { origin: 'http://ledger.example' }],
      ['another relying party', { rpId: 'evil.example' }],
      ['nobody verified', { isVerified: false }],
      ['nobody there', { isPresent: false }],
    ]
    for (const [what, said] of [...wrong, ['an answer to sign in', { type: 'webauthn.get' }] as const])
      assert.equal((await enrol(code, said)).answer.status, 401, what)
    door.desk.service.clock.now += MINUTE_MS
    const { device, key } = await enrol(code)
    assert.ok(key)
    const stranger = new Authenticator(PUBLIC_URL)
    const pretender = Object.assign(new Authenticator(PUBLIC_URL), { id: device.id })
    for (const [what, said] of [...wrong, ['an answer to make one', { type: 'webauthn.create' }] as const])
      assert.equal((await signIn(device, said)).status, 401, what)
    door.desk.service.clock.now += MINUTE_MS
    assert.equal((await signIn(stranger)).status, 401, 'a passkey that nobody made here')
    assert.equal((await signIn(pretender)).status, 401, 'a signature of another key')
    assert.equal((await signIn(device, {}, { headers: { origin: 'https://evil.example' } })).status, 401)
    assert.equal((await signIn(device)).status, 200)
  })

  it('sign each challenge once, within five minutes, on any instance, and for its purpose only', async () => {
    const code = await codeFor('kim', 'read')
    const { options } = await begin(code)
    const device = new Authenticator(PUBLIC_URL)
    const forSigning = await challenge()
    assert.equal((await post('/make', { code, credential: device.make(forSigning) })).status, 401)
    assert.equal((await post('/make', { code, credential: device.make(options) })).status, 200)
    assert.equal((await post('/sign-in', { credential: device.sign(options) })).status, 401)

    const used = device.sign(forSigning)
    assert.equal((await post('/sign-in', { credential: used })).status, 200)
    for (const replay of [used, device.sign(forSigning)]) {
      const { status, json } = await post('/sign-in', { credential: replay })
      assert.deepEqual([status, json.error], [401, 'The challenge was used or has expired: try again.'])
    }
    const old = await challenge()
    door.desk.service.clock.now += CHALLENGE_MS
    assert.equal((await post('/sign-in', { credential: device.sign(old) })).status, 401)

    const settings = { adminKeys: KEYS }
    const [sql, readSql] = [door.desk.world.pool, door.desk.world.pool]
    const other = await startService({ sql, readSql, settings, clock: () => door.desk.service.clock.now })
    const foreign = await startService({ sql, readSql, settings: { ...settings, sessionSecret: 'x'.repeat(32) } })
    const elsewhere = device.sign(await challenge(other))
    assert.equal((await post('/sign-in', { credential: elsewhere })).status, 200, 'asked for there, used here')
    assert.equal((await post('/sign-in', { credential: elsewhere }, {}, other)).status, 401, 'and not there as well')
    assert.equal((await post('/sign-in', { credential: device.sign(await challenge(foreign)) })).status, 401)
    const text = Buffer.from((await challenge()).challenge, 'base64url').toString()
    const forged = Buffer.from(text.replace('signIn', 'signIN')).toString('base64url')
    assert.equal((await post('/sign-in', { credential: device.sign({ challenge: forged }) })).status, 401)
    await other.close()
    await foreign.close()
  })

  it('that may be copies are refused and reported, but never on a stranger’s word', async () => {
    const { device } = await enrol(await codeFor('lena', 'read'))
    assert.equal((await signIn(device, { counter: 9 })).status, 200)
    const stranger = new Authenticator(PUBLIC_URL)
    assert.equal((await signIn(device, { counter: 3, key: stranger.key })).status, 401)
    assert.deepEqual(await audit('passkeyCopied'), [], 'the counter of a signature that is none tells nothing')
    for (const counter of [9, 8, 0]) assert.equal((await signIn(device, { counter })).status, 401, `${counter}`)
    const rows = await audit('passkeyCopied')
    assert.deepEqual(
      rows.map(({ actor }) => actor),
      ['lena', 'lena', 'lena'],
    )
    assert.equal((await signIn(device, { counter: 10 })).status, 200)
    // A device without a counter stays at zero.
    const plain = await enrol(await codeFor('lara', 'read'))
    for (let i = 0; i < 2; i++) assert.equal((await signIn(plain.device, { counter: 0 })).status, 200)
  })

  it('answer junk with its fault, and store nothing of it', async () => {
    const { device } = await enrol(await codeFor('quinn', 'read'))
    const right = device.sign(await challenge()) as { response: object }
    const junk: [unknown, number][] = [
      ...[null, 7, 'x', [], {}, { response: 7 }, { response: { clientDataJSON: 7 } }].map((each): [unknown, number] => [
        each,
        400,
      ]),
      [{ response: { clientDataJSON: Buffer.from('{').toString('base64url') } }, 400],
      [{ response: { clientDataJSON: Buffer.from('{"challenge":"x"}').toString('base64url') } }, 401],
      [{ ...right, id: 7 }, 401],
      [{ ...right, id: 'x'.repeat(2_000) }, 401],
      [{ ...right, rawId: 'other' }, 401],
      [{ ...right, type: 'password' }, 401],
      [{ ...right, response: { ...right.response, signature: 'x' } }, 401],
      [{ ...right, response: { ...right.response, signature: [] } }, 401],
      [{ ...right, response: { ...right.response, authenticatorData: 'AA' } }, 401],
    ]
    for (const [credential, status] of junk) {
      const answer = await post('/sign-in', { credential })
      assert.equal(answer.status, status, JSON.stringify(credential))
    }
    assert.equal((await post('/sign-in', { credential: right })).status, 200, 'what was refused used nothing up')
    door.desk.service.clock.now += MINUTE_MS
    const code = await codeFor('rosa', 'read')
    const { options } = await begin(code)
    const made = new Authenticator(PUBLIC_URL).make(options) as { response: object }
    for (const attestationObject of ['', 'AA', 'oA', Buffer.alloc(9_000, 0x9f).toString('base64url')])
      assert.equal(
        (await post('/make', { code, credential: { ...made, response: { ...made.response, attestationObject } } }))
          .status,
        401,
      )
    assert.equal((await post('/sign-in', 'x')).status, 400)
    assert.equal((await post('/sign-in', JSON.stringify({ credential: 'x'.repeat(17_000) }))).status, 400)
    assert.equal((await door.desk.service.get('/api/passkeys/sign-in')).status, 405)
  })

  it('get at most twenty challenges a minute and address, and these take no place', async () => {
    const count = async () =>
      (
        await door.desk.world.pool<
          { n: number }[]
        >`SELECT (SELECT count(*) FROM used_nonces) + (SELECT count(*) FROM audit) AS n`
      )[0]?.n
    const before = await count()
    const statuses: number[] = []
    for (let i = 0; i < PER_MINUTE + 2; i++) statuses.push((await post('/challenge', {})).status)
    assert.deepEqual(statuses, [...Array(PER_MINUTE).fill(200), 429, 429])
    assert.equal(await count(), before)
    assert.equal((await post('/challenge', {}, { from: '127.0.0.2' })).status, 200)
    // Wrong ones count together with wrong keys.
    const stranger = new Authenticator(PUBLIC_URL)
    door.desk.service.clock.now += 600_000
    for (let i = 0; i < PER_MINUTE; i++)
      await post('/sign-in', {
        credential: stranger.sign((await post('/challenge', {}, { from: `127.0.1.${i}` })).json),
      })
    await until('a row in the audit log', async () => (await audit('wrongAdminKeys')).length > 0 || null)
  })
})

describe('at an address without a name', () => {
  it('passkeys are off, and the answer shows that', async () => {
    const desk = await startDesk({}, { http: { settings: { publicUrl: 'https://192.0.2.7' } } })
    const { json } = await desk.service.get('/api/passkeys')
    assert.equal(json.offered, false)
    assert.match(json.whyNot, /browsers create none for this address/)
    for (const path of ['challenge', 'invitation'])
      assert.equal((await desk.service.post(`/api/passkeys/${path}`, {})).status, 503, path)
    const { status, json: refused } = await desk.post('keys/invite', { label: 'x', scopes: ['read'] })
    assert.deepEqual([status, refused.error], [503, json.whyNot])
    await desk.close()
  })
})
