// A reorganisation of the first block that a ledger followed: it has nothing older to lose, so it rewinds to before that block
// and follows again. If the chain may be another one, it halts. Each test has its own world.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { recordIdentity } from '../../src/db/core/state.ts'
import { readHealth } from '../../src/db/reads/public-api.ts'
import type { Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { storeRange } from '../../src/follower/store.ts'
import type { PassContext } from '../../src/ports/contexts.ts'
import { payInside, putForwarder } from '../support/forwarder.ts'
import { checkInvariants } from '../support/invariants.ts'
import { meetAt } from '../support/postgres.ts'
import { deployContracts, ETHER, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** The contracts are deployed in the blocks 1 and 2; block 3 holds what came before the sale. */
const FIRST = 4

/** A test of a ledger that has followed nothing yet, on a chain that has all blocks before its first. */
function inWorld(sentence: string, body: (world: World) => Promise<void>, startBlock = FIRST): void {
  test(sentence, async () => {
    const world = await startWorld({ startBlock })
    try {
      const genesis = await world.chain.block(0)
      const { chainId } = world.chain
      await recordIdentity(world.pool, { chainId, genesisHash: genesis.hash, factory: world.factory, startBlock })
      await putForwarder(world)
      await body(world)
    } finally {
      await world.close()
    }
  })
}

const height = async (world: World) => Number((await world.chain.block()).number)
const halted = async (world: World) => (await readHealth(world.pool)).halted?.reason ?? null
const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state
const on = (world: World, chain: Partial<PassContext['chain']>) =>
  world.instance({ chain: { ...world.ctx.chain, ...chain } })

/** Reorganises all blocks from `from` on. Their transactions are gone, except the given ones, which go into the first new block. */
async function reorganiseOut(world: World, from: number, kept: readonly `0x${string}`[] = []): Promise<void> {
  await world.chain.reorg(
    (await height(world)) - from + 1,
    kept.map((raw) => [raw, 0] as const),
  )
}

inWorld('a ledger that has followed one block goes back to before it, and follows again', async (world) => {
  await world.chain.mine()
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  assert.equal((await readCursor(world.pool))?.number, FIRST)
  assert.equal(await stateOf(world, paid), 'accepted')
  await reorganiseOut(world, FIRST)
  const outcome = await world.payments()
  assert.deepEqual([outcome.fromBlock, outcome.toBlock], [FIRST, FIRST])
  assert.deepEqual([await halted(world), await stateOf(world, paid)], [null, 'orphaned'])
  const [row] = await world.pool`SELECT detail FROM audit WHERE action = 'reorganisation'`
  assert.deepEqual([row?.detail.fromBlock, row?.detail.toBlock], [FIRST, FIRST - 1])
  const again = await world.pay(6, BASIC)
  await world.settle()
  assert.equal(await stateOf(world, again), 'minted')
  await checkInvariants(world)
})

inWorld('after a reorg of a ledger’s whole chain, its nodes and rounds are made once more', async (world) => {
  await world.chain.mine()
  const [paid, lost] = [await world.pay(5, BASIC), await world.pay(6, BASIC)]
  await world.settle()
  await world.chain.increaseTime(600)
  await world.rest()
  assert.deepEqual([await stateOf(world, paid), await stateOf(world, lost)], ['minted', 'minted'])
  assert.equal((await world.pool`SELECT FROM rounds`).length, 1)
  await reorganiseOut(world, FIRST, [await world.raw(paid)])
  await world.chain.mine()
  await world.payments()
  assert.deepEqual([await stateOf(world, paid), await stateOf(world, lost)], ['accepted', 'orphaned'])
  assert.equal((await world.pool`SELECT FROM rounds`).length + (await world.pool`SELECT FROM nodes`).length, 0)
  await world.rest()
  assert.deepEqual([await stateOf(world, paid), await stateOf(world, lost)], ['minted', 'orphaned'])
  assert.equal(await world.read('lastId'), 1n)
  await checkInvariants(world)
})

inWorld('the wallet’s books begin again, because the block before the first may have changed, too', async (world) => {
  await payInside(world, 7n)
  assert.equal(await height(world), FIRST - 1)
  await world.chain.mine()
  await world.payments()
  await reorganiseOut(world, FIRST - 1)
  await payInside(world, 9n)
  await world.payments()
  // The seven from before the first block are gone with it, without any outflow of money.
  assert.equal((await world.pool`SELECT FROM wallet_outflows`).length, 0)
  const filed = await world.pool`SELECT value_wei AS value, block_number AS block FROM payments`
  assert.deepEqual([...filed], [{ value: 9n, block: FIRST + 1 }])
  await checkInvariants(world)
})

inWorld('a chain with another block 0, and one that does not show it, get no new start', async (world) => {
  await world.chain.mine(2)
  await world.payments()
  const cursor = await readCursor(world.pool)
  await reorganiseOut(world, FIRST)
  const { block } = world.ctx.chain
  const other = async (number: number) => {
    const found = await block(number)
    return number === 0 && found ? { ...found, hash: `0x${'ab'.repeat(32)}` as Hash } : found
  }
  await on(world, { block: other }).payments()
  assert.equal(await halted(world), 'otherChain')
  await on(world, { block: async (number) => (number === 0 ? null : block(number)) }).payments()
  assert.equal(await halted(world), 'tooDeep')
  assert.deepEqual(await readCursor(world.pool), cursor)
  await world.payments()
  assert.equal(await halted(world), null)
  assert.notEqual((await readCursor(world.pool))?.hash, cursor?.hash)
})

inWorld(
  'if the factory vanishes with the first blocks, nothing is undone or sent until it returns',
  async (world) => {
    const paid = await world.pay(5, BASIC)
    await world.chain.mine()
    await world.instance({ minter: null }).payments()
    const cursor = await readCursor(world.pool)
    await reorganiseOut(world, 1)
    await assert.rejects(world.payments(), /there is no factory/)
    await assert.rejects(world.credit(), /there is no factory/)
    assert.deepEqual(await readCursor(world.pool), cursor)
    assert.equal((await world.pool`SELECT FROM outbox`).length, 0)
    const again = await deployContracts(world.chain, 20n)
    assert.equal(again.factory, world.factory)
    await world.settle()
    assert.equal(await stateOf(world, paid), 'orphaned')
    await checkInvariants(world)
  },
  1,
)

inWorld('of two who store the first blocks in the same instant, one does', async (world) => {
  await world.chain.mine(4)
  // The tiers have begun. Else the second would wait for the first block of theirs that the first one stores.
  await world.payments()
  assert.equal(await rewindTo(world.ctx, null, (await readCursor(world.pool)) ?? assert.fail()), true)
  const head = await height(world)
  const [long, short] = [
    await world.ctx.chain.observe(FIRST, head, null),
    await world.ctx.chain.observe(FIRST, FIRST, null),
  ]
  // Neither ends before both have seen that there is no cursor.
  const stored = await meetAt(
    world.pool,
    (sql) => sql`LOCK TABLE blocks IN EXCLUSIVE MODE`,
    [long, short].map((range) => () => storeRange(world.ctx, range, null, head)),
  )
  assert.equal(stored.filter((one) => one !== null).length, 1)
  await world.settle()
  await checkInvariants(world)
})
