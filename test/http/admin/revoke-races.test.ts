// A revocation misses nothing in progress: keys, invitations, passkeys and sessions that are being created when it
// begins end with it, or never come to exist. Real parts, and real concurrent transactions.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import { readMadeSince, readOpen } from '../../../src/db/operator/key-gate.ts'
import { createKey, revokeAllKeys } from '../../../src/operator/acts/keys/admin-keys.ts'
import { PUBLIC_URL } from '../../support/http.ts'
import type { Answer } from '../../support/http-contract.ts'
import { meetAt } from '../../support/postgres.ts'
import { Authenticator } from './authenticator.ts'
import { as, CLI, codeIn, openDoor } from './door.ts'

const ROUNDS = 6
/** An advisory lock of this database that the service never takes. */
const HELD_UP = 171
const SCOPES = ['read', 'operate']

describe('a revocation', () => {
  /** The command line's own connections. They end before the desk does. */
  let cli: Pool
  after(() => cli.end({ timeout: 1 }))
  const door = openDoor()
  before(async () => {
    const { world } = door.desk
    cli = connect(world.directUrl, { max: 2, prepare: false, applicationName: 'test command' })
    // Delays a transaction that has created something, just before its commit, for as long as the test has the lock.
    await world.pool.unsafe(`
    CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock_shared(${HELD_UP}); RETURN NEW; END';
    CREATE TRIGGER hold_up BEFORE INSERT ON audit FOR EACH ROW
      WHEN (NEW.action IN ('keyMade', 'passkeyInvited', 'passkeyMade', 'signedIn')) EXECUTE FUNCTION hold_up()`)
  })

  let named = 0
  /** A key with its own label, created on the command line unless someone else creates it. */
  const newKey = async (by?: string, expires = '9d') => {
    const given = { label: `key-${++named}`, scopes: SCOPES, expires }
    if (by) return door.desk.post('keys', given, as(by))
    const made = await createKey({ pool: cli, environmentKeys: [] }, CLI, given)
    return made as { id: number; key: string; label: string }
  }
  const makeKey = (by: string, expires = '2d') => newKey(by, expires) as Promise<Answer>
  const invite = (by: string) =>
    door.desk.post('keys/invite', { label: `guest-${++named}`, scopes: ['read'], expires: '1d' }, as(by))
  const makerKey = async () => (await newKey()) as { id: number; key: string; label: string }
  /** Answers an invitation as far as the browser does: only the request is left to send. */
  const answering = async (code: string) => {
    const { options } = await door.begin(code)
    const device = new Authenticator(PUBLIC_URL)
    const credential = device.make(options)
    return { device, send: () => door.post('/make', { code, credential }) }
  }
  const signingIn = async (device: Authenticator) => {
    const credential = device.sign(await door.challenge())
    return () => door.post('/sign-in', { credential })
  }
  /** Checks that keys and codes already handed out open nothing. */
  async function openNothing(answers: readonly Answer[], what: string): Promise<void> {
    door.lapse()
    for (const { json } of answers) {
      if (json.key) assert.equal((await door.desk.get('keys/self', as(json.key))).status, 401, `${what}: a key opens`)
      if (json.link) assert.equal((await door.post('/invitation', { code: codeIn(json.link) })).status, 409, what)
    }
  }
  const opens = async () => {
    const [row] = await door.desk.world.pool<{ keys: number; passkeys: number; invitations: number }[]>`
    SELECT (SELECT count(*) FROM admin_keys WHERE revoked_at IS NULL) AS keys,
      (SELECT count(*) FROM passkeys WHERE revoked_at IS NULL) AS passkeys,
      (SELECT count(*) FROM passkey_invitations WHERE revoked_at IS NULL AND passkey_id IS NULL) AS invitations`
    return { ...row }
  }
  const NOTHING = { keys: 0, passkeys: 0, invitations: 0 }
  const revokeAll = () => revokeAllKeys({ pool: cli }, CLI, { reason: 'stolen' })

  /** Begins `make`, and `revoke` when that is about to commit; lets all end. @returns what was created, and the answers of the revocations. */
  const within = <Revoked>(make: () => Promise<Answer>, ...revoke: (() => Promise<Revoked>)[]) =>
    meetAt(door.desk.world.pool, (sql) => sql`SELECT pg_advisory_xact_lock(${HELD_UP})`, [make, ...revoke])

  describe('of all keys', () => {
    it('ends everything that is being made while it begins, by any maker and of every kind', async () => {
      const maker = await makerKey()
      const guest = await door.enrol(await door.codeFor('guest', 'read,operate'))
      const invited = await answering(await door.codeFor('invited', 'read,operate'))
      const kinds: [what: string, make: () => Promise<Answer>][] = [
        ['a key by a key', () => makeKey(maker.key)],
        ['a key by a key of the settings', () => door.desk.post('keys', { label: 'by-ada', scopes: SCOPES })],
        ['a key by a session', () => makeKey(guest.key)],
        ['an invitation', () => invite(maker.key)],
        ['an invitation by a key of the settings', () => door.desk.post('keys/invite', { label: 'x', scopes: SCOPES })],
        ['a session', await signingIn(guest.device)],
        ['a passkey', invited.send],
      ]
      for (const [what, make] of kinds) {
        const [made] = await within(make, revokeAll)
        assert.equal(made.status, 200, `${what}: ${made.text}`)
        await openNothing([made], what)
        assert.deepEqual(await opens(), NOTHING, what)
        // Restored for the next kind.
        await cli`UPDATE admin_keys SET revoked_at = NULL, revoked_by = NULL WHERE label IN (${maker.label}, 'guest')`
        await cli`UPDATE passkeys SET revoked_at = NULL, revoked_by = NULL WHERE label = 'guest'`
        await cli`
        UPDATE passkey_invitations SET revoked_at = NULL, revoked_by = NULL WHERE label = 'invited' AND passkey_id IS NULL`
        door.lapse()
      }
      await revokeAll()
    })

    it('leaves nothing that opens, even if keys, invitations, passkeys and sessions are made then', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        door.desk.service.clock.now += 60_000
        const makers = [await makerKey(), await makerKey(), await makerKey()]
        const guests = [await door.enrol(await door.codeFor(`g-${round}`, 'read,operate'))]
        const acceptances = [
          await answering(await door.codeFor(`i-${round}`, 'read')),
          await answering(await door.codeFor(`j-${round}`, 'read')),
        ]
        const signIns = [
          await signingIn(guests[0]?.device as Authenticator),
          await signingIn(guests[0]?.device as Authenticator),
        ]
        const making = [
          ...makers.flatMap(({ key }) => [makeKey(key), makeKey(key), invite(key)]),
          ...guests.map(({ key }) => makeKey(key)),
          ...acceptances.map(({ send }) => send()),
          ...signIns.map((send) => send()),
        ]
        // It begins with one of them, each round with another.
        if (round > 0) await making[round % making.length]
        await revokeAll()
        await openNothing(await Promise.all(making), `round ${round}`)
        assert.deepEqual(await opens(), NOTHING, `round ${round}`)
      }
    })

    it('both end if two run together', async () => {
      const maker = await makerKey()
      const [, one, other] = await within(() => makeKey(maker.key), revokeAll, revokeAll)
      assert.deepEqual([one, other].map((done) => (done as { revoked: number }).revoked).sort(), [0, 2])
      assert.deepEqual(await opens(), NOTHING)
    })
  })

  describe('of one', () => {
    const revoked = async (path: string) => {
      const { status, text } = await door.desk.post(path, { reason: 'stolen' })
      assert.equal(status, 200, text)
    }

    it('key ends the keys and the invitations that it is making; not those that it made before', async () => {
      const maker = await makerKey()
      const earlier = (await makeKey(maker.key)).json
      const others = await makerKey()
      for (const make of [() => makeKey(maker.key), () => invite(maker.key)]) {
        const [made] = await within(make, () => revoked(`keys/${maker.id}/revoke`))
        assert.equal(made.status, 200, made.text)
        await openNothing([made], 'made meanwhile')
        for (const { key } of [earlier, others]) assert.equal((await door.desk.get('keys/self', as(key))).status, 200)
        await cli`UPDATE admin_keys SET revoked_at = NULL, revoked_by = NULL WHERE id = ${maker.id}`
        door.lapse()
      }
      const [, first] = (await door.desk.get('audit?action=keyRevoked')).json.entries
      assert.equal(first.detail.after.madeMeanwhile.keys.length, 1, 'the audit log has them')
      await revokeAll()
    })

    it('counts what is made by what its person has just made as theirs, and nothing of others', async () => {
      const { pool } = door.desk.world
      const [maker, other] = [await makerKey(), await makerKey()]
      await makeKey(maker.key)
      const before = await readOpen(pool)
      const first = (await makeKey(maker.key, '5d')).json
      const second = (await makeKey(first.key, '3d')).json
      await makeKey(other.key)
      assert.deepEqual(await readMadeSince(pool, maker.label, before), { keys: [first.id, second.id], passkeys: [] })
      await revokeAll()
    })

    it('passkey ends its sessions that are being opened, and the keys that these are making', async () => {
      const guest = await door.enrol(await door.codeFor('mara', 'read,operate'))
      const { id } = await door.passkeyOf('mara')
      for (const make of [await signingIn(guest.device), () => makeKey(guest.key), () => invite(guest.key)]) {
        const [made] = await within(make, () => revoked(`passkeys/${id}/revoke`))
        assert.equal(made.status, 200, made.text)
        await openNothing([made], 'made meanwhile')
        await cli`UPDATE passkeys SET revoked_at = NULL, revoked_by = NULL WHERE id = ${id}`
        await cli`UPDATE admin_keys SET revoked_at = NULL, revoked_by = NULL WHERE passkey_id = ${id}`
        door.lapse()
      }
      await revokeAll()
    })

    it('inviter’s key ends the passkey that is being made by their invitation', async () => {
      const maker = await makerKey()
      const { link } = (await invite(maker.key)).json
      const { send } = await answering(codeIn(link))
      const [made] = await within(send, () => revoked(`keys/${maker.id}/revoke`))
      assert.equal(made.status, 200, made.text)
      await openNothing([made], 'made meanwhile')
      assert.deepEqual(await opens(), NOTHING)
    })
  })
})
