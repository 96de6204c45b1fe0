// The process that confirms a proposal is killed between the act and the note that it was done: neither remains, and
// the next confirmation does it once. Real processes, killed by SIGKILL.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertProposal } from '../../../src/db/operator/proposals.ts'
import { runHere, runProcess, worldEnv } from '../../support/cli.ts'
import { until } from '../../support/until.ts'
import { ETHER, paymentOf, startWorld, type World } from '../../support/world.ts'

const ODD = ETHER / 100n + 1n
/** An advisory lock of this database that the service never takes. */
const HELD_UP = 170

let world: World
let env: Record<string, string>
before(async () => {
  world = await startWorld()
  env = worldEnv(world)
  // Delays a transaction that settles a proposal for as long as the test has the lock; it has done the act by then.
  await world.pool`
    CREATE FUNCTION hold_up() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(${world.pool.unsafe(String(HELD_UP))}); RETURN NEW; END'`
  await world.pool`CREATE TRIGGER hold_up BEFORE UPDATE ON proposals FOR EACH ROW EXECUTE FUNCTION hold_up()`
})
after(() => world.close())

const held = async () => {
  const hash = await world.pay(5, ODD)
  await world.settle()
  return hash
}
const confirm = (id: number) => ['proposals', 'confirm', String(id), '--yes']

/** Kills the command that confirms a proposal when its act is done and it is about to note that. */
async function killBetween(id: number): Promise<void> {
  await world.pool.begin(async (sql) => {
    await sql`SELECT pg_advisory_xact_lock(${HELD_UP})`
    const waits = until('the confirmation', async () => {
      const rows =
        await world.pool`SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = ${HELD_UP} AND NOT granted`
      return rows.length > 0
    })
    const { code, out } = await runProcess(confirm(id), env, { killWhen: waits })
    assert.deepEqual([code, out], [null, ''])
    await waits
  })
}

/** The proposal's outcome, and how often the audit log has its act. */
async function standing(id: number): Promise<[outcome: string | null, acts: number]> {
  const [row] = await world.pool<
    { outcome: string | null }[]
  >`SELECT outcome FROM proposals WHERE id = ${id} FOR UPDATE`
  const acts = await world.pool`SELECT FROM audit WHERE detail ->> 'proposal' = ${String(id)}`
  return [row?.outcome ?? null, acts.length]
}

const ACTS: Record<string, () => Promise<{ act: string; input: object; rows?: number; done(): Promise<boolean> }>> = {
  'a release': async () => {
    const payment = await held()
    const done = async () => (await paymentOf(world, payment))?.state !== 'held'
    return { act: 'release', input: { payment, tierId: 'basic' }, done }
  },
  'a release of several': async () => {
    const payments = [await held(), await held()]
    const done = async () => (await paymentOf(world, payments[0] ?? assert.fail()))?.state !== 'held'
    return { act: 'decideMany', input: { decision: 'release', payments, tierId: 'basic' }, rows: 2, done }
  },
  'credit terms': async () => {
    const count = async () => (await world.pool`SELECT FROM credit_terms`).length
    const earlier = await count()
    return { act: 'enterTerms', input: { maxWei: '1400000000000000' }, done: async () => (await count()) > earlier }
  },
  'a payments wallet': async () => {
    const address = world.at(12)
    const done = async () => (await world.pool`SELECT FROM payment_wallets WHERE wallet = ${address}`).length > 0
    return { act: 'changeWallet', input: { address }, done }
  },
}

for (const [what, prepare] of Object.entries(ACTS)) {
  test(`${what}, confirmed by a process that dies before it notes that: the next one does it, once`, async () => {
    const { act, input, rows = 1, done } = await prepare()
    const { id } = await insertProposal(world.pool, { act, input, by: 'ada', keyDigest: null })
    await killBetween(id)
    assert.deepEqual(await standing(id), [null, 0])
    assert.equal(await done(), false)
    const { code, err } = await runHere(confirm(id), env)
    assert.equal(code, 0, err)
    assert.deepEqual(await standing(id), ['confirmed', rows])
    assert.equal(await done(), true)
    assert.equal((await runHere(confirm(id), env)).code, 1)
    assert.deepEqual(await standing(id), ['confirmed', rows])
  })
}
