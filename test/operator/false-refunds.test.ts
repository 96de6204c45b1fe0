// Providers that lie about finality and refunds: one of two decides nothing, and a single one nothing near the head.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readFinalized } from '../../src/db/blocks/halts.ts'
import type { Hash } from '../../src/domain/units.ts'
import { readFinality } from '../../src/follower/followed-finality.ts'
import type { FalseProvider, Rule } from '../chain/false-provider.ts'
import { other } from '../follower/lies.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { throughTwo } from '../support/two-providers.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const WRONG = ETHER / 100n - 1n
/** Distance in blocks from the head to anvil's final block. */
const FINAL_DEPTH = 64

let desk: Desk
let world: World
let first: FalseProvider
let second: FalseProvider
before(async () => {
  const { between, providers } = throughTwo()
  desk = await startDesk({}, { between })
  world = desk.world
  ;[first, second] = providers as [FalseProvider, FalseProvider]
  await world.chain.mine(FINAL_DEPTH)
  await world.settle()
})
beforeEach(() => {
  for (const provider of [first, second]) provider.rule = () => undefined
})
after(() => desk.close())

/** Calls the head final. */
const early: Rule = async ({ method, params }) =>
  method === 'eth_getBlockByNumber' && params[0] === 'finalized'
    ? { result: await world.chain.rpc('eth_getBlockByNumber', ['latest', false]) }
    : undefined
/** Calls a block of another chain final. */
const elsewhere =
  (number: number): Rule =>
  async ({ method, params }) => {
    if (method !== 'eth_getBlockByNumber' || params[0] !== 'finalized') return undefined
    const block = await world.chain.rpc<{ hash: Hash }>(method, [`0x${number.toString(16)}`, false])
    return { result: { ...block, hash: other(block.hash) } }
  }
const head = async () => Number((await world.chain.block()).number)
const refundOf = async (payment: Hash) =>
  (
    await world.pool`SELECT r.final FROM refunds r JOIN payments p ON p.ref = r.payment_ref WHERE p.tx_hash = ${payment}`
  )[0]

/** A payment of the wrong amount. */
async function held(account: number): Promise<Hash> {
  const payment = await world.pay(account, WRONG)
  await world.settle()
  return payment
}
async function paidBack(account: number): Promise<Hash> {
  const txHash = await world.chain.send({ from: world.at(10), to: world.at(account), value: `0x${WRONG.toString(16)}` })
  await world.chain.mine()
  return txHash
}

for (const [sentence, alone] of [
  ['one of two providers', false],
  ['the only provider', true],
] as const) {
  test(`the head that ${sentence} calls final seals nothing: the next reorganisation is followed`, async () => {
    const chain = alone ? (world.ctx.chain.providers[0] ?? assert.fail('no provider')) : world.ctx.chain
    const instance = world.instance({ chain })
    first.rule = early
    await instance.payments()
    const noted = (await readFinalized(world.pool)) ?? assert.fail('nothing is final')
    assert.ok(noted.number <= (await head()) - FINAL_DEPTH, `final is ${noted.number} of ${await head()}`)
    await world.chain.reorg(2)
    await world.chain.mine(3)
    await instance.payments()
    assert.equal((await world.pool`SELECT FROM troubles WHERE name = 'halted'`).count, 0)
  })

  test(`a refund in a block that ${sentence} alone calls final may yet be undone`, async () => {
    const chain = alone ? (world.ctx.chain.providers[0] ?? assert.fail('no provider')) : world.ctx.chain
    const payment = await held(5)
    const refundTxHash = await paidBack(5)
    await world.payments()
    first.rule = early
    assert.equal((await desk.post(`payments/${payment}/refund`, { refundTxHash })).status, 200)
    await world.instance({ chain }).payments()
    assert.deepEqual(await refundOf(payment), { final: false })
    await world.chain.mine(FINAL_DEPTH)
    if (alone) {
      await world.instance({ chain }).payments()
      assert.deepEqual(await refundOf(payment), { final: false }, 'of 64 blocks, but not of a quarter of an hour')
      await world.chain.increaseTime(900)
      await world.chain.mine()
    }
    await world.instance({ chain }).payments()
    assert.deepEqual(await refundOf(payment), { final: true })
  })
}

