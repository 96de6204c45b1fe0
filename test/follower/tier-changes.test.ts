// Changes of tiers that were entered ahead, followed on a real chain: from which block they hold, at the edges of their time, and what a reorganisation
// takes back.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { readDistributions } from '../../src/db/reads/public-api.ts'
import { cancelTierPlan, insertTierPlan, readTierPlans, readTierVersions } from '../../src/db/sale/tiers.ts'
import { type TermName, type TierTerms, termsOf } from '../../src/domain/sale/changes.ts'
import { wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { ETHER, enterTier, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

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
const unfit = async () =>
  (
    await world.pool<
      { why: { kind: string } }[]
    >`SELECT detail -> 'why' AS why FROM audit WHERE action = 'tierUnfit' ORDER BY id`
  ).map(({ why }) => why.kind)

test('a planned change holds from the first block that is not before its time', async () => {
  const time = (await headTime()) + 200
  const version = await plan(time, { priceWei: wei(PRICE + 1n) })
  await mineAt(time - 1)
  await follow()
  assert.notEqual((await latest()).version, version)
  assert.equal((await readTierPlans(world.pool)).length, 1)
  const block = await mineAt(time)
  await world.chain.mine(2)
  await follow()
  const { version: held, fromBlock, fromTime, priceWei, label } = await latest()
  assert.deepEqual([held, fromBlock, fromTime, priceWei, label], [version, block, time, PRICE + 1n, 'ahead'])
  assert.deepEqual(
    (await live()).map((row) => row.version),
    [version],
  )
  assert.equal((await readTierPlans(world.pool)).length, 0)
})

test('the price of a change is a sale in the first block, and the former until the grace is over', async () => {
  const time = (await headTime()) + 300
  await plan(time, { priceWei: wei(PRICE + 2n) })
  const paid = async (at: number, from: number, value: bigint) => {
    const hash = await world.pay(from, value)
    await mineAt(at)
    return hash
  }
  const early = await paid(time - 1, 5, PRICE + 2n)
  const first = await paid(time + 1, 6, PRICE + 2n)
  const graced = await paid(time + GRACE - 1, 7, PRICE + 1n)
  const late = await paid(time + GRACE, 8, PRICE + 1n)
  await follow()
  const states = await Promise.all(
    [early, first, graced, late].map(async (hash) => (await paymentOf(world, hash))?.state),
  )
  assert.deepEqual(states, ['held', 'accepted', 'accepted', 'held'])
})

test('of changes with one time the last entered wins, and each names only its own terms', async () => {
  const time = (await headTime()) + 200
  await plan(time, { priceWei: wei(PRICE + 3n), maxPerWallet: 4 })
  await plan(time, { priceWei: wei(PRICE + 4n) })
  await mineAt(time + 5)
  await follow()
  const { priceWei, maxPerWallet } = await latest()
  assert.deepEqual([priceWei, maxPerWallet], [PRICE + 4n, 4])
})

test('a change is computed over what is in force when it takes effect', async () => {
  const time = (await headTime()) + 200
  await plan(time, { supply: 50 })
  const version = await plan(time + 10, { maxPerWallet: 6 })
  await mineAt(time + 20)
  await follow()
  const { supply, maxPerWallet, version: held } = await latest()
  assert.deepEqual([supply, maxPerWallet, held], [50, 6, version], 'both in one block')
})

test('what no longer fits does not take effect, and is reported', async () => {
  const time = (await headTime()) + 200
  const before = await latest()
  await plan(time, { priceWei: wei(PRICE + 500n) })
  await plan(time + 1, { maxPerWallet: 7 })
  await mineAt(time + 2)
  await follow()
  const { priceWei, maxPerWallet } = await latest()
  assert.deepEqual([priceWei, maxPerWallet], [before.priceWei, 7], 'the later change is computed over the former terms')
  assert.deepEqual(await unfit(), ['priceTaken'])
  await follow()
  await world.chain.mine()
  await follow()
  assert.deepEqual(await unfit(), ['priceTaken'], 'once')
})

test('a price that a tier gives up ahead stays its own during the grace period', async () => {
  const time = (await headTime()) + 200
  await plan(time, { priceWei: wei(PRICE + 501n) }, 'other')
  await plan(time + GRACE - 1, { priceWei: wei(PRICE + 500n) })
  await plan(time + GRACE, { priceWei: wei(PRICE + 500n), label: 'Late' })
  await mineAt(time + GRACE + 1)
  await follow()
  assert.deepEqual((await unfit()).slice(1), ['priceInGrace'])
  assert.deepEqual([(await latest()).label, (await latest('other')).priceWei], ['Late', PRICE + 501n])
})

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

test('after a reorganisation a change that was entered at once holds by the new block times', async () => {
  const head = await world.chain.block()
  const [first, fromTime] = [Number(head.number) + 4, Number(head.timestamp) + 30]
  await enterTier(world, { tierId: 'at-once', tierNo: 23, priceWei: wei(PRICE + 900n), fromBlock: first, fromTime })
  const begins = async () => (await latest('at-once')).fromBlock
  const mineAll = async (...offs: number[]) => {
    for (const off of offs) await mineAt(fromTime + off)
    await follow()
  }
  await mineAll(-20, -10, -1, 0, 10)
  assert.equal(await begins(), first, 'as it was entered')
  await world.chain.reorg(5)
  await follow()
  assert.equal(await begins(), first + 2, 'behind the followed blocks, which are older')
  await mineAll(0, 0, 10)
  assert.equal(await begins(), first + 2, 'the first of its time')
  const paid = await world.pay(5, PRICE + 900n)
  await mineAll(20)
  assert.equal((await paymentOf(world, paid))?.state, 'accepted')
  await world.chain.reorg(9)
  await mineAll(40)
  assert.equal(await begins(), Number((await world.chain.block()).number))
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

test('a cancelled change does not take effect', async () => {
  const time = (await headTime()) + 200
  const version = await plan(time, { label: 'Cancelled' })
  await cancelTierPlan(world.pool, { tierId: 'ahead', version })
  assert.equal(await plan(time, { label: 'Next' }), version + 1, 'no other change gets its number')
  await cancelTierPlan(world.pool, { tierId: 'ahead', version: version + 1 })
  await mineAt(time)
  await follow()
  assert.notEqual((await latest()).label, 'Cancelled')
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
