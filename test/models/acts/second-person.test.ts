// The second person: the operator's acts on a real ledger and the second reading agree about random keys, proposals and sums.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { inTransaction } from '../../../src/db/core/sql.ts'
import { findLiveKey } from '../../../src/db/operator/admin-keys.ts'
import { insertProposal, isMakerLive, mayBeSamePerson } from '../../../src/db/operator/proposals.ts'
import { sumToRelease } from '../../../src/db/operator/sums.ts'
import { wei } from '../../../src/domain/units.ts'
import { createKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import { digestOfKey, keyDigest, newSecret } from '../../../src/operator/acts/keys/secret.ts'
import { type Desk, KEYS, startDesk } from '../../support/operator.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { ETHER, enterTier } from '../../support/world.ts'
import * as model from './second-person.ts'

const BASIC = ETHER / 100n
let desk: Desk
before(async () => {
  desk = await startDesk()
})
after(() => desk.close())

const LABELS = ['a', 'b', 'c', 'd', 'e', 'A']
const gift = fc.record({
  label: fc.constantFrom(...LABELS),
  madeBy: fc.constantFrom(...LABELS, 'cli:a', 'cli:root'),
})

test('two labels count as one person if one made the other’s key, or a third made both', async () => {
  const compare = async (gifts: model.Gift[]) => {
    await inTransaction(desk.world.pool, async (sql) => {
      for (const [i, { label, madeBy }] of gifts.entries())
        await sql`INSERT INTO admin_keys (label, digest, scopes, made_by, expires_at, revoked_at, revoked_by) VALUES (${label},
          sha256(${`${i}`}::bytea), '{read}', ${madeBy}, now(), ${i % 2 === 0 ? null : sql`now()`}, ${i % 2 === 0 ? null : 'a'})`
      for (const one of LABELS)
        for (const other of LABELS.slice(LABELS.indexOf(one))) {
          const code = await mayBeSamePerson(sql, one, other)
          assert.equal(code, model.isOnePerson(gifts, one, other), `${one} and ${other}`)
        }
      await sql`DELETE FROM admin_keys`
    })
  }
  const gifts = fc.array(gift, { minLength: 1, maxLength: 6 })
  await fc.assert(fc.asyncProperty(gifts, compare), { numRuns: cases(15) })
})

type Held = model.Key & { secret: string; id: number | null }
type Listed = model.Proposal & { id: number; payment: string }

/** Keys of the settings, of the command line, and one that another person made. */
async function makeKeys(): Promise<Held[]> {
  const all = ['read', 'decide', 'prices', 'terms', 'operate']
  const held: Held[] = KEYS.map(({ label, key }) => ({
    label,
    madeBy: null,
    scopes: all,
    isLive: true,
    secret: key,
    id: null,
  }))
  const deps = { ...desk.world, environmentKeys: KEYS.map(keyDigest) }
  const gifts = [
    ['nina', ['decide', 'operate']],
    ['omar', ['decide']],
    ['rita', ['read']],
  ] as const
  for (const [label, scopes] of gifts) {
    const made = await createKey(deps, { name: 'cli:test', requestId: null }, { label, scopes: scopes.join(',') })
    const { key: secret, id } = made as { key: string; id: number }
    held.push({ label, madeBy: 'cli:test', scopes: [...scopes], isLive: true, secret, id })
  }
  const nina = held.find(({ label }) => label === 'nina') as Held
  for (const label of ['puppet', 'nina']) {
    const { json, text } = await desk.post('keys', { label, scopes: ['decide'], expires: '1d' }, as(nina))
    assert.ok(json.key, text)
    held.push({ label, madeBy: 'nina', scopes: ['decide'], isLive: true, secret: json.key, id: json.id })
  }
  return held
}
/** Revokes a key of the command line, and makes another one under its label. */
async function replace(keys: Held[], old: Held): Promise<void> {
  assert.equal((await desk.post(`keys/${old.id}/revoke`, {})).status, 200)
  old.isLive = false
  const { label, scopes, madeBy } = old
  const given = { label, scopes: scopes.join(',') }
  const made = await createKey({ ...desk.world, environmentKeys: [] }, { name: madeBy ?? '', requestId: null }, given)
  const { key: secret, id } = made as { key: string; id: number }
  keys.push({ ...old, isLive: true, secret, id })
}
const as = ({ secret }: Held) => ({ headers: { 'x-admin-key': secret } })

function inWords(status: number, text: string): model.Answer {
  if (status === 200) return 'done'
  if (status === 401) return 'noKey'
  if (status === 403) return /second person/.test(text) ? 'samePerson' : 'noScope'
  assert.equal(status, 409, text)
  if (/was revoked/.test(text)) return 'keyEnded'
  return /can no longer be done/.test(text) ? 'failed' : 'settled'
}

interface Round {
  keys: Held[]
  payments: string[]
  waiting: Set<string>
  listed: Listed[]
}

/** Proposes to release a payment that waits. */
async function propose({ waiting, listed }: Round, key: Held, asked: string): Promise<void> {
  if (!waiting.has(asked) || !key.scopes.includes('decide') || !key.isLive) return
  const { status, json, text } = await desk.post(`payments/${asked}/release`, { tierId: 'basic' }, as(key))
  assert.equal(status, 202, text)
  const known = model.propose(listed, key, { scope: 'decide', asked }) as Listed
  known.id ??= json.proposal.id
  assert.equal(json.proposal.id, known.id)
}

/** Confirms a proposal, or refuses it. */
async function answer({ keys, waiting }: Round, key: Held, one: Listed, name: 'confirm' | 'refuse'): Promise<void> {
  const isPossible = waiting.has(one.asked)
  const expected = name === 'refuse' ? model.refuse(one, key) : model.confirm(keys, one, key, isPossible)
  const { status, text } = await desk.post(`proposals/${one.id}/${name}`, {}, as(key))
  assert.equal(inWords(status, text), expected, `${name} of what ${one.by.label} proposed: ${text}`)
  if (expected === 'done' && name === 'confirm') waiting.delete(one.asked)
}

async function step(round: Round, key: Held, act: number, pick: <T>(from: readonly T[]) => T): Promise<void> {
  if (act === 6 && key.madeBy === 'cli:test') await replace(round.keys, key)
  else if (act < 2 || round.listed.length === 0) await propose(round, key, pick(round.payments))
  else await answer(round, key, pick(round.listed), act === 5 ? 'refuse' : 'confirm')
}

test('a proposal is done once, by another live person with its scope, if it is still possible', async () => {
  const seed = Number(process.env.PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const below = randomBelow(seed)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  const keys = await makeKeys()
  assert.equal((await desk.post('second-person', { aboveWei: '1' })).status, 200)
  for (let i = 0; i < cases(1); i++) {
    const payments: string[] = []
    for (const less of [1n, 2n, 3n, 4n]) payments.push(await desk.world.pay(5, BASIC - less))
    await desk.world.settle()
    const round: Round = { keys, payments, waiting: new Set(payments), listed: [] }
    for (let j = 0; j < 60; j++) {
      // A revoked key goes on for some seconds, so only live ones act.
      const [key, act] = [pick(keys.filter(({ isLive }) => isLive)), below(7)]
      try {
        await step(round, key, act, pick)
      } catch (error) {
        throw new Error(`seed ${seed}, round ${i}, step ${j}, ${key.label}`, { cause: error })
      }
    }
    const { proposals } = (await desk.get('proposals')).json
    const states = new Map(proposals.map(({ id, state }: { id: number; state: string }) => [id, state]))
    for (const { id, state } of round.listed) assert.equal(states.get(id), state, `proposal ${id}`)
  }
})

test('a proposal lives as long as the key or passkey that made it, and no session ends it', async () => {
  const states = ['live', 'expired', 'revoked'] as const
  await inTransaction(desk.world.pool, async (sql) => {
    const [now, later] = [sql`now()`, sql`now() + interval '1 day'`]
    const endOf = (state: (typeof states)[number]) => sql`${state === 'expired' ? now : later}`
    const revoked = (state: (typeof states)[number]) =>
      sql`${state === 'revoked' ? now : null}, ${state === 'revoked' ? 'a' : null}`
    const compare = async (keyDigest: string | null, isLive: boolean, what: string) => {
      const { id } = await insertProposal(sql, { act: 'release', input: { what }, by: 'a', keyDigest })
      assert.equal(await isMakerLive(sql, id, [digestOfKey('of the settings')]), isLive, what)
    }
    for (const state of states) {
      const { text, digest } = newSecret('nlk_')
      const [key] =
        await sql`INSERT INTO admin_keys (label, digest, scopes, made_by, expires_at) VALUES ('a', decode(${digest}, 'hex'),
        '{read}', 'b', ${later}) RETURNING id`
      const found = await findLiveKey(sql, digestOfKey(text))
      await sql`UPDATE admin_keys SET (expires_at, revoked_at, revoked_by) = (${endOf(state)}, ${revoked(state)}) WHERE id = ${key?.id}`
      await compare(found?.digest ?? assert.fail(), state === 'live', `a key, ${state}`)
      for (const ofSession of states) {
        const session = newSecret('nlk_')
        const [passkey] =
          await sql`INSERT INTO passkeys (label, scopes, credential_id, public_key, counter, transports, invited_by, expires_at)
          VALUES ('a', '{read}', decode(${session.digest}, 'hex'), '', 0, '{}', 'b', ${later}) RETURNING id`
        const [made] =
          await sql`INSERT INTO admin_keys (label, digest, scopes, made_by, expires_at, passkey_id) VALUES ('a',
          decode(${session.digest}, 'hex'), '{read}', 'a', ${later}, ${passkey?.id}) RETURNING id`
        const holder = await findLiveKey(sql, session.digest)
        await sql`UPDATE passkeys SET (expires_at, revoked_at, revoked_by) = (${endOf(state)}, ${revoked(state)}) WHERE id = ${passkey?.id}`
        await sql`UPDATE admin_keys SET (expires_at, revoked_at, revoked_by) = (${endOf(ofSession)}, ${revoked(ofSession)}) WHERE id = ${made?.id}`
        await compare(
          holder?.digest ?? assert.fail(),
          state === 'live',
          `a passkey, ${state}, its session ${ofSession}`,
        )
      }
    }
    await compare(digestOfKey('of the settings'), true, 'a key of the settings')
    await compare(digestOfKey('of other settings'), false, 'a key that is no longer in the settings')
    await compare(null, true, 'the command line')
    await sql`DELETE FROM proposals`
    await sql`DELETE FROM admin_keys`
    await sql`DELETE FROM passkeys`
  })
})

test('a release counts each payment once, by its value or the named tier’s highest price', async () => {
  const rows = await desk.world.pool<{ id: number; txHash: string; valueWei: bigint; tierId: string | null }[]>`
    SELECT id, tx_hash AS "txHash", value_wei AS "valueWei", tier_id AS "tierId" FROM payments ORDER BY id LIMIT 6`
  const waiting = rows.map(({ id, valueWei, tierId }) => ({ id, valueWei, hasTier: tierId !== null }))
  // Both tiers were cheaper or dearer once.
  const prices: Record<string, bigint[]> = { basic: [BASIC, 4n * BASIC], plus: [ETHER / 40n, 7n], none: [] }
  for (const [tierNo, tierId] of ['basic', 'plus'].entries())
    await enterTier(desk.world, { tierId, tierNo: tierNo + 1, priceWei: wei(prices[tierId]?.[1] ?? 0n) })
  const compare = async (picks: [number, boolean][], tierId: string | null) => {
    const named = picks.map(([place]) => rows[place % rows.length] ?? assert.fail('there is no payment'))
    const keyed = named.map(({ id, txHash }, i) => (picks[i]?.[1] ? { id } : { txHash }))
    const code = await sumToRelease(desk.world.pool, keyed as never, tierId)
    const ids = named.map(({ id }) => id)
    assert.equal(code, model.sumReleased(waiting, ids, tierId === null ? null : (prices[tierId] ?? [])))
  }
  const picks = fc.array(fc.tuple(fc.nat(5), fc.boolean()), { maxLength: 5 })
  const tier = fc.constantFrom(null, 'basic', 'plus', 'none')
  await fc.assert(fc.asyncProperty(picks, tier, compare), { numRuns: cases(80) })
})