test('a provider on another chain is no second voice for the head that one calls final', async () => {
  await world.payments()
  first.rule = early
  second.rule = elsewhere(await head())
  await world.payments()
  const noted = (await readFinalized(world.pool)) ?? assert.fail('nothing is final')
  assert.ok(noted.number <= (await head()) - FINAL_DEPTH, `final is ${noted.number} of ${await head()}`)
})

test('nothing is final while one of two providers calls a block of another chain final', async () => {
  await world.chain.mine(FINAL_DEPTH)
  await world.payments()
  const final = Number((await world.chain.rpc<{ number: string }>('eth_getBlockByNumber', ['finalized', false])).number)
  const firm = async () =>
    (await readFinality(world.ctx, (await readCursor(world.pool)) ?? assert.fail('no cursor')))?.firm
  assert.equal(await firm(), final)
  second.rule = elsewhere(final - 1)
  assert.equal(await firm(), undefined)
})

test('a refund that one of two providers makes up is not recorded, a true one is once both agree', async () => {
  const payment = await held(6)
  const other = await paidBack(7)
  await world.payments()
  // The same transaction, as if it had refunded the payer.
  first.rule = async ({ method }, forward) => {
    if (method !== 'eth_getTransactionByHash' && method !== 'eth_getTransactionReceipt') return undefined
    const { result } = (await forward()) as { result: object }
    return { result: { ...result, to: world.at(6) } }
  }
  const madeUp = await desk.post(`payments/${payment}/refund`, { refundTxHash: other })
  assert.equal(madeUp.status, 409, madeUp.text)
  assert.equal(await refundOf(payment), undefined)
  const refundTxHash = await paidBack(6)
  await world.payments()
  first.rule = ({ method }) => (method === 'eth_getTransactionByHash' ? { result: null } : undefined)
  assert.equal((await desk.post(`payments/${payment}/refund`, { refundTxHash })).status, 409)
  first.rule = () => undefined
  assert.equal((await desk.post(`payments/${payment}/refund`, { refundTxHash })).status, 200)
  assert.equal((await paymentOf(world, payment))?.state, 'refunded')
})

test('after all of this the ledger matches the chain', () => checkInvariants(world))

/** Tells that the transactions of account 16 are of account 17. */
const anotherSender: Rule = async (_call, forward) =>
  JSON.parse(JSON.stringify(await forward()).replaceAll(world.at(16), world.at(17)))
const payerOf = async (payment: Hash) =>
  (await world.pool<{ from: string }[]>`SELECT from_address AS from FROM payments WHERE tx_hash = ${payment}`)[0]?.from

test('who paid a wrong amount is proven when its block is read', async () => {
  first.rule = anotherSender
  assert.equal(await payerOf(await held(16)), world.at(16))
  first.rule = () => undefined
})

test('an unproven payer is proven before a refund, and a false one rewinds the ledger', async () => {
  const payment = await held(16)
  // As if the block had been followed before its list could be proven.
  await world.pool`UPDATE payments SET from_address = ${world.at(17)}, proof = 'believed' WHERE tx_hash = ${payment}`
  await world.chain.mine(2 * FINAL_DEPTH)
  await world.settle()
  const prepare = () => desk.post(`payments/${payment}/refund/prepare`, {})
  await assert.rejects(async () => assert.equal((await prepare()).status, 200))
  await world.settle()
  assert.equal(await payerOf(payment), world.at(16))
  const answer = await prepare()
  assert.equal(answer.json.sendNow, true, JSON.stringify(answer.json))
  await world.rest()
  await checkInvariants(world)
})
