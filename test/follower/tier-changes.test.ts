// Changes of tiers that were entered ahead, followed on a real chain: from which block they hold, at the edges of their time, and what a reorganisation
// takes back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { readDistributions } from '../../src/db/reads/public-api.ts'
import { insertTierPlan, readTierPlans, readTierVersions } from '../../src/db/sale/tiers.ts'
import { type TermName, type TierTerms, termsOf } from '../../src/domain/sale/changes.ts'
import { wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { ETHER, enterTier, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
  await enterTier(world, { tierId: 'ahead', tierNo: 21, priceWei: wei(PRICE), graceSec: 120 })
  await enterTier(world, { tierId: 'other', tierNo: 22, priceWei: wei(PRICE + 500n), graceSec: 120 })
  await world.settle()
})
after(() => world.close())

const PRICE = ETHER / 80n
const GRACE = 120
const headTime = async () => Number((await world.chain.block()).timestamp)

/** Plans a change over the terms of now, which the follower must not use. */
async function plan(fromTime: number, change: Partial<TierTerms>, tierId = 'ahead'): Promise<number> {
  const now = (await readTierVersions(world.pool)).findLast((row) => row.tierId === tierId) ?? assert.fail()
  const names = Object.keys(change).filter((name) => name !== 'graceSec') as TermName[]
  const row = { ...termsOf(now), label: 'not named', graceSec: GRACE, ...change, fromTime, names, keyDigest: null }
  return await insertTierPlan(world.pool, row, 'test')
}
const latest = async (tierId = 'ahead') =>
  (await readTierVersions(world.pool)).findLast((row) => row.tierId === tierId) ?? assert.fail()
const live = async (tierId = 'ahead') =>
  await world.pool<{ version: number }[]>`SELECT version FROM tiers WHERE live AND tier_id = ${tierId}`
const follow = () => world.instance({ minter: null }).payments()
const mineAt = async (time: number) => {
  await world.chain.rpc('evm_setNextBlockTimestamp', [time])
  return Number((await world.chain.mine()).number)
}
test('a reorganisation across the time takes a change back, and the new block decides', async () => {
  const before = await latest()
  const time = (await headTime()) + 200
  const version = await plan(time, { label: 'Again' })
  const lists = await plan(time, { payoutBps: 12_000 }, 'other')
  const first = await mineAt(time)
  await follow()
  assert.equal((await latest()).fromBlock, first)
  // The block in its place is of an earlier time.
  await world.chain.reorg(1)
  assert.ok((await headTime()) < time)
  await follow()
  assert.equal((await latest()).version, before.version)
  assert.deepEqual(
    (await live()).map((row) => row.version),
    [before.version],
  )
  assert.equal((await readTierPlans(world.pool)).length, 2)
  const block = await mineAt(time + 7)
  await follow()
  const again = await latest()
  assert.deepEqual([again.version, again.fromBlock, again.fromTime], [version, block, time])
  assert.equal((await latest('other')).version, lists)
  assert.deepEqual(
    (await live()).map((row) => row.version),
    [version],
  )
})

test('a revoked key ends its planned changes as long as they could be cancelled', async () => {
  const time = (await headTime()) + 200
  const before = await latest()
  await world.pool`
    INSERT INTO admin_keys (label, digest, scopes, expires_at, made_by) VALUES ('eve', decode(${'ab'.repeat(32)}, 'hex'), '{prices}', now() + interval '1 day', 'cli:ada')`
  const terms = { ...termsOf(before), label: 'Of Eve', fromTime: time, names: ['label'] as TermName[] }
  await insertTierPlan(world.pool, { ...terms, keyDigest: 'ab'.repeat(32) }, 'eve')
  const revokedAt = async (at: number) => {
    await world.pool`UPDATE admin_keys SET revoked_at = to_timestamp(${at}), revoked_by = 'ada' WHERE label = 'eve'`
    return (await readTierPlans(world.pool)).length
  }
  assert.equal((await readTierPlans(world.pool)).length, 1)
  assert.equal(await revokedAt(time - 119), 1)
  assert.equal(await revokedAt(time - 120), 0)
  await mineAt(time)
  await follow()
  assert.equal((await latest()).version, before.version)
})

test('a turn that is due after a change has its rate, if one range contains both', async () => {
  await world.pay(9, ETHER / 100n)
  await world.settle()
  await world.rest()
  const from = Number((await world.chain.block()).number)
  const time = (await headTime()) + 200
  await plan(time, { payoutBps: 20_000 }, 'basic')
  await mineAt(time)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  const turnsPaid = async () =>
    (await readDistributions(world.pool, 1)).flatMap(({ turns }) => turns).filter(({ tierId }) => tierId === 'basic')
  const paid = await turnsPaid()
  assert.deepEqual(
    paid.map((turn) => [turn.dueSec >= time, 'payoutBps' in turn && turn.payoutBps]),
    [[true, 20_000]],
  )
  const cursor = (await readCursor(world.pool)) ?? assert.fail()
  assert.ok(await rewindTo(world.ctx, await readBlock(world.pool, from), cursor))
  assert.notEqual((await latest('basic')).payoutBps, 20_000)
  await follow()
  assert.deepEqual(await turnsPaid(), paid)
})
