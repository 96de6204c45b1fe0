// Commissions of referral codes on a real ledger, to the wei: which code of a payment's calldata counts, by the version of its block; a refund takes a
// commission back; a file for a Safe pays what is due, and the chain proves what was paid.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { referralSuffix } from '../../client/src/viem/referral.ts'
import { checksum } from '../../src/chain/digest.ts'
import type { Sql } from '../../src/db/core/sql.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Address } from '../../src/domain/units.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { sessionOf } from '../support/http.ts'
import { type Desk, KEYS, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
let desk: Desk
let world: World
let block = 0
before(async () => {
  desk = await startDesk({}, { between: twice })
  world = desk.world
  const { chain, factory } = world
  await recordIdentity(world.pool, { chainId: chain.chainId, genesisHash: '0x', factory, startBlock: 1 })
  await world.settle()
  block = await height()
})
after(() => desk.close())

const PAYEE = `0x${'aa'.repeat(20)}` as Address
const OTHER = `0x${'bb'.repeat(20)}` as Address
const height = async () => Number((await world.chain.block()).number)
const register = async (code: string, change: object = {}) =>
  assert.equal((await desk.post('referrals', { code, payee: PAYEE, commissionBps: 500, ...change })).status, 200)
const suffix = (...codes: string[]) => {
  const text = Buffer.from(codes.join()).toString('hex')
  return `0x${text}${(text.length / 2).toString(16).padStart(2, '0')}00${'8021'.repeat(8)}` as const
}
/** Sends the price with calldata; mined with the next block. */
const pay = (from: number, data: `0x${string}`, valueWei = BASIC) =>
  world.chain.send({ from: world.at(from), to: world.at(3), value: `0x${valueWei.toString(16)}`, data })
type Line = { code: string; payee: Address; count: number } & Record<'earnedWei' | 'reversedWei' | 'paidWei', string>
/** What the statement has by code since the last time: payments, earned, taken back, paid. */
async function stated(): Promise<Record<string, [number, bigint, bigint, bigint]>> {
  const answer = await desk.get(`statement?from=${block + 1}`)
  assert.equal(answer.status, 200, answer.text)
  block = await height()
  const lines = answer.json.commissions as Line[]
  return Object.fromEntries(
    lines.map(({ code, payee, count, earnedWei, reversedWei, paidWei }) => [
      `${code} ${payee.slice(0, 4)}`,
      [count, BigInt(earnedWei), BigInt(reversedWei), BigInt(paidWei)],
    ]),
  )
}
const dueOf = async (code: string) => {
  const { commissions } = (await desk.get('referrals/commissions')).json as {
    commissions: (Line & { dueWei: string })[]
  }
  return commissions.filter((line) => line.code === code).map(({ dueWei }) => BigInt(dueWei))
}
async function finalize(): Promise<void> {
  for (let i = 0; i < 66; i++) await world.chain.mine()
  await world.payments()
}

test('a transfer with calldata is judged as one without, and its first registered code earns', async () => {
  const time = Number((await world.chain.block()).timestamp)
  await register('friends')
  await register('second', { payee: OTHER, commissionBps: 2_000 })
  await register('late', { opensAt: time + 86_400 })
  await register('past', { closesAt: 1 + 1 })
  await register('own', { payee: world.at(5), commissionBps: 2_000 })
  const sent = [
    await world.pay(6, BASIC),
    await pay(6, referralSuffix('friends')),
    await pay(7, suffix('Unknown!', 'late', 'past', 'second', 'friends')),
    await pay(7, suffix('friends', 'second')),
    await pay(5, suffix('own', 'friends')),
    await pay(6, suffix('own')),
    await pay(6, '0xdeadbeef'),
    await pay(6, suffix('friends').replace('0080218021', '0180218021') as `0x${string}`),
    await pay(6, `${suffix('friends')}00`),
    await pay(6, suffix('friends', '')),
  ]
  await world.settle()
  for (const txHash of sent) assert.equal(await standingOf(world, txHash), 'minted')
  assert.deepEqual(await stated(), {
    'friends 0xaa': [2, (2n * BASIC) / 20n, 0n, 0n],
    'second 0xbb': [1, BASIC / 5n, 0n, 0n],
    [`own ${world.at(5).slice(0, 4)}`]: [1, BASIC / 5n, 0n, 0n],
  })
})

test('a refund of a minted payment cancels its commission, in the period of the refund', async () => {
  await register('back')
  const paid = await pay(10, referralSuffix('back'))
  await pay(10, referralSuffix('back'))
  await world.settle()
  const earned = BASIC / 20n
  assert.deepEqual(await stated(), { 'back 0xaa': [2, 2n * earned, 0n, 0n] })
  await world.act(0, 'expel', [[paid]])
  const back = await world.pay(3, BASIC, world.at(10))
  await world.settle()
  assert.equal((await desk.post(`payments/${paid}/refund`, { refundTxHash: back })).status, 200)
  assert.deepEqual(await stated(), { 'back 0xaa': [0, 0n, earned, 0n] })
  await finalize()
  assert.deepEqual(await dueOf('back'), [earned])
  // The whole ledger has all of it.
  const { out } = await runHere(['export', 'commissions'], worldEnv(world))
  const whole = out.trim().split('\n')
  assert.equal(whole.filter((line) => line.includes(',back,')).length, 3)
  assert.match(whole.at(-1) ?? '', /reversedWei=500000000000000,paidWei=0/)
})

test('a file for a Safe pays what is final, each transfer proves one commission, and no refund', async () => {
  await register('one', { payee: OTHER })
  await register('two', { payee: OTHER, commissionBps: 100 })
  await pay(11, referralSuffix('one'))
  await pay(11, referralSuffix('two'))
  await world.settle()
  assert.deepEqual(await dueOf('one'), [0n], 'not final yet')
  await finalize()
  const file = async (more: object = {}) => (await desk.post('referrals/commissions/file', more)).json
  // Of two people who ask at the same time, one gets the file.
  const codes = (sql: Sql) => sql`LOCK TABLE referral_codes IN SHARE ROW EXCLUSIVE MODE`
  const [first, other] = await meetAt(world.pool, codes, [file, file])
  assert.equal(other.safeBatch, null)
  const firstTransfers = first.safeBatch.transactions as { to: string; value: string }[]
  assert.equal(first.safeBatch.meta.name, 'Commissions')
  assert.equal(
    BigInt(first.sendNowWei),
    firstTransfers.reduce((sum, { value }) => sum + BigInt(value), 0n),
  )
  const own = firstTransfers.filter(({ to }) => to === checksum(OTHER)).map(({ value }) => BigInt(value))
  assert.deepEqual(own, [BASIC / 20n, BASIC / 5n, BASIC / 100n], 'one, second, two')
  assert.ok(first.commissions.every(({ fileMadeAt }: { fileMadeAt: string | null }) => fileMadeAt === null))
  // Later files leave out what a file pays, unless the operator asks for it again. The command says so before it asks.
  const env = {
    ...worldEnv(world),
    RPC_URL: `${world.chain.rpcUrl},${world.chain.rpcUrl.replace('127.0.0.1', 'localhost')}`,
  }
  const files = async (...words: string[]) => {
    const path = join(temporaryDirectory(), 'commissions.json')
    const outcome = await runHere(['referrals', 'file', '--safe-file', path, ...words], env, 'n')
    return { ...outcome, isWritten: existsSync(path) }
  }
  const declined = await files('--again')
  assert.deepEqual([declined.code, declined.isWritten], [1, false], declined.err + declined.out)
  assert.match(
    declined.err,
    /^back: 0\.0005 ETH to 0xa{40}\n.*\nIt pays 0\.\d+ ETH for \d+ codes\. .*Earlier files pay this too, so send the new file only if they were never sent: .*one \(0\.0005 ETH, \d{4}-.*\nMake the file\? .*No change/s,
  )
  const nothing = await files()
  assert.deepEqual([nothing.code, nothing.err], [0, ''])
  assert.match(nothing.out, /^It pays 0 ETH for 0 codes\. .*Left out, because earlier files pay it/)
  const left = await file()
  assert.deepEqual([left.commissions, left.sendNowWei, left.safeBatch], [[], '0', null])
  assert.match(left.note, /Left out, because earlier files pay it: .*one \(0\.0005 ETH, \d{4}-/)
  await pay(11, referralSuffix('two'))
  await world.settle()
  await finalize()
  const more = await file()
  assert.deepEqual(
    more.safeBatch.transactions.map(({ value }: { value: string }) => BigInt(value)),
    [BASIC / 100n],
    'only the new one',
  )
  // A file above the second person's amount waits for one, who gets it.
  const setRule = (rule: { aboveWei: string }) => world.pool`
    UPDATE ledger_state SET second_person_wei = ${rule.aboveWei}`
  await setRule({ aboveWei: String(BigInt(first.sendNowWei) - 1n) })
  const waits = await desk.post('referrals/commissions/file', { again: true })
  assert.equal(waits.status, 202, waits.text)
  const second = { headers: { 'x-admin-key': KEYS[1]?.key } }
  const confirmed = await desk.post(`proposals/${waits.json.proposal.id}/confirm`, {}, second)
  const transfers = confirmed.json.done?.safeBatch.transactions as typeof firstTransfers
  const sum = BigInt(first.sendNowWei) + BASIC / 100n
  assert.equal(
    transfers.reduce((total, { value }) => total + BigInt(value), 0n),
    sum,
    confirmed.text,
  )
  assert.match(confirmed.json.says, /^Confirmed\. It pays 0\.\d+ ETH for \d+ codes\./)
  await setRule({ aboveWei: String(sum) })
  const again = await file({ again: true })
  assert.deepEqual(again.safeBatch.transactions, transfers, 'the same once more')
  assert.match(again.note, /Earlier files pay this too/)
  assert.equal((await file()).safeBatch, null)

  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  // The head's header does not prove that code; the next block's does.
  await world.settle()
  const parts = transfers.map(({ to, value }) => [to as Address, BigInt(value)] as const)
  block = await height()
  const txHash = await world.call(12, splitter, splitTo(...parts), sum)
  await world.settle()
  const paid = (code: string, more: object = {}) => desk.post(`referrals/${code}/paid`, { txHash, ...more })
  assert.match((await paid('one')).json.error, /pays more than once: give valueWei/)
  assert.equal((await paid('one', { valueWei: String(BASIC / 20n) })).json.changed, true)
  assert.equal((await paid('one', { valueWei: String(BASIC / 20n) })).json.changed, false)
  assert.equal((await paid('one')).json.changed, false, 'not the transfer of another code')
  const usedUp = async () => (await paid('two', { valueWei: String(BASIC / 20n) })).json.error
  assert.match(await usedUp(), /one transfer proves one/)
  // In another block it may have had another index.
  await world.pool`UPDATE refunds SET inner_index = inner_index + 90 WHERE commission_of = 'one'`
  assert.match(await usedUp(), /one transfer proves one/)
  await world.pool`UPDATE refunds SET inner_index = inner_index - 90 WHERE commission_of = 'one'`
  assert.match((await paid('two', { valueWei: '1' })).json.error, /does not pay that amount to a payee/)
  assert.equal((await paid('two', { valueWei: String(BASIC / 50n) })).json.changed, true)
  // The last one that is left needs no amount.
  assert.equal((await paid('second')).json.valueWei, String(BASIC / 5n))
  assert.equal((await paid('nobody')).status, 404)
  assert.deepEqual(await dueOf('one'), [0n])
  const statement = await stated()
  assert.deepEqual(statement['one 0xbb'], [0, 0n, 0n, BASIC / 20n])
  assert.equal(
    (await file()).commissions.some(({ code }: { code: string }) => code === 'one'),
    false,
  )
})

test('a commission is due only after its code’s time, and its payee sees that, and no buyer', async () => {
  const payee = `0x${'cc'.repeat(20)}` as Address
  await register('Waits', { payee, waitSec: 7_200 })
  const txHash = await pay(8, suffix('wAiTs', 'friends'))
  await world.settle()
  await finalize()
  const wei = (BASIC * 500n) / 10_000n
  const own = async () => {
    const { json, text } = await desk.service.get('/api/me/referrals', { headers: { cookie: sessionOf(payee) } })
    for (const secret of [world.at(8), txHash]) assert.ok(!text.includes(secret), text)
    return json.referrals
  }
  const terms = { code: 'waits', payee, commissionBps: 500, opensAt: null, closesAt: null, open: true, waitSec: 7_200 }
  const sold = { count: 1, valueWei: String(BASIC), earnedWei: String(wei), reversedWei: '0', paidWei: '0' }
  assert.deepEqual(await own(), [{ ...terms, ...sold, waitingWei: String(wei), dueWei: '0' }])
  assert.deepEqual(await dueOf('waits'), [0n])
  const file = (await desk.post('referrals/commissions/file', {})).json
  assert.ok(!file.commissions.some(({ code }: Line) => code === 'waits'))
  assert.match(file.note, /0\.0005 ETH waits for the time that its codes set\./)
  await world.chain.increaseTime(7_201)
  await finalize()
  assert.deepEqual(await own(), [{ ...terms, ...sold, waitingWei: '0', dueWei: String(wei) }])
  assert.deepEqual(await dueOf('waits'), [wei])
  const stranger = await desk.service.get('/api/me/referrals', { headers: { cookie: sessionOf(world.at(8)) } })
  assert.deepEqual(stranger.json, { referrals: [] })
  await desk.post('referrals', { code: 'waits', payee: OTHER, commissionBps: 1 })
  assert.deepEqual(await own(), [{ ...terms, ...sold, open: false, waitingWei: '0', dueWei: String(wei) }])
})
