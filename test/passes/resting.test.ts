// A sender whose transactions revert one after the other rests, and alerts the operator. A paused contract, or a
// distributor without funds, costs nothing and needs no restart. Each test has its own world.
import assert from 'node:assert/strict'
import { paymentsPass } from '../../src/passes/payments.ts'
import { worldTest } from '../support/in-world.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

const inWorld = worldTest()

const mints = async (world: World) => (await world.pool`SELECT FROM outbox WHERE kind = 'mint'`).length
const rests = async (world: World) => (await world.pool`SELECT FROM audit WHERE action = 'senderRests'`).length

/** A mint that is sent and then reverts: the contract is paused before the mint's block, and released afterwards. */
async function revertedMint(world: World): Promise<void> {
  const before = await mints(world)
  await world.payments()
  assert.equal(await mints(world), before + 1, 'a mint was sent')
  const price = `0x${(10n ** 12n).toString(16)}`
  await world.chain.rpc('eth_sendTransaction', [
    { from: world.at(0), to: world.factory, data: '0x8456cb59', maxFeePerGas: price, maxPriorityFeePerGas: price },
  ])
  await world.chain.mine()
  await world.payments()
  await world.act(0, 'unpause')
}

inWorld('after three reverted mints the minter rests for a quarter of an hour, and then mints', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 3; i++) await revertedMint(world)
  const states = await world.pool`SELECT state FROM outbox WHERE kind = 'mint'`
  assert.deepEqual(
    states.map((row) => row.state),
    ['reverted', 'reverted', 'reverted'],
  )
  for (let i = 0; i < 2; i++) {
    await world.payments()
    await world.chain.mine()
  }
  assert.deepEqual([await mints(world), await rests(world), (await paymentOf(world, paid))?.state], [3, 1, 'accepted'])
  await world.chain.increaseTime(840)
  await world.chain.mine()
  await world.payments()
  assert.equal(await mints(world), 3)
  await world.chain.increaseTime(61)
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  const next = await world.pay(6, BASIC)
  await world.settle()
  assert.equal((await paymentOf(world, next))?.state, 'minted', 'one that came through ends it')
})

inWorld('a provider’s spent budget for mints pauses the minter, too', async (world) => {
  await world.act(0, 'setMinter', [world.at(1), 0n, 9n])
  await world.settle()
  const paid = await world.pay(5, BASIC)
  const contract = { ...world.ctx.contract, budget: async () => ({ nodes: 50, cohorts: 9, lastCohort: 1 }) }
  const lied = paymentsPass({ ...world.ctx, contract })
  for (let i = 0; i < 12; i++) {
    await world.chain.mine()
    await lied()
  }
  assert.deepEqual([await mints(world), await rests(world), (await paymentOf(world, paid))?.state], [3, 1, 'accepted'])
  await world.act(0, 'setMinter', [world.at(1), 9n, 9n])
  await world.chain.increaseTime(901)
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

inWorld('mints that revert on their fork guard do not tire the minter', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 4; i++) {
    await revertedMint(world)
    // As if that mint had named a block of another fork.
    await world.pool`UPDATE outbox SET call = jsonb_set(call, '{guard,hash}', '"0x00"') WHERE kind = 'mint'`
  }
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
  assert.equal(await rests(world), 0)
})

inWorld('while the contract is paused payments stay accepted, use no nonce, and resume later', async (world) => {
  await world.act(0, 'pause')
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  for (let i = 0; i < 4; i++) {
    await world.payments()
    await world.chain.mine()
  }
  assert.deepEqual([await mints(world), (await paymentOf(world, paid))?.state], [0, 'accepted'])
  await world.act(0, 'unpause')
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

inWorld('a round beyond the distributor’s ether is underfunded, uses no nonce, and is paid once', async (world) => {
  await world.pay(5, BASIC)
  await world.settle()
  const funds = BigInt(await world.chain.rpc<string>('eth_getBalance', [world.at(2), 'latest']))
  await world.chain.setBalance(world.at(2), 1000n)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  for (let i = 0; i < 3; i++) {
    assert.equal((await world.credit()).reason, 'underfunded')
    await world.chain.mine()
  }
  assert.equal((await world.pool`SELECT FROM outbox WHERE kind = 'credit'`).length, 0)
  await world.chain.setBalance(world.at(2), funds)
  await world.rest()
  assert.equal((await world.pool`SELECT FROM rounds`).length, 1)
})
