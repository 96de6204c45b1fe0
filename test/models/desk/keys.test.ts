// Keys, passkeys, invitations and proposals: the statements of src/db/operator and the acts that revoke, in random order on random rows with times at every
// edge, and the second reading agree about answers, rows and the audit log.
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import * as keys from '../../../src/db/operator/admin-keys.ts'
import * as invitations from '../../../src/db/operator/invitations.ts'
import * as passkeys from '../../../src/db/operator/passkeys.ts'
import * as proposals from '../../../src/db/operator/proposals.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import { revokeAllKeys, revokeKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import { revokeInvitation, revokePasskey } from '../../../src/operator/acts/keys/passkeys.ts'
import { refuseProposal } from '../../../src/operator/acts/second-person/proposals.ts'
import { fromNow, openTables, type Rows, type Tables } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, letPass, play, readTable, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './keys.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const NEXT_KEY = 20
const digestOf = (n: number) => n.toString(16).padStart(64, '0')
const credentialOf = (n: number) => `c${n}`
const passkeyDigest = (n: number) => createHash('sha256').update(credentialOf(n)).digest('hex')
const label = fc.constantFrom('ada', 'ada', 'ben')
const ends = fc.constantFrom(-1, 0, 1, 60, 60, 600)
const revoked = fc.constantFrom(null, null, null, { at: -5, by: 'eve' })
const id = fc.constantFrom(1, 1, 2, 3)
const ending = { label, madeBy: fc.constantFrom('ada', 'eve', 'cli:root'), ends, revoked }
const drawn = fc.record({
  keys: fc.array(
    fc.record({ ...ending, passkeyId: fc.constantFrom(null, 1, 1, 2), used: fc.constantFrom(null, 59, 60, 61) }),
    { maxLength: 5 },
  ),
  passkeys: fc.array(fc.record(ending), { minLength: 2, maxLength: 2 }),
  invitations: fc.array(
    fc.record({
      ...ending,
      byKey: fc.constantFrom(null, 1),
      byPasskey: fc.constantFrom(null, 1),
      isUsed: fc.constantFrom(false, false, true),
    }),
    { maxLength: 2 },
  ),
  proposals: fc.array(
    fc.record({
      ...{ by: label, ends, outcome: fc.constantFrom(null, null, null, 'confirmed') },
      madeWith: fc.constantFrom(null, digestOf(1), digestOf(1), digestOf(2), passkeyDigest(1), digestOf(77)),
    }),
    { maxLength: 3 },
  ),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

const officeOf = (given: Drawn): model.Office => ({
  ...{ now: 0, audit: [], nextKey: NEXT_KEY },
  keys: given.keys.map(({ used, ...one }, n) => ({
    ...{ ...one, revoked: one.revoked && { ...one.revoked }, id: 1 + n, digest: digestOf(1 + n) },
    usedAt: used === null ? null : -used,
  })),
  passkeys: given.passkeys.map((one, n) => ({
    ...{ ...one, revoked: one.revoked && { ...one.revoked }, id: 1 + n, digest: passkeyDigest(1 + n) },
  })),
  invitations: given.invitations.map(({ isUsed, ...one }, n) => ({
    ...{ ...one, id: 1 + n, passkeyId: isUsed ? 1 + n : null, byKey: given.keys.length > 0 ? one.byKey : null },
    revoked: isUsed ? null : one.revoked && { ...one.revoked },
  })),
  proposals: given.proposals.map((one, n) => ({
    ...{ ...one, id: 1 + n, act: 'release' },
    settled: one.outcome === null ? null : { at: -5, by: 'eve' },
  })),
})

const endOf = ({ ends, revoked }: { ends: number; revoked: { at: number; by: string } | null }) => ({
  ...{ expires_at: fromNow(ends), revoked_at: revoked === null ? null : fromNow(revoked.at) },
  revoked_by: revoked?.by ?? null,
})
const rowsOf = (office: model.Office): Rows => ({
  admin_keys: office.keys.map((one) => ({
    ...{ id: one.id, label: one.label, digest: `\\x${one.digest}`, scopes: '{read}', passkey_id: one.passkeyId },
    ...{ made_by: one.madeBy, used_at: one.usedAt === null ? null : fromNow(one.usedAt), ...endOf(one) },
  })),
  passkeys: office.passkeys.map((one) => ({
    ...{
      id: one.id,
      label: one.label,
      scopes: '{read}',
      credential_id: `\\x${Buffer.from(credentialOf(one.id)).toString('hex')}`,
    },
    ...{ public_key: '\\x01', counter: 0, transports: '{}', invited_by: one.madeBy, ...endOf(one) },
  })),
  passkey_invitations: office.invitations.map((one) => ({
    ...{ id: one.id, label: one.label, scopes: '{read}', digest: `\\x${digestOf(90 + one.id)}`, made_by: one.madeBy },
    ...{ by_key: one.byKey, by_passkey: one.byPasskey, passkey_id: one.passkeyId, passkey_expires_at: fromNow(900) },
    ...endOf(one),
  })),
  proposals: office.proposals.map((one) => ({
    ...{ id: one.id, act: one.act, input: '{}', proposed_by: one.by, expires_at: fromNow(one.ends) },
    ...{ made_with: one.madeWith === null ? null : `\\x${one.madeWith}`, outcome: one.outcome },
    ...{ settled_by: one.settled?.by ?? null, settled_at: one.settled === null ? null : fromNow(one.settled.at) },
  })),
})

const COLUMNS = {
  admin_keys: ['expires_at', 'revoked_at', 'used_at'],
  passkeys: ['expires_at', 'revoked_at'],
  passkey_invitations: ['expires_at', 'revoked_at'],
  proposals: ['expires_at', 'settled_at'],
}
type Machine = Act<model.Office>
type Called = (deps: never, actor: never, input: Record<string, unknown>) => Promise<object>
const called = async (run: unknown, sql: Sql, input: Record<string, unknown>) => {
  const found = await (run as Called)(
    { pool: poolWithin(sql) } as never,
    { name: 'zoe', requestId: null } as never,
    input,
  )
  return isOperatorRefusal(found) ? found.because : found
}
const of = <Input>(
  draw: fc.Arbitrary<Input>,
  run: (sql: Sql, input: Input) => Promise<unknown>,
  expects: (state: model.Office, input: Input) => unknown,
): Machine => act({ draw, run, expects })

const digest = fc.constantFrom(digestOf(1), digestOf(1), digestOf(2), digestOf(3), digestOf(50))
const time = of(
  fc.constantFrom(1, 59, 60, 61),
  (sql, seconds) => letPass(sql, seconds, COLUMNS),
  (office, seconds) => {
    office.now += seconds
  },
)
const uses: Record<string, Machine> = {
  time,
  live: of(
    digest,
    async (sql, one) => {
      const found = await keys.findLiveKey(sql, one)
      if (found === null) return null
      const { id, label, digest, passkeyId, isNoted } = found
      return { id, label, digest, passkeyId, isNoted }
    },
    model.live,
  ),
  counts: of(
    fc.constant(null),
    async (sql) => ({
      ...{ hasLive: await keys.hasLiveKeys(sql), keys: await keys.countLiveKeys(sql) },
      ...{ passkeys: await passkeys.countLivePasskeys(sql), invitations: await invitations.countOpenInvitations(sql) },
    }),
    (office) => model.counts(office),
  ),
  listed: of(
    fc.constantFrom(1, 2, 9),
    async (sql, limit) => ({
      keys: (await keys.readAdminKeys(sql, limit)).map(({ id }) => id),
      passkeys: (await passkeys.readPasskeys(sql, limit)).map(({ id, sessions }) => ({ id, sessions })),
      invitations: (await invitations.readOpenInvitations(sql, limit)).map(({ id }) => id),
    }),
    model.listed,
  ),
  used: of(id, keys.noteKeyUsed, model.used),
  added: of(
    fc.record({
      n: fc.noShrink(fc.integer({ min: 100, max: 2 ** 40 })),
      passkeyId: fc.constantFrom(null, 1),
      seconds: fc.constantFrom(30, 900),
    }),
    async (sql, { n, passkeyId, seconds }) => {
      const given = { label: 'ada', digest: digestOf(n), scopes: ['read' as const], madeBy: 'ben', seconds }
      return (await keys.insertAdminKey(sql, { ...given, ...(passkeyId === null ? {} : { passkeyId }) })).id
    },
    (office, { n, passkeyId, seconds }) =>
      model.addKey(office, { label: 'ada', digest: digestOf(n), madeBy: 'ben', passkeyId }, seconds),
  ),
  makers: of(label, async (sql, one) => (await keys.makersOfLabel(sql, one)).toSorted(), model.makersOf),
  sessions: of(
    fc.record({ id: fc.constantFrom(1, 1, 2), kept: fc.constantFrom(0, 1, 2) }),
    (sql, { id, kept }) => passkeys.endOldSessions(sql, id, kept, 'zoe'),
    (office, { id, kept }) => model.endOldSessions(office, id, kept, 'zoe'),
  ),
}

const endings: Record<string, Machine> = {
  time,
  revokeKey: of(
    id,
    (sql, id) => called(revokeKey, sql, { id }),
    (office, id) => model.revokeKey(office, id, 'zoe'),
  ),
  revokePasskey: of(
    id,
    (sql, id) => called(revokePasskey, sql, { id }),
    (office, id) => model.revokePasskey(office, id, 'zoe'),
  ),
  revokeInvitation: of(
    id,
    (sql, id) => called(revokeInvitation, sql, { id }),
    (office, id) => model.revokeInvitation(office, id, 'zoe'),
  ),
  revokeAll: of(
    fc.constant(null),
    (sql) => called(revokeAllKeys, sql, {}),
    (office) => model.revokeAll(office, 'zoe'),
  ),
  refuse: of(
    id,
    (sql, id) => called(refuseProposal, sql, { id }),
    (office, id) => model.refuse(office, id, 'zoe'),
  ),
  proposals: of(
    fc.record({ limit: fc.constantFrom(1, 2, 9), fromSettings: fc.subarray([digestOf(77)]) }),
    async (sql, { limit, fromSettings }) => {
      const rows = await proposals.readProposals(sql, limit, fromSettings)
      return rows.map(({ id, outcome, isExpired, makerEnded }) => ({ id, outcome, isExpired, makerEnded }))
    },
    (office, { limit, fromSettings }) => model.proposalsOf(office, limit, fromSettings),
  ),
  maker: of(
    fc.record({ id, fromSettings: fc.subarray([digestOf(77)]) }),
    (sql, { id, fromSettings }) => proposals.isMakerLive(sql, id, fromSettings),
    (office, { id, fromSettings }) => {
      const one = office.proposals.find((each) => each.id === id)
      return one !== undefined && model.isMakerLive(office, one, fromSettings)
    },
  ),
}

async function readRows(sql: Sql) {
  const ofKeys = ['scopes', 'made_at']
  return {
    keys: await readTable(sql, 'admin_keys', ofKeys),
    passkeys: await readTable(sql, 'passkeys', [
      ...ofKeys,
      'credential_id',
      'public_key',
      'counter',
      'transports',
      'used_at',
    ]),
    invitations: await readTable(sql, 'passkey_invitations', [...ofKeys, 'digest', 'passkey_expires_at']),
    proposals: await readTable(sql, 'proposals', ['input', 'proposed_at', 'refusal']),
    audit: await sql<object[]>`SELECT action, subject, detail FROM audit ORDER BY id`,
  }
}

function expected({ now, ...office }: model.Office) {
  const endsAs = ({ label, madeBy: _, ends, revoked, ...rest }: model.Key | model.Passkey | model.Invitation) => {
    const ended = { revoked_at: revoked === null ? null : revoked.at - now, revoked_by: revoked?.by ?? null }
    return [{ label, expires_at: ends - now, ...ended }, rest] as const
  }
  return {
    keys: inOrder(
      office.keys.map((one) => ({
        ...{ ...endsAs(one)[0], id: one.id, digest: one.digest, passkey_id: one.passkeyId, made_by: one.madeBy },
        used_at: one.usedAt === null ? null : one.usedAt - now,
      })),
    ),
    passkeys: inOrder(office.passkeys.map((one) => ({ ...endsAs(one)[0], id: one.id, invited_by: one.madeBy }))),
    invitations: inOrder(
      office.invitations.map((one) => ({
        ...{ ...endsAs(one)[0], id: one.id, made_by: one.madeBy, by_key: one.byKey, by_passkey: one.byPasskey },
        passkey_id: one.passkeyId,
      })),
    ),
    proposals: inOrder(
      office.proposals.map(({ id, act, by, madeWith, ends, outcome, settled }) => ({
        ...{ id, act, proposed_by: by, made_with: madeWith, expires_at: ends - now, outcome },
        ...{ settled_by: settled?.by ?? null, settled_at: settled === null ? null : settled.at - now },
      })),
    ),
    audit: office.audit,
  }
}

const agree = (steps: fc.Arbitrary<Step<model.Office>[]>, usual: number) => {
  const compare = async (given: Drawn, all: Step<model.Office>[]) => {
    const office = officeOf(given)
    await tables.within(rowsOf(office), async (sql) => {
      await sql`SELECT setval(pg_get_serial_sequence('admin_keys', 'id'), ${NEXT_KEY}, false)`
      const both = { read: readRows as (sql: Sql) => Promise<unknown>, expected }
      await play(sql, { steps: all, state: office }, both)
    })
  }
  return fc.assert(fc.asyncProperty(drawn, steps, compare), { numRuns: cases(usual) })
}

test('keys, sessions and passkeys are valid until their end, and their use is noted each minute', async () => {
  await agree(stepsOf(uses, { least: 3, most: 7, weights: { live: 3, sessions: 3 } }), 80)
})

test('invitations and proposals end with what made them, and what is revoked is revoked once', async () => {
  await agree(stepsOf(endings, { least: 2, most: 6, weights: { maker: 2, proposals: 2 } }), 80)
})
