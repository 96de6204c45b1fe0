// The second person: the operator's acts on a real ledger and the second reading agree about random keys, proposals and sums.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { inTransaction } from '../../../src/db/core/sql.ts'
import { mayBeSamePerson } from '../../../src/db/operator/proposals.ts'
import { sumToRelease } from '../../../src/db/operator/sums.ts'
import { createKey } from '../../../src/operator/acts/keys/admin-keys.ts'
import { type Desk, KEYS, startDesk } from '../../support/operator.ts'
import { cases, randomBelow } from '../../support/property.ts'
import { ETHER } from '../../support/world.ts'
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

type Held = model.Key & { secret: string }
type Listed = model.Proposal & { id: number; payment: string }

/** Keys of the settings, of the command line, and one that another person made. */
async function makeKeys(): Promise<Held[]> {
  const all = ['read', 'decide', 'prices', 'terms', 'operate']
  const held: Held[] = KEYS.map(({ label, key }) => ({ label, madeBy: null, scopes: all, isLive: true, secret: key }))
  const deps = { ...desk.world, environmentLabels: KEYS.map(({ label }) => label) }
  const gifts = [
    ['nina', ['decide', 'operate']],
    ['omar', ['decide']],
    ['rita', ['read']],
  ] as const
  for (const [label, scopes] of gifts) {
    const made = await createKey(deps, { name: 'cli:test', requestId: null }, { label, scopes: scopes.join(',') })
    held.push({ label, madeBy: 'cli:test', scopes: [...scopes], isLive: true, secret: (made as { key: string }).key })
  }
  const nina = held.find(({ label }) => label === 'nina') as Held
  for (const label of ['puppet', 'nina']) {
    const { json, text } = await desk.post('keys', { label, scopes: ['decide'], expires: '1d' }, as(nina))
    assert.ok(json.key, text)
    held.push({ label, madeBy: 'nina', scopes: ['decide'], isLive: true, secret: json.key })
  }
  return held
}
const as = ({ secret }: Held) => ({ headers: { 'x-admin-key': secret } })

function inWords(status: number, text: string): model.Answer {
  if (status === 200) return 'done'
  if (status === 401) return 'noKey'
  if (status === 403) return /second person/.test(text) ? 'samePerson' : 'noScope'
  assert.equal(status, 409, text)
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
      const [key, act] = [pick(keys), below(6)]
      try {
        if (act < 2 || round.listed.length === 0) await propose(round, key, pick(payments))
        else await answer(round, key, pick(round.listed), act === 5 ? 'refuse' : 'confirm')
      } catch (error) {
        throw new Error(`seed ${seed}, round ${i}, step ${j}, ${key.label}`, { cause: error })
      }
    }
    const { proposals } = (await desk.get('proposals')).json
    const states = new Map(proposals.map(({ id, state }: { id: number; state: string }) => [id, state]))
    for (const { id, state } of round.listed) assert.equal(states.get(id), state, `proposal ${id}`)
  }
})

test('a release counts each payment once, by its value or the named tier’s highest price', async () => {
  const rows = await desk.world.pool<{ id: number; txHash: string; valueWei: bigint; tierId: string | null }[]>`
    SELECT id, tx_hash AS "txHash", value_wei AS "valueWei", tier_id AS "tierId" FROM payments ORDER BY id LIMIT 6`
  const waiting = rows.map(({ id, valueWei, tierId }) => ({ id, valueWei, hasTier: tierId !== null }))
  const prices: Record<string, bigint[]> = { basic: [BASIC], plus: [ETHER / 40n], none: [] }
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
