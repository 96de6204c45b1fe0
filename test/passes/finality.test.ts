// The moment a payment's block counts as settled: at once behind the fork guard, after so many blocks, or when it is final.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { checkInvariants } from '../support/invariants.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** Distance in blocks from anvil's final block to its head. */
const FINAL_AFTER = 64

let world: World
before(async () => {
  world = await startWorld({}, { between: twice })
  await world.settle()
})
after(() => world.close())

const stateOf = async (txHash: Hash) => (await paymentOf(world, txHash))?.state
const lastGuard = async () => {
  const [row] = await world.pool`SELECT guard_block FROM outbox WHERE kind = 'mint' ORDER BY id DESC LIMIT 1`
  return row?.guard_block
}

test('behind the fork guard a payment is judged in its first block, and its mint bound to it', async () => {
  const paid = await world.pay(5, BASIC)
  const { number } = await world.chain.mine()
  await world.payments()
  assert.deepEqual([await stateOf(paid), await lastGuard()], ['minting', Number(number)])
  await world.settle()
})

test('with a number of confirmations a payment waits for exactly so many blocks', async () => {
  const { payments } = world.instance({ rules: { finality: 3 } })
  const paid = await world.pay(5, BASIC)
  await world.chain.mine(3)
  await payments()
  assert.equal(await stateOf(paid), 'seen')
  await world.chain.mine()
  await payments()
  assert.equal(await stateOf(paid), 'minting')
  await world.settle()
})

test('a run reads the final block once, for judging and minting alike', async () => {
  const { chain } = world.ctx
  let asked = 0
  const finalized = () => {
    asked++
    return chain.finalized()
  }
  // The reconciler reads it, too.
  const rules = { finality: 'finalized', reconcileEverySec: 86_400 } as const
  await world.instance({ rules, chain: { ...chain, finalized } }).payments()
  assert.equal(asked, 1)
})

for (const [sentence, finality, guardUsable] of [
  ['set to wait for finality', 'finalized', true],
  ['where the guard cannot be relied on', 'guarded', false],
] as const) {
  test(`a payment waits until its block is final: ${sentence}`, async () => {
    const { payments } = world.instance({ rules: { finality }, facts: { guardUsable } })
    const paid = await world.pay(6, BASIC)
    await world.chain.mine(FINAL_AFTER)
    await payments()
    assert.equal(await stateOf(paid), 'seen')
    await world.chain.mine()
    await payments()
    assert.equal(await stateOf(paid), 'minting')
    assert.equal((await lastGuard()) === null, !guardUsable)
    await world.settle()
  })
}

test('a round that carries no guard waits until the block of its seed is final', async () => {
  const { credit } = world.instance({ facts: { guardUsable: false } })
  await world.rest()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine(FINAL_AFTER)
  const waits = await credit()
  assert.deepEqual([waits.reason, (waits.dueNodes ?? 0) > 0, waits.txHash], ['pending', true, null])
  await world.chain.mine()
  const sent = await credit()
  assert.deepEqual([sent.reason, sent.nodeCount], [null, waits.dueNodes])
  await world.rest()
})

test('without finality and a reliable guard, nothing is ever accepted', async () => {
  const chain = { ...world.ctx.chain, finalized: async () => null }
  const { payments } = world.instance({ chain, facts: { guardUsable: false } })
  const paid = await world.pay(7, BASIC)
  await world.chain.mine(2 * FINAL_AFTER)
  await payments()
  assert.equal(await stateOf(paid), 'seen')
  await checkInvariants(world)
})
