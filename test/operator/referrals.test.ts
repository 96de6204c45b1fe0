// Referral codes on a real ledger: registered over HTTP and by the command, shown to everyone, and in force from the next block on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createClient } from '../../client/src/index.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'

let desk: Desk
before(async () => {
  desk = await startDesk()
})
after(() => desk.close())

const PAYEE = `0x${'22'.repeat(20)}`
const FRIENDS = { code: 'friends', payee: PAYEE, commissionBps: 500 }
const listed = async () => (await desk.get('referrals')).json.referrals

test('a code is registered once, then gets versions, each from the block after the head', async () => {
  const head = (await desk.world.ctx.chain.head()).number
  const first = await desk.post('referrals', { ...FRIENDS, reason: 'a partner' })
  const { enteredAt: _, ...registered } = first.json.referral
  const whole = { ...FRIENDS, version: 1, opensAt: null, closesAt: null, fromBlock: head + 1, enteredBy: 'ada' }
  assert.deepEqual(registered, whole)
  assert.equal(first.json.changed, true)
  assert.equal((await desk.post('referrals', FRIENDS)).json.changed, false)
  const second = await desk.post('referrals', { ...FRIENDS, commissionBps: 100, closesAt: 2_000_000_000 })
  assert.deepEqual([second.json.referral.version, second.json.referral.commissionBps], [2, 100])
  assert.equal((await listed()).length, 2)
  const acts = await desk.world.pool`SELECT subject FROM audit WHERE action = 'referralRegistered'`
  assert.equal(acts.length, 2)
})

test('a code with a wrong form, payee, commission or time is refused', async () => {
  const rows: [object, RegExp][] = [
    [{ code: 'Friends' }, /code must be 1 to 32 of a-z/],
    [{ code: 'a,b' }, /code must be 1 to 32 of a-z/],
    [{ payee: '0x12' }, /payee must be an address/],
    [{ commissionBps: 2_001 }, /commissionBps must be a whole number from 0 to 2000/],
    [{ opensAt: 20, closesAt: 20 }, /closesAt must be later than opensAt/],
  ]
  const before = (await listed()).length
  for (const [change, message] of rows) {
    const refused = await desk.post('referrals', { ...FRIENDS, ...change })
    assert.equal(refused.status, 400)
    assert.match(refused.json.error, message)
  }
  assert.equal((await listed()).length, before)
})

test('the command registers a code, and anyone may ask what it says and whether it counts', async () => {
  const register = ['referrals', 'register', 'spring', '--payee', PAYEE, '--commission-bps', '2000']
  const done = await runHere([...register, '--opens-at', '4000000000', '--yes'], worldEnv(desk.world))
  assert.match(done.out, /Registered: spring counts from block \d+ on\./)
  const client = createClient({ baseUrl: `http://127.0.0.1:${desk.service.port}` })
  const said = await client.getReferral('spring')
  const opensAt = new Date(4_000_000_000_000)
  assert.deepEqual(said, { code: 'spring', payee: PAYEE, commissionBps: 2_000, opensAt, closesAt: null, open: false })
  const { open, commissionBps, closesAt } = await client.getReferral('friends')
  assert.deepEqual([open, commissionBps, closesAt], [true, 100, new Date(2_000_000_000_000)])
  assert.equal((await desk.service.get('/api/referrals/unknown')).status, 404)
  assert.equal((await desk.service.get('/api/referrals/Not-A-Code')).status, 400)
})
