// What a payments wallet paid itself is no sale: no refund of it is prepared, before it is judged or after.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { follow } from '../../src/follower/follow.ts'
import { startDesk } from '../support/operator.ts'
import { ETHER, judgeOnly, standingOf } from '../support/world.ts'

test('a refund of what a payments wallet paid itself is refused, before it is judged and after', async () => {
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
