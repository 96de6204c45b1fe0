// A transfer from an account of ours is no sale. The service refuses its refund, both before and after judging it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from '../../src/follower/follow.ts'
import { startDesk } from '../support/operator.ts'
import { ETHER, standingOf } from '../support/world.ts'

for (const [who, account, reason] of [
  ['a payments wallet', 3, 'self'],
  ['the minter', 1, 'operator'],
  ['the distributor', 2, 'operator'],
] as const)
  test(`the service refuses the refund of a transfer from ${who}, before and after judging it`, async () => {
    const desk = await startDesk()
    const { world } = desk
    try {
      await world.settle()
      const paid = await world.pay(account, ETHER / 100n, world.at(3))
      const refundTxHash = await world.pay(4, ETHER / 100n, world.at(account))
      await world.chain.mine()
      await follow(world.ctx, { checkLock: () => {}, outOfTime: () => false })
      const refused = async (text: RegExp) => {
        const prepared = await desk.post(`payments/${paid}/refund/prepare`)
        const recorded = await desk.post(`payments/${paid}/refund`, { refundTxHash })
        for (const { status, json } of [prepared, recorded])
          assert.deepEqual([status, text.test(json.error)], [409, true])
      }
      assert.equal(await standingOf(world, paid), 'seen')
      await refused(new RegExp(`no sale .${reason}.`))
      await world.payments()
      assert.equal(await standingOf(world, paid), `ignored ${reason}`)
      await refused(/is ignored/)
    } finally {
      await desk.close()
    }
  })
