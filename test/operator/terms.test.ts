// Credit terms entered over HTTP on a real chain: previewed, entered for a future time, taken back, and refused; payouts switched
// off with the transaction for the contract's owner to send; and what the start of an instance may and may not change.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { StartError } from '../../src/boot/preflight.ts'
import { lockTerms, readCreditTerms } from '../../src/db/sale/terms.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt, openDatabase } from '../support/postgres.ts'
import { startOn } from '../support/start.ts'
import { ETHER, INTERVAL_SEC, SLOT_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const [MIN, MAX] = [ETHER / 2000n, (ETHER * 3n) / 2000n]

const UNNAMED = {
  DIST_ENABLED: '',
  CREDIT_MIN_WEI: '',
  CREDIT_MAX_WEI: '',
  CREDIT_INTERVAL_SEC: '',
  CREDIT_SLOT_SEC: '',
}
const KEYLESS = { MINTER_PRIVATE_KEY: '', DISTRIBUTOR_PRIVATE_KEY: '' }

describe('terms', () => {
  let desk: Desk
  let world: World
  before(async () => {
    desk = await startDesk()
    world = desk.world
    await world.settle()
    await world.pay(5, BASIC)
    await world.settle()
  })
  after(() => desk.close())

  const now = async () => Number((await world.chain.block()).timestamp)
  const entered = () => readCreditTerms(world.pool)

  it('are shown as they would be entered, and nothing is changed by that', async () => {
    const told = await desk.post('terms', { maxWei: String(MAX + 1n), dryRun: true })
    assert.equal(told.status, 200, told.text)
    const { changed, entries, before, ownersTransaction } = told.json
    assert.deepEqual([changed, entries.length, before.fromTime, ownersTransaction], [true, 1, 0, null])
    assert.ok(entries[0].fromTime >= (await now()) + 300)
    assert.deepEqual([entries[0].minWei, entries[0].maxWei], [String(MIN), String(MAX + 1n)])
    assert.equal((await entered()).length, 1)
  })

  it('apply five minutes ahead at the earliest, also for a request for less', async () => {
    for (const fromTime of [0, (await now()) + 299]) {
      const refused = await desk.post('terms', { maxWei: String(MAX + 1n), fromTime })
      assert.equal(refused.status, 409)
      assert.match(refused.json.error, /earliest/)
    }
    assert.equal((await entered()).length, 1)
  })

  it('are refused if a turn may pay nothing, unless zero is set', async () => {
    const nothing = { minWei: '0', maxWei: '0' }
    assert.match((await desk.post('terms', nothing)).json.error, /use zero/)
    assert.equal((await desk.post('terms', { ...nothing, zero: true, dryRun: true })).status, 200)
    assert.equal((await entered()).length, 1)
  })

  it('beyond the distributor’s bounds are refused with the owner’s transaction that makes room', async () => {
    const powers = await world.read<[bigint, bigint]>('bounds')
    await world.act(0, 'setBounds', [world.at(2), 0n, MAX / 10n ** 9n])
    const refused = await desk.post('terms', { maxWei: String(MAX * 2n) })
    assert.equal(refused.status, 409)
    const [, data] = /data (0x[0-9a-f]+)/.exec(refused.json.error) ?? []
    assert.match(refused.json.error, /setBounds/)
    await world.call(0, world.factory, data as `0x${string}`)
    assert.equal((await desk.post('terms', { maxWei: String(MAX * 2n), dryRun: true })).status, 200, 'at every rate')
    await world.act(0, 'setBounds', [world.at(2), powers[0], powers[1]])
  })

  it('are entered once with an audit row, and cancelled only before they apply', async () => {
    const first = await desk.post('terms', { maxWei: String(MAX * 2n), reason: 'summer' })
    assert.equal(first.status, 200, first.text)
    const [{ fromTime }] = first.json.entries
    const [row] = (await desk.get('audit?action=termsEntered')).json.entries
    assert.deepEqual([row.actor, row.detail.reason, row.detail.after[0].fromTime], ['ada', 'summer', fromTime])
    const early = await desk.post('terms', { minWei: String(MIN + 1n), fromTime: fromTime - 1 })
    assert.equal(early.status, 409, 'not from earlier than the one before')
    assert.equal((await desk.post('terms', {})).json.changed, false, 'saying the same changes nothing')
    assert.equal((await desk.post('terms/cancel', { fromTime: 0 })).status, 409)
    assert.equal((await desk.post('terms/cancel', { fromTime })).status, 200)
    assert.equal((await entered()).length, 1)

    const again = await desk.post('terms', { maxWei: String(MAX * 2n) })
    const [{ fromTime: at }] = again.json.entries
    await world.chain.setNextTime(at)
    await world.chain.mine()
    assert.equal((await desk.post('terms/cancel', { fromTime: at })).status, 409, 'it holds from this very block on')
    assert.deepEqual(
      (await desk.get('terms')).json.terms.map(({ state }: { state: string }) => state),
      ['inForce', 'planned'],
    )
    await world.rest()
    assert.deepEqual(
      (await desk.get('terms')).json.terms.map(({ state }: { state: string }) => state),
      ['past', 'inForce'],
    )
  })

  it('without payouts show the owner’s transaction, and can be cancelled until it is on chain', async () => {
    const off = await desk.post('terms', { payouts: false })
    const [{ fromTime }] = off.json.entries
    const { data, call } = off.json.ownersTransaction
    assert.match(call, new RegExp(`addNotOwed\\(window: 1, from: ${fromTime}`))
    assert.equal((await desk.service.get('/api/cron/health')).json.distEnabled, true, 'it does not hold yet')
    await world.chain.setNextTime(fromTime + 1)
    await world.rest()
    assert.equal((await desk.service.get('/api/cron/health')).json.distEnabled, false)
    assert.equal((await desk.post('terms/cancel', { fromTime })).status, 200, 'no window says so')
    const again = await desk.post('terms', { payouts: false })
    const at = again.json.entries[0].fromTime
    await world.call(0, world.factory, again.json.ownersTransaction.data)
    assert.notEqual(data, again.json.ownersTransaction.data)
    await world.chain.setNextTime(at + 1)
    await world.rest()
    assert.equal((await desk.get('terms')).json.ownersTransaction, null)
    assert.equal((await desk.post('terms/cancel', { fromTime: at })).status, 409, 'the owner has set a window')
    const on = await desk.post('terms', { payouts: true })
    assert.match(
      on.json.ownersTransaction.call,
      new RegExp(`endNotOwed\\(window: 1, until: ${on.json.entries[0].fromTime}`),
    )
    assert.equal((await desk.post('terms/cancel', { fromTime: on.json.entries[0].fromTime })).status, 200)
  })

  it('stay the same under any start, with or without settings', async () => {
    const before = await entered()
    assert.deepEqual(await startOn(world, { ...UNNAMED, ...KEYLESS }), [], 'names nothing')
    for (const env of [
      { CREDIT_MIN_WEI: '1', CREDIT_MAX_WEI: '1' },
      { DIST_ENABLED: 'false' },
      { CREDIT_INTERVAL_SEC: '120' },
      { ...KEYLESS, CREDIT_MAX_WEI: '7', CREDIT_MIN_WEI: '7' },
    ]) {
      assert.deepEqual(await startOn(world, env), [], 'an act has changed them since')
    }
    assert.deepEqual(await entered(), before)
    assert.equal((await world.pool`SELECT FROM audit WHERE action = 'termsEntered' AND actor = 'start'`).length, 0)
  })

  it('of a ledger without any do not come from the settings if the factory has nodes', async () => {
    await using database = await openDatabase(3)
    const { pool } = database
    const [line] = await startOn(world, {}, pool)
    assert.match(line ?? '', /no credit terms: nothing is judged, minted or paid/)
    assert.equal((await readCreditTerms(pool)).length, 0)
    const fresh = world.instance({ pool, directUrl: database.url })
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.pay(6, BASIC)
    await world.chain.mine()
    await fresh.payments()
    assert.equal((await fresh.credit()).reason, 'disabled')
    const states = await pool`SELECT DISTINCT state FROM payments ORDER BY state`
    assert.deepEqual(
      states.map(({ state }) => state),
      ['minted', 'seen'],
      'nothing is judged',
    )
    assert.equal((await pool`SELECT FROM outbox WHERE kind <> 'foreign'`).length, 0, 'nothing is sent')
  })
})

describe('the first terms', () => {
  let world: World
  before(async () => {
    world = await startWorld()
    await world.pool`DELETE FROM credit_terms`
  })
  after(() => world.close())

  it('cannot be named without a key', async () => {
    assert.match((await startOn(world, KEYLESS))[0] ?? '', /no credit terms/)
    assert.equal((await readCreditTerms(world.pool)).length, 0)
  })

  it('are refused at start if they are impossible', async () => {
    await world.act(0, 'setBounds', [world.at(2), 0n, 1n])
    await assert.rejects(startOn(world), (error) => error instanceof StartError && /setBounds/.test(error.message))
    await world.act(0, 'setBounds', [world.at(2), 0n, 2n ** 47n])
    assert.equal((await readCreditTerms(world.pool)).length, 0)
  })

  it('are those of one of two simultaneous starts, and the other gets a warning', async () => {
    const higher = { CREDIT_MIN_WEI: '600000000000000' }
    const told = await meetAt(
      world.pool,
      lockTerms,
      [{}, higher, higher].map((env) => () => startOn(world, env)),
    )
    const entered = await readCreditTerms(world.pool)
    assert.deepEqual(
      entered.map(({ fromTime, payouts, intervalSec, slotSec }) => [fromTime, payouts, intervalSec, slotSec]),
      [[0, true, INTERVAL_SEC, SLOT_SEC]],
    )
    assert.deepEqual(told.map((lines) => lines.length).sort(), [0, 1, 1])
    assert.match(
      told.flat()[0] ?? '',
      /^DIST_ENABLED and CREDIT_…: ignored, because the ledger has another value\. .*terms set/,
    )
    const { out } = await runHere(['doctor', '--json'], { ...worldEnv(world), CREDIT_MAX_WEI: '700000000000000' })
    const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }
    const [found] = findings.filter(({ check }) => check === 'terms.settings')
    assert.deepEqual([found?.verdict, /: ignored/.test(found?.says ?? '')], ['warn', true])
    assert.equal((await world.pool`SELECT FROM audit WHERE action = 'termsEntered'`).length, 1)
  })
})
