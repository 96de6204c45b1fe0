// Logs of blocks that a lagging node left out, and that no storage shows: what came and went within one range of blocks is found with the next
// one, and the ledger goes back and reads it.
import assert from 'node:assert/strict'
import { LateLogsFault } from '../../src/chain/faults.ts'
import type { ChainReader } from '../../src/chain/port.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, paymentOf, type World } from '../support/world.ts'

const inWorld = worldTest()

/** An instance whose reader leaves the logs of the next range out, and finds at the one after that the first of its blocks has some. */
function lagging(world: World) {
  const { chain } = world.ctx
  let first: number | null = null
  const observe: ChainReader['observe'] = async (...asked) => {
    const late = first
    first = -1
    if (late !== null && late > 0) throw new LateLogsFault(late)
    const range = await chain.observe(...asked)
    if (late !== null) return range
    first = asked[0]
    return { ...range, events: [] }
  }
  return world.instance({ chain: { ...chain, observe } })
}

inWorld('a ledger that learns of late logs goes back before their block, and has what they say', async (world) => {
  const paid = await world.pay(5, ETHER / 100n)
  await world.settle()
  await world.act(5, 'transferFrom', [world.at(5), world.at(6), 1n])
  const other = await world.pay(7, ETHER / 100n)
  await world.chain.mine()
  const late = lagging(world)
  await late.payments()
  const transfers = async () => (await world.pool`SELECT FROM node_transfers`).count
  const before = await transfers()
  await world.chain.mine()
  const { toBlock } = await late.payments()
  assert.equal(toBlock, Number((await world.chain.block()).number))
  assert.equal((await transfers()) - before, 1)
  assert.deepEqual(
    (await world.pool`SELECT action FROM audit WHERE action IN ('logsCameLate', 'reorganisation')`).map(
      ({ action }) => action,
    ),
    ['logsCameLate'],
  )
  await world.settle()
  for (const payment of [paid, other]) assert.equal((await paymentOf(world, payment))?.state, 'minted')
  await checkInvariants(world)
})
