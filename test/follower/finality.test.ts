// Waiting for depth instead of relying on the fork guard: if the chain reorganises a payment away in time, it never gets a node.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkInvariants } from '../support/invariants.ts'
import { twice } from '../support/two-providers.ts'
import { ETHER, paymentOf, startWorld } from '../support/world.ts'

const BASIC = ETHER / 100n

for (const [sentence, finality, guardUsable, depth] of [
  ['three confirmations', 3, true, 3],
  ['finality', 'finalized', true, 64],
  ['finality, where the guard cannot be used', 'guarded', false, 64],
] as const) {
  test(`with ${sentence}, a payment that is reorganised away before then is never minted`, async () => {
    const world = await startWorld({ finality }, { facts: { guardUsable }, between: twice })
    try {
      await world.chain.mine(depth + 2)
      const paid = await world.pay(5, BASIC)
      await world.chain.mine(depth)
      await world.payments()
      assert.equal((await paymentOf(world, paid))?.state, 'seen')
      await world.chain.reorg(depth)
      await world.chain.mine(2 * depth)
      await world.payments()
      assert.equal((await paymentOf(world, paid))?.state, 'orphaned')
      const kept = await world.pay(6, BASIC)
      await world.chain.mine(depth + 1)
      await world.settle()
      assert.deepEqual(
        [(await paymentOf(world, kept))?.state, (await paymentOf(world, paid))?.state, await world.read('lastId')],
        ['minted', 'orphaned', 1n],
      )
      assert.equal((await world.pool`SELECT FROM troubles WHERE name = 'halted'`).length, 0)
      await checkInvariants(world)
    } finally {
      await world.close()
    }
  })
}
