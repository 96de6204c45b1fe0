// A transfer from a payments wallet to itself is no sale. The service refuses to prepare its refund, both before and after judging it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from '../../src/follower/follow.ts'
import { startDesk } from '../support/operator.ts'
import { ETHER, judgeOnly, standingOf } from '../support/world.ts'

test('the service prepares no refund of a transfer from a payments wallet to itself, before or after judging it', async () => {
  const desk = await startDesk()
  const { world } = desk
  try {
    await world.settle()
    const own = await world.pay(3, ETHER / 100n, world.at(3))
    await world.chain.mine()
    await follow(world.ctx, { checkLock: () => {}, outOfTime: () => false })
    assert.equal(await standingOf(world, own), 'seen')
    const prepare = () => desk.post(`payments/${own}/refund/prepare`, { reason: 'a wish' })
    const early = await prepare()
    assert.equal(early.status, 409)
    assert.match(early.json.error, /payments wallet itself/)
    await judgeOnly(world)
    assert.equal(await standingOf(world, own), 'ignored self')
    assert.equal((await prepare()).status, 409)
  } finally {
    await desk.close()
  }
})
