// Verdicts on a payment when blocks disappear and return: its last verdict stands, not an earlier one, and its position
// and time are those of its new block.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** Blocks on top of a refund after which it counts as gone if it is missing; even twice as many are never final here. */
const MANY = 70

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk({}, { slotsInEpoch: MANY })
  world = desk.world
  await world.settle()
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const height = async () => Number((await world.chain.block()).number)

/** A payment of the wrong amount in the head's block, held. */
async function heldPayment(account: number): Promise<{ paid: Hash; block: number }> {
  const paid = await world.pay(account, BASIC - 1n)
  await world.chain.mine()
  await world.payments()
  assert.equal(await told(paid), 'held wrongAmount')
  return { paid, block: await height() }
}

/** One that was held and refunded in the next block; `raw` is its transaction, to send again. */
async function refundedPayment(account: number) {
  const { paid, block } = await heldPayment(account)
  const raw = await world.raw(paid)
  const back = { from: world.at(10), to: world.at(account), value: `0x${(BASIC - 1n).toString(16)}` } as const
  const refundTxHash = await world.chain.send(back)
  await world.chain.mine()
  assert.equal((await desk.post(`payments/${paid}/refund`, { refundTxHash })).status, 200)
  return { paid, block, raw }
}

test('a payment that was held, released and minted is pending again if its mint’s block is lost', async () => {
  const { paid } = await heldPayment(5)
  await desk.post(`payments/${paid}/release`, { tierId: 'basic' })
  await world.chain.mine()
  const beforeMint = await height()
  await world.settle()
  assert.equal(await told(paid), 'minted')
  await world.chain.reorg((await height()) - beforeMint)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.equal(await told(paid), 'minting')
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('a payment whose refund vanished is still held when its block goes and returns', async () => {
  const { paid, block, raw } = await refundedPayment(6)
  await world.chain.reorg(1)
  await world.chain.mine(MANY)
  await world.payments()
  assert.equal(await told(paid), 'held recheck')
  await world.chain.reorg((await height()) - block + 1)
  await world.payments()
  assert.equal(await told(paid), 'orphaned recheck')
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.payments()
  assert.equal(await told(paid), 'held recheck')
})

test('a payment that vanished together with its refund returns held', async () => {
  const { paid, block, raw } = await refundedPayment(8)
  await world.chain.reorg((await height()) - block + 1)
  await world.chain.mine(MANY)
  await world.payments()
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.payments()
  assert.equal(await told(paid), 'held recheck')
})

test('a payment that returns elsewhere has its new block’s place and time', async () => {
  await world.pay(11, BASIC)
  const paid = await world.pay(7, BASIC)
  const raw = await world.raw(paid)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  await world.chain.reorg(1)
  await world.chain.increaseTime(100)
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.chain.mine()
  await world.settle()
  assert.equal(await told(paid), 'minted')
  // They include the position and time of every payment.
  await checkInvariants(world)
})
