// Faults without the fork guard: sends without an answer, sends that no node relays, and reorganisations before blocks are final.
import assert from 'node:assert/strict'
import { SEND } from '../support/fault-proxy.ts'
import { INTERVAL_SEC } from '../support/world.ts'
import { attempt, isOneNode, lastAttempt, paid, play, stateOf } from './stage.ts'

/** Distance in blocks from the final block to the head. */
const FINAL_AFTER = 4

// The embedded chain's node counts as two, so its final blocks count at once. A second provider would relay what the first one swallows.
const rules = { rewindsToShorterChain: true }
const { act } = play({ slotsInEpoch: FINAL_AFTER / 2, facts: { guardUsable: false }, rules })

for (const fault of ['replyLost', 'swallowed', 'unavailable'] as const)
  act(`a mint meets ${fault} and a reorg of its block: one node`, [fault], async ({ world, proxy }) => {
    const payment = await paid(world)
    await world.chain.mine(FINAL_AFTER)
    proxy.inject(fault, { method: SEND })
    await attempt(world.payments)
    assert.equal(await stateOf(world, payment), 'minting')
    const { hash } = await lastAttempt(world)
    await attempt(world.payments)
    await world.chain.mine()
    assert.equal(await world.succeeded(hash), true)
    await world.payments()
    assert.equal(await stateOf(world, payment), 'minted')
    await world.chain.reorg(1)
    await world.payments()
    assert.equal(await stateOf(world, payment), 'minting')
    await world.settle()
    await isOneNode(world, payment)
    assert.equal(await world.succeeded(hash), true, 'by the same bytes')
  })

act('a reorg removes a payment before its block is final: no node', [], async ({ world }) => {
  const payment = await paid(world)
  await world.chain.mine(FINAL_AFTER - 1)
  await world.payments()
  assert.equal(await stateOf(world, payment), 'seen')
  await world.chain.reorg(FINAL_AFTER)
  await world.settle()
  assert.deepEqual([await stateOf(world, payment), await world.read<bigint>('nodeOfRef', [payment])], ['orphaned', 0n])
})

act(
  'a round meets a lost reply, and a reorg of its turns’ block before that is final',
  ['replyLost'],
  async (stage) => {
    const { world, proxy } = stage
    await world.rest()
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine(FINAL_AFTER)
    assert.equal((await world.credit()).reason, 'pending')
    await world.chain.reorg(FINAL_AFTER)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine(FINAL_AFTER + 1)
    proxy.inject('replyLost', { method: SEND })
    assert.equal((await world.credit()).reason, null)
    await world.rest()
  },
)
