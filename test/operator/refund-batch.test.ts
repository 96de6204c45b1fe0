// A transaction that pays several buyers back, as a Safe's batch does: each transfer in it proves one refund, and none two.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Hash } from '../../src/domain/units.ts'
import { SPLIT, splitTo } from '../support/forwarder.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, standingOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let desk: Desk
let world: World
before(async () => {
  desk = await startDesk()
  world = desk.world
})
after(() => desk.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const refund = (txHash: Hash, refundTxHash: Hash) => desk.post(`payments/${txHash}/refund`, { refundTxHash })
/** A payment of the wrong amount, held. */
async function heldPayment(from: number, valueWei: bigint): Promise<Hash> {
  const txHash = await world.pay(from, valueWei)
  await world.settle()
  assert.equal(await told(txHash), 'held wrongAmount')
  return txHash
}

test('a refund of several buyers in one transaction is recorded once for each of them', async () => {
  const splitter = world.at(17)
  await world.chain.rpc('anvil_setCode', [splitter, SPLIT])
  const [same, another] = [BASIC - 11n, BASIC - 12n]
  const held = [await heldPayment(5, same), await heldPayment(5, same), await heldPayment(6, another)]
  const late = await heldPayment(5, same)
  const [five, six] = [world.at(5), world.at(6)]
  const calldata = splitTo([five, same], [six, another], [five, same])
  const refundTxHash = await world.call(10, splitter, calldata, same + another + same)
  for (const txHash of held) {
    const recorded = await refund(txHash, refundTxHash)
    assert.deepEqual([recorded.status, recorded.json.status], [200, 'refunded'], recorded.text)
  }
  assert.equal((await refund(held[0] as Hash, refundTxHash)).status, 409, 'it is refunded already')
  const third = await refund(late, refundTxHash)
  assert.equal(third.status, 409, third.text)
  assert.match(third.json.error, /refund of another payment/)

  await world.chain.rpc('anvil_reorg', [1, []])
  for (let i = 0; i < 67; i++) await world.chain.mine()
  await world.payments()
  for (const txHash of held) assert.equal(await told(txHash), 'held recheck')
})
