// What a commission rests on: a mint in a settled block, which its receipts prove or two providers report. One that only one provider reports earns
// nothing yet, and the answer says so; the only provider is believed if it may be, and the books mark it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { referralSuffix } from '../../client/src/viem/referral.ts'
import { operatorDeps } from '../../src/boot/app.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { fileCommissions } from '../../src/operator/acts/referrals/commissions.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { setModeTo, throughTwo } from '../support/two-providers.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const EARNED = BASIC / 20n
/** So many blocks on top make one final. */
const MANY = 66

let desk: Desk
let world: World
let second: FalseProvider
before(async () => {
  const { between, providers } = throughTwo()
  desk = await startDesk({}, { between })
  world = desk.world
  ;[, second] = providers as [FalseProvider, FalseProvider]
  const { chain, factory } = world
  await recordIdentity(world.pool, { chainId: chain.chainId, genesisHash: '0x', factory, startBlock: 1 })
  await world.settle()
  await desk.post('referrals', { code: 'friends', payee: world.at(15), commissionBps: 500 })
})
after(() => desk.close())

const data = referralSuffix('friends')
const pay = (from: number) =>
  world.chain.send({ from: world.at(from), to: world.at(3), value: `0x${BASIC.toString(16)}`, data })
/** The file of all that is due, as if no earlier one had been sent. */
const file = async () => (await desk.post('referrals/commissions/file', { again: true })).json
async function finalize(): Promise<void> {
  await world.chain.mine(MANY)
  await world.payments()
}
/** What the export of a kind says each row rests on, by its transaction. */
async function assurances(kind: 'commissions' | 'refunds'): Promise<Record<string, string>> {
  const { out } = await runHere(['export', kind], worldEnv(world))
  const [names = [], ...rows] = out
    .trim()
    .split('\r\n')
    .slice(0, -1)
    .map((line) => line.split(','))
  return Object.fromEntries(rows.map((row) => [row[names.indexOf('paymentTxHash')], row[names.indexOf('assurance')]]))
}

/** Names another hash for each block that is asked for by its number. */
const elsewhere: Rule = async ({ method, params }, forward) => {
  const { result } = (await forward()) as { result: { hash: Hash } }
  const isByNumber = method === 'eth_getBlockByNumber' && params[0] !== 'latest' && params[0] !== 'finalized'
  return { result: isByNumber ? { ...result, hash: `0x${'ab'.repeat(32)}` } : result }
}

test('no commission is due while a provider contradicts the ledger, and the answers report that', async () => {
  const paid = await pay(7)
  await world.settle()
  await finalize()
  second.rule = elsewhere
  const { sendNowWei, safeBatch, says } = await file()
  assert.deepEqual([sendNowWei, safeBatch], ['0', null])
  assert.match(says, /Nothing is settled: only \S+ of 2 providers answers\. Wait until another one answers/)
  assert.match((await desk.get('referrals/commissions')).json.note, /^Nothing is settled: /)
  second.rule = () => undefined
  const honest = await file()
  assert.deepEqual([honest.sendNowWei, honest.note], [String(EARNED), null])
  assert.deepEqual(await assurances('commissions'), { [paid]: 'proven' })
})

test('a mint by one provider’s word earns nothing until another confirms it, if there is another', async () => {
  await setModeTo(world.pool, 'agreed')
  const paid = await pay(8)
  // The first of these may open a cohort.
  for (let i = 0; i < 3 && (await standingOf(world, paid)) !== 'minting'; i++) {
    await world.chain.mine()
    await world.payments()
  }
  assert.equal(await standingOf(world, paid), 'minting')
  second.rule = ({ method }) => (method === 'eth_getTransactionReceipt' ? { result: null } : undefined)
  await world.settle()
  assert.equal(await standingOf(world, paid), 'minted')
  await finalize()

  const waits = await file()
  assert.equal(waits.sendNowWei, String(EARNED), 'that of the first mint')
  assert.equal(waits.commissions[0].believedWei, String(EARNED))
  assert.match(waits.says, /0\.0005 ETH waits: only one provider reports the mints that earned it\./)
  assert.equal((await assurances('commissions'))[paid], 'believed')

  const chain = { ...world.ctx.chain, providers: world.ctx.chain.providers.slice(0, 1) }
  const alone = operatorDeps({ ...world.ctx, chain }, world.pool)
  await world.chain.mine(MANY, 15)
  await world.payments()
  const trusted = await fileCommissions.unguarded(alone, { name: 'ada', requestId: null }, { again: true })
  if (isOperatorRefusal(trusted)) assert.fail(trusted.message)
  assert.equal(trusted.sendNowWei, 2n * EARNED)
  assert.match(
    trusted.note ?? '',
    /Only one provider reports it\. Compare block \d+, hash 0x\w+, with an explorer first\./,
  )
  assert.match(trusted.note ?? '', /0\.0005 ETH was earned by mints that only one provider reports\./)

  // The header of the mint's block may be gone by then.
  await world.pool`DELETE FROM blocks WHERE number <= (SELECT max(block_number) FROM nodes)`
  second.rule = () => undefined
  const agreed = await file()
  assert.equal(agreed.sendNowWei, String(2n * EARNED))
  assert.match(agreed.note, /^Earlier files pay this too, [^.]*: friends \(0\.001 ETH, [^)]*\)\.$/)
  assert.equal((await assurances('commissions'))[paid], 'agreed')
})

test('the export of refunds shows the evidence for each payer', async () => {
  const paid = await world.pay(9, BASIC - 1n)
  await world.settle()
  const back = await world.pay(10, BASIC - 1n, world.at(9))
  await world.settle()
  assert.equal((await desk.post(`payments/${paid}/refund`, { refundTxHash: back })).status, 200)
  assert.equal((await assurances('refunds'))[paid], 'agreed')
  await finalize()
  await checkInvariants(world)
})
