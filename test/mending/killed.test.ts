// Mending is killed at each step, and then goes on in another instance, after a reorganisation. Nothing is minted twice, and no difference stays.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { readMending } from '../../src/db/blocks/mending.ts'
import { type Failpoint, Killed, watchFailpoints } from '../../src/lib/failpoint.ts'
import { loseNode } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER, INTERVAL_SEC, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** The points that a run passes while it compares, rewinds, follows again, judges and mints. */
const POINTS: readonly Failpoint[] = [
  ...(['rewind.storing', 'rewind.stored', 'follow.observed', 'follow.storing', 'follow.stored'] as const),
  ...(['judge.storing', 'mint.storing', 'mint.sent'] as const),
]

let desk: Desk
let world: World
beforeEach(async () => {
  desk = await startDesk()
  world = desk.world
  await world.pay(5, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.pay(6, BASIC)
  await world.rest()
})
afterEach(async () => {
  watchFailpoints(null)
  await desk.close()
})

/** Kills whatever reaches the point, once. @returns whether something did. */
function killAt(point: Failpoint): () => boolean {
  let hit = false
  watchFailpoints((name) => {
    if (name !== point || hit) return
    hit = true
    throw new Killed()
  })
  return () => hit
}

const blockOf = async (nodeId: number) => {
  const [row] = await world.pool<{ at: number }[]>`SELECT block_number::int AS at FROM nodes WHERE node_id = ${nodeId}`
  return row?.at ?? assert.fail()
}

/** What begins the mending: the reconciler of a pass, or the operator's rescan. */
const BEGINNINGS = {
  'a reconciler': async () => {
    await loseNode(world, 1)
    return () => world.payments()
  },
  'a rescan': async () => {
    const fromBlock = await blockOf(1)
    await world.pool`UPDATE nodes SET ref = ${`0x${'9'.repeat(64)}`}, payment_id = NULL WHERE node_id = 1`
    await world.pool`UPDATE payments SET state = 'accepted', node_id = NULL WHERE node_id = 1`
    return () => desk.post('rescan', { fromBlock, reason: 'misread' })
  },
}

for (const [beginning, plant] of Object.entries(BEGINNINGS))
  for (const point of POINTS)
    test(`what ${beginning} began and ${point} ended is finished by another instance`, async () => {
      const begin = await plant()
      // A buyer who pays meanwhile.
      await world.pay(7, BASIC)
      const isHit = killAt(point)
      const died = (error: Error) => assert.match(error.name, /Killed|LeftOutFault/)
      await begin().then(() => {}, died)
      const other = world.instance()
      for (let i = 0; i < 6 && !isHit(); i++) {
        await other.payments().then(() => {}, died)
        if (!isHit()) await world.chain.mine()
      }
      assert.ok(isHit(), 'nothing reached the point')
      watchFailpoints(null)
      await world.chain.reorg(1)
      await other.payments().then(() => {}, died)
      await world.rest()
      assert.equal(await readMending(world.pool), null)
      // The reorganisation may have dropped the last payment.
      const open = await world.pool`SELECT FROM payments WHERE state NOT IN ('minted', 'orphaned')`
      assert.equal(open.count, 0)
      await checkInvariants(world)
    })
