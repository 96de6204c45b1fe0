// Referral codes on a real ledger: registered over HTTP and by the command, shown to everyone, and in force from the next block on.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createClient } from '../../client/src/index.ts'
import { operatorDeps } from '../../src/boot/app.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { registerReferrals } from '../../src/operator/acts/referrals/codes.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { temporaryDirectory } from '../support/temporary.ts'

let desk: Desk
before(async () => {
  desk = await startDesk()
})
after(() => desk.close())

const PAYEE = `0x${'22'.repeat(20)}`
const FRIENDS = { code: 'friends', payee: PAYEE, commissionBps: 500 }
const ADA = { name: 'ada', requestId: null }
const listed = async () => (await desk.get('referrals')).json.referrals

test('a code is registered once, then gets versions, each from the block after the head', async () => {
  const head = (await desk.world.ctx.chain.head()).number
  const first = await desk.post('referrals', { ...FRIENDS, reason: 'a partner' })
  const { enteredAt: _, ...registered } = first.json.referral
  const whole = {
    ...FRIENDS,
    version: 1,
    opensAt: null,
    closesAt: null,
    waitSec: 0,
    fromBlock: head + 1,
    enteredBy: 'ada',
  }
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
    [{ code: 'Fri\u212Ands' }, /code must be 1 to 32 of a-z/],
    [{ waitSec: 31_536_001 }, /waitSec must be a whole number from 0 to 31536000/],
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

test('capitals are the same code, when it is registered and when it is read', async () => {
  const before = (await listed()).length
  const same = await desk.post('referrals', {
    ...FRIENDS,
    code: 'FRIENDS',
    commissionBps: 100,
    closesAt: 2_000_000_000,
  })
  assert.deepEqual([same.json.changed, same.json.referral.code], [false, 'friends'], same.text)
  assert.equal((await listed()).length, before)
  const asked = await desk.service.get('/api/referrals/FrienDs')
  assert.deepEqual([asked.status, asked.json.code], [200, 'friends'])
})

test('a list is registered whole, by spreadsheet columns in any order', async () => {
  const rows = `Note;BPS;Wallet;Code\r\n"one; two";250;${PAYEE};Alpha\r\n;0;${PAYEE};beta\r\n`
  const done = await desk.post('referrals/add', { rows, waitSec: 60 })
  assert.deepEqual([done.status, done.json.codes, done.json.changed], [200, 2, 2], done.text)
  const terms = (await listed()).flatMap(({ code, commissionBps, waitSec }: Record<string, unknown>) =>
    waitSec === 60 ? [[code, commissionBps]] : [],
  )
  assert.deepEqual(terms, [
    ['alpha', 250],
    ['beta', 0],
  ])
  assert.equal((await desk.post('referrals/add', { rows, waitSec: 60 })).json.changed, 0)
})

test('a line that could mean two things is refused with what was expected, and none is entered', async () => {
  const before = (await listed()).length
  const good = `gamma,${PAYEE},500`
  const lists: [rows: string, problem: RegExp][] = [
    [
      `${good}\ndelta,${PAYEE},5%`,
      /Line 2: the commission must be basis points, a whole number from 0 to 2000: 500 is 5 %\./,
    ],
    [`${good}\ndelta,${PAYEE},0.05`, /Line 2: the commission must be basis points/],
    [
      `code,payee,commission\n${good}`,
      /Line 1: a header must have code or referralcode, and payee or wallet or address, and commissionbps/,
    ],
    [`${good}\nGAMMA,${PAYEE},1`, /Line 2: the code gamma is already on line 1\./],
    [`${good}\n${PAYEE},delta,1`, /Line 2: the code must be 1 to 32 of a-z/],
    [`${good}\ndelta,0x12,1`, /Line 2: the payee must be an address: 0x and 40 hex digits/],
    [`${good}\ndelta,${PAYEE}`, /Line 2: it must be code,payee,commissionBps\./],
    ['# nothing', /Line 1: a header must have code/],
    ['\n\n', /Line 1: the list has no row\./],
    [
      Array.from({ length: 1_001 }, (_, n) => `c${n},${PAYEE},1`).join('\n'),
      /Line 1001: a list has at most 1000 rows\./,
    ],
  ]
  for (const [rows, problem] of lists) {
    const refused = await registerReferrals(operatorDeps(desk.world.ctx, desk.world.pool), ADA, { rows })
    assert.match(isOperatorRefusal(refused) ? refused.message : 'it was registered', problem)
  }
  assert.equal((await listed()).length, before)
})

test('the command registers the list of a file, also of a spreadsheet’s Unicode text', async () => {
  const path = join(temporaryDirectory(), 'codes.csv')
  writeFileSync(path, Buffer.from(`\uFEFFcode\tpayee\tbps\r\nEpsilon\t${PAYEE}\t10\r\n`, 'utf16le'))
  const add = (more: string[]) => runHere(['referrals', 'add', '--file', path, ...more], worldEnv(desk.world))
  const declined = await runHere(['referrals', 'add', '--file', path], worldEnv(desk.world), 'n')
  assert.equal(declined.code, 1)
  assert.match(
    declined.err,
    new RegExp(`^epsilon: new, 0\\.1 % to ${PAYEE}, due 0 s after the mint\\nWould register 1; no change for 0\\.`),
  )
  const done = await add(['--wait-sec', '86400', '--yes', '--json'])
  assert.deepEqual([done.code, JSON.parse(done.out).changed], [0, 1], done.err)
  const kept = await add(['--yes'])
  assert.equal(kept.out, 'Registered 0; no change for 1.\n', 'an omitted term stays as it is')
  writeFileSync(path, 'epsilon,nobody,10\n')
  const refused = await add(['--yes'])
  const says = /--file has bad lines\. Line 1: the payee must be an address/
  assert.deepEqual([refused.code, says.test(refused.err)], [2, true], refused.err)
  const rows = Array.from({ length: 12 }, (_, n) => `epsilon${n || ''},${PAYEE},20`)
  writeFileSync(path, rows.join('\n'))
  const dry = await add(['--wait-sec', '86400', '--dry-run'])
  assert.match(
    dry.out,
    /^epsilon: commissionBps 10 -> 20\nepsilon1: new, 0\.2 % to 0x2.*\n… and 2 more\nWould register 12; no change for 0\.\n$/s,
  )
  assert.equal((await listed()).filter(({ code }: { code: string }) => code.startsWith('epsilon')).length, 1)
  const times = await desk.post('referrals/add', { rows: rows.join('\n'), dryRun: true, opensAt: 20, closesAt: 20 })
  assert.match(times.json.error, /closesAt must be later than opensAt/)
})

test('a list as long as its schema allows fits into a request', async () => {
  const rows = Array.from({ length: 1_000 }, (_, n) => `${'c'.repeat(28)}${1_000 + n},${PAYEE},2000,${'n'.repeat(15)}`)
  const text = `code,payee,bps,note\n${rows.join('\n')}`
  assert.ok(text.length > 90_000 && text.length <= 100_000, String(text.length))
  const done = await desk.post('referrals/add', { rows: text, dryRun: true })
  assert.deepEqual([done.status, done.json.codes, done.json.changed], [200, 1_000, 1_000], done.text.slice(0, 300))
})

test('the command registers a code, and anyone may read its terms and whether it counts', async () => {
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
  assert.equal((await desk.service.get('/api/referrals/Not.A.Code')).status, 400)
})
