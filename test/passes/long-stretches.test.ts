// Cases that need long stretches: reorganisations of hundreds of blocks, and data about blocks that far behind.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCohorts } from '../../src/db/nodes/cohorts.ts'
import { checkInvariants } from '../support/invariants.ts'
import { beginSlot, ETHER, paymentOf, startWorld } from '../support/world.ts'

const BASIC = ETHER / 100n
/** More than the blocks whose hashes contracts see, or whose states a provider keeps; far less than we promise. */
const DEPTH = 300

test('after a reorg of hundreds of blocks, each cohort is what it was at the fork', async () => {
  // Nothing becomes final so soon, and no comparison with the contract repairs anything.
  const world = await startWorld({ reconcileEverySec: 86_400 }, { slotsInEpoch: 4 * DEPTH })
  try {
    await world.settle()
    await beginSlot(world)
    const kept = await world.pay(5, BASIC)
    await world.settle()
    const fork = Number((await world.chain.block()).number)
    const gone = await world.pay(6, BASIC)
    await world.settle()
    const sizes = async () => (await readCohorts(world.pool)).map(({ size }) => size).filter((size) => size > 0)
    assert.deepEqual(await sizes(), [2], 'both are in one cohort')
    await world.chain.mine(DEPTH)
    await world.payments()
    await world.chain.reorg(Number((await world.chain.block()).number) - fork)
    await world.chain.mine()
    await world.payments()
    assert.deepEqual(
      [(await paymentOf(world, kept))?.state, (await paymentOf(world, gone))?.state],
      ['minted', 'orphaned'],
    )
    assert.deepEqual(await sizes(), [1])
    await checkInvariants(world)
  } finally {
    await world.close()
  }
})
