// The first of two providers follows a fork of its own, with payments that the chain does not have: nothing there becomes final, so nothing that rests
// on finality is paid. And what one of two answers alone is final late, and never enough for a refund.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import type { Hash } from '../../src/domain/units.ts'
import { lookAtFinality, readFinality } from '../../src/follower/followed-finality.ts'
import type { FalseProvider } from '../chain/false-provider.ts'
import { startSibling, type TestChain } from '../support/anvil.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { throughTwo } from '../support/two-providers.ts'
import { acceptedPayment, ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** So many blocks on top make one final, and so many seconds apart make it old enough for a lone voice. */
const [MANY, APART] = [70, 15]

let desk: Desk
let world: World
let first: FalseProvider
let second: FalseProvider
let fork: TestChain
before(async () => {
  const { between, providers } = throughTwo()
  desk = await startDesk({}, { between })
  world = desk.world
  ;[first, second] = providers as [FalseProvider, FalseProvider]
  const { hash: genesisHash } = await world.chain.block(0)
  const { chainId } = world.chain
  await recordIdentity(world.pool, { chainId, genesisHash, factory: world.factory, startBlock: 1 })
  await world.chain.mine(MANY, APART)
  await world.settle()
})
after(async () => {
  await desk.close()
  await fork?.stop()
})

const prepare = async (payment: Hash) => (await desk.post(`payments/${payment}/refund/prepare`, {})).json
const file = async (payment: Hash) => (await desk.post('payments/refunds/prepare', { payments: [payment] })).json
const hostOf = ({ url }: FalseProvider) => new URL(url).host
const firm = async () =>
  (await readFinality(world.ctx, (await readCursor(world.pool)) ?? assert.fail('no cursor')))?.firm ?? null
const doctor = async () => {
  const { out } = await runHere(['doctor', '--json'], { ...worldEnv(world), RPC_URL: `${first.url},${second.url}` })
  const { findings } = JSON.parse(out) as { findings: { check: string; verdict: string; says: string }[] }
  return findings.find(({ check }) => check === 'chain.final')
}

test('T45: a payment on the first provider’s fork is neither sold nor refunded, with a report', async () => {
  fork = await startSibling(world.chain)
  const pay = (from: number, valueWei: bigint) =>
    fork.send({ from: world.at(from), to: world.at(3), value: `0x${valueWei.toString(16)}` })
  const [made, sold] = [await pay(18, 3n * ETHER), await pay(17, BASIC)]
  const { timestamp } = await world.chain.block()
  for (const chain of [world.chain, fork]) {
    await chain.setNextTime(Number(timestamp) + APART)
    await chain.mine(MANY, APART)
  }
  const refused = { error: { code: -32_000, message: 'no such state' } }
  first.rule = ({ method, params }) =>
    fork.rpc(method, params).then(
      (result) => ({ result }),
      () => refused,
    )
  await world.instance({ minter: null, rules: { finality: 'finalized' } }).payments()
  assert.deepEqual([await standingOf(world, made), await standingOf(world, sold)], ['seen', 'seen'])
  await world.payments()
  assert.deepEqual([await standingOf(world, made), await standingOf(world, sold)], ['seen', 'seen'])
  // As if it had been judged before the second provider answered.
  await world.pool`UPDATE payments SET state = 'held', reason = 'wrongAmount' WHERE tx_hash = ${made}`

  const { sendNow, isPaymentFinal, says } = await prepare(made)
  assert.deepEqual([sendNow, isPaymentFinal], [false, false], says)
  assert.match(says, /^Do not send it yet: \S+ has 0x\w{64} as block \d+, and the ledger has 0x\w{64}\./)
  assert.ok(says.includes(`${hostOf(second)} has`), says)
  const many = await file(made)
  assert.deepEqual([many.sendNowWei, many.safeBatch, many.results[0].prepared.says], ['0', null, says])
  assert.equal(await firm(), null)
  // What it said stands while it is silent.
  second.rule = () => ({ error: { code: -32_000, message: 'out of order' } })
  assert.equal(await firm(), null)
  second.rule = () => undefined
  const finding = await doctor()
  assert.equal(finding?.verdict, 'fail', JSON.stringify(finding))

  first.rule = () => undefined
  await world.settle()
  assert.deepEqual([await standingOf(world, made), await standingOf(world, sold)], ['orphaned refunding', 'orphaned'])
  assert.ok((await firm()) !== null)
  assert.equal((await doctor())?.verdict, 'ok')
})

test('one of two providers’ lone answer is final late, and no refund rests on it', async () => {
  const paid = await acceptedPayment(world, 6, BASIC)
  await prepare(paid)
  await world.chain.mine(MANY)
  await world.settle()
  assert.equal((await prepare(paid)).sendNow, true)
  second.rule = () => ({ error: { code: -32_000, message: 'out of order' } })
  const says = `Do not send it yet: only ${hostOf(first)} of 2 providers answers.`
  assert.equal((await prepare(paid)).says.startsWith(says), true, (await prepare(paid)).says)
  const { number } = (await readCursor(world.pool)) ?? assert.fail('no cursor')
  assert.ok(((await firm()) ?? 0) < number - MANY, 'not within a quarter of an hour')
  await world.chain.mine(MANY, APART)
  await world.settle()
  assert.ok(((await firm()) ?? 0) > number)
  assert.equal((await prepare(paid)).sendNow, false)
  assert.equal((await doctor())?.verdict, 'warn')
  second.rule = () => undefined
  assert.equal((await prepare(paid)).sendNow, true)
  assert.equal((await desk.post(`payments/${paid}/refund/cancel`)).status, 200)
  await world.settle()
  await checkInvariants(world)
})

test('without finality a block counts as final at 64 deep, and a lone voice’s after 15 minutes', async () => {
  await world.chain.increaseTime(1_000)
  await world.chain.mine()
  await world.chain.mine(MANY, 1)
  await world.payments()
  const cursor = (await readCursor(world.pool)) ?? assert.fail('no cursor')
  const firmOf = async (providers: typeof world.ctx.chain.providers) => {
    const chain = { ...world.ctx.chain, finalized: async () => null, providers }
    const found = await lookAtFinality({ ...world.ctx, chain }, cursor, 64)
    return found && 'firm' in found ? cursor.number - found.firm : assert.fail('nothing is final')
  }
  const both = world.ctx.chain.providers
  assert.deepEqual([await firmOf(both), await firmOf(both.slice(0, 1))], [64, MANY + 1])
})
