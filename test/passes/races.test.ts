// Two connections at the same instant, in each interleaving: a run waits for what another connection is about to
// commit, does not believe what it read before another followed on, and sends nothing after its time is up.
import assert from 'node:assert/strict'
import { after, afterEach, before, mock, test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import type { Sql } from '../../src/db/core/sql.ts'
import { lockPayers } from '../../src/db/payments/lock-order.ts'
import { writeVerdict } from '../../src/db/payments/moves.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { checkInvariants } from '../support/invariants.ts'
import { meetAt } from '../support/postgres.ts'
import { ETHER, enterTier, INTERVAL_SEC, type Instance, standingOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
const FOUNDER = ETHER / 20n
/** Longer than a run may take. */
const TOO_LONG_MS = 60_000

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
afterEach(() => mock.restoreAll())
after(() => world.close())

const told = (txHash: Hash) => standingOf(world, txHash)
const countIntents = async () => (await world.pool`SELECT FROM outbox`).count

/** An accepted payment whose mint has not begun. */
async function acceptedPayment(from: number): Promise<Hash> {
  const txHash = await world.pay(from, BASIC)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.equal(await told(txHash), 'accepted')
  return txHash
}

/** Runs the payments pass beside `body`, which is done but not committed when the pass reaches it. */
const beside = (body: (sql: Sql) => Promise<unknown>) =>
  meetAt(world.pool, body, [() => world.payments().catch(() => {})])

test('a wallet’s places are counted after the release that is under way, not before', async () => {
  await enterTier(world, { tierId: 'solo', tierNo: 10, priceWei: wei(ETHER / 30n), maxPerWallet: 1 })
  const wrong = await world.pay(5, BASIC - 1n)
  await world.settle()
  assert.equal(await told(wrong), 'held wrongAmount')
  const right = await world.pay(5, ETHER / 30n)
  await world.chain.mine()
  const [row] = await world.pool<{ id: number }[]>`SELECT id FROM payments WHERE tx_hash = ${wrong}`
  await beside(async (sql) => {
    await lockPayers(sql, [world.at(5)], { wait: true })
    const tier = { tierId: 'solo', version: 1 }
    await writeVerdict(sql, row?.id ?? 0, { move: 'release', tier, evidence: {}, by: 'ada' })
  })
  assert.equal(await told(right), 'held tierAllowance')
  await world.settle()
  assert.equal(await told(wrong), 'minted')
})

test('a payment that a person holds while its mint is being signed is not minted', async () => {
  const txHash = await acceptedPayment(6)
  const before = await countIntents()
  await beside((sql) => sql`UPDATE payments SET state = 'held', reason = 'recheck' WHERE tx_hash = ${txHash}`)
  assert.equal(await countIntents(), before)
  await world.settle()
  assert.equal(await told(txHash), 'held recheck')
})

test('a payment that is dismissed while it is being judged stays dismissed', async () => {
  const txHash = await acceptedPayment(9)
  await world.pool`UPDATE payments SET state = 'held', reason = 'walletLimit' WHERE tx_hash = ${txHash}`
  const [row] = await world.pool<{ id: number }[]>`SELECT id FROM payments WHERE tx_hash = ${txHash}`
  await beside(async (sql) => {
    await lockPayers(sql, [world.at(9)], { wait: true })
    await writeVerdict(sql, row?.id ?? 0, { move: 'dismiss', evidence: {}, by: 'ada' })
  })
  assert.equal(await told(txHash), 'dismissed walletLimit')
})

test('a payment that changed its block during its holding’s reading is judged by the new block', async () => {
  const payment = await world.pay(7, FOUNDER)
  await world.chain.mine()
  const raw = await world.raw(payment)
  let reads = 0
  const { payments } = world.instance({
    chain: {
      ...world.ctx.chain,
      async holding(token, owner, at) {
        const amountWei = await world.ctx.chain.holding(token, owner, at)
        if (reads++ > 0) return amountWei
        // On the other fork the wallet received its holding one block before it paid. The other pass follows there.
        await world.chain.reorg(1)
        await world.giveTokens(world.at(7), 1_000n * ETHER)
        await world.chain.rpc('eth_sendRawTransaction', [raw])
        await world.chain.mine()
        await world.credit()
        return amountWei
      },
    },
  })
  await payments()
  assert.equal(await told(payment), 'seen')
  await world.settle()
  assert.equal(await told(payment), 'minted')
})

test('a payment that returned in another block of the same height is judged by that block', async () => {
  const payment = await world.pay(10, FOUNDER)
  const { number } = await world.chain.mine()
  const raw = await world.raw(payment)
  const data = encodeFunctionData({
    abi: parseAbi(['function transfer(address to, uint256 amount) returns (bool)']),
    args: [world.at(10), 1_000n * ETHER],
  })
  let reads = 0
  const { payments } = world.instance({
    chain: {
      ...world.ctx.chain,
      async holding(token, owner, at) {
        const amountWei = await world.ctx.chain.holding(token, owner, at)
        if (reads++ > 0) return amountWei
        // On the other fork the wallet received its holding in the very block in which it paid.
        const given = { from: world.at(4), to: world.token, data, gas: '0x20000' } as const
        await world.chain.reorg(1, [
          [given, 0],
          [raw, 0],
        ])
        await world.credit()
        return amountWei
      },
    },
  })
  await payments()
  const [row] = await world.pool`SELECT block_number FROM payments WHERE tx_hash = ${payment}`
  assert.deepEqual([reads, await told(payment), row?.block_number], [1, 'seen', Number(number)])
  await world.settle()
  assert.equal(await told(payment), 'minted')
})

test('a range is not stored on another block of the height that it was read from', async () => {
  await world.chain.mine()
  await world.payments()
  const below = (await readCursor(world.pool)) ?? assert.fail()
  await world.chain.mine()
  let stored: string | null = null
  const { chain } = world.ctx
  const observe: typeof chain.observe = async (...asked) => {
    const range = await chain.observe(...asked)
    if (stored === null) {
      stored = range.blocks.at(-1)?.hash ?? null
      await world.chain.reorg(2)
      // The other one gets no further than that height.
      const { number, hash, timestamp } = await world.chain.block(below.number)
      const block = await chain.block(Number(number))
      assert.ok(block && block.hash === hash && block.time === Number(timestamp) && hash !== below.hash)
      await world.instance({ minter: null, chain: { ...chain, head: async () => block } }).payments()
      assert.equal((await readCursor(world.pool))?.hash, hash)
    }
    return range
  }
  await world.instance({ chain: { ...chain, observe } }).credit()
  assert.ok(stored)
  const headers = await world.pool`SELECT FROM blocks WHERE hash = ${stored}`
  const audited = await world.pool`SELECT FROM audit WHERE action = 'reorganisation'`
  assert.equal(headers.count, 0)
  await world.payments()
  assert.equal((await world.pool`SELECT FROM audit WHERE action = 'reorganisation'`).count, audited.count)
})

test('a call bound to the old fork does not mint a payment of a new fork', async () => {
  const paid = await world.pay(12, BASIC)
  const raw = await world.raw(paid)
  await world.chain.rpc('anvil_dropTransaction', [paid])
  await world.chain.mine()
  const before = await countIntents()
  const { contract } = world.ctx
  // Read after the pass has followed and before it judges.
  const counters = mock.fn(async (atBlock: number) => {
    if (counters.mock.callCount() === 0) {
      await world.chain.reorg(1, [[raw, 0]])
      await world.credit()
    }
    return contract.counters(atBlock)
  })
  // By now the provider names another block at the guard's height, so nothing is signed.
  await world.instance({ contract: { ...contract, counters } }).payments()
  assert.ok(counters.mock.callCount() > 0)
  assert.deepEqual([await told(paid), await countIntents()], ['accepted', before])
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('a mint that is being signed while another pass follows to another fork is not stored', async () => {
  const paid = await acceptedPayment(12)
  await world.chain.mine()
  const before = await countIntents()
  const minter = world.ctx.minter ?? assert.fail()
  // The providers have named the guard's block by now.
  const sign = mock.fn(async (...asked: Parameters<typeof minter.sign>) => {
    await world.chain.reorg(1, [])
    await world.credit()
    return minter.sign(...asked)
  })
  const minting = world.instance({ minter: { ...minter, sign } }).payments()
  await assert.rejects(minting, /was rewound while a call was being signed/)
  assert.equal(sign.mock.callCount(), 1)
  assert.deepEqual([await told(paid), await countIntents()], ['accepted', before])
  await world.settle()
  assert.equal(await told(paid), 'minted')
})

test('the ledger rewinds only from its present position', async () => {
  await world.chain.mine()
  await world.payments()
  const stale = (await readCursor(world.pool)) ?? assert.fail()
  const fork = (await readBlock(world.pool, stale.number - 1)) ?? assert.fail()
  await world.chain.mine()
  await world.payments()
  const now = await readCursor(world.pool)
  assert.equal(await rewindTo(world.ctx, fork, stale), false)
  assert.deepEqual(await readCursor(world.pool), now)
})

/** An instance that follows a single block, and then runs out of time. */
function outOfTime(): Instance {
  const { chain } = world.ctx
  return world.instance({
    chain: {
      ...chain,
      async observe(from, _to, parent) {
        const range = await chain.observe(from, from, parent)
        const now = performance.now.bind(performance)
        mock.method(performance, 'now', () => now() + TOO_LONG_MS)
        return range
      },
    },
  })
}

test('a run whose time is up before it has followed to the head mints nothing', async () => {
  const txHash = await acceptedPayment(8)
  await world.chain.mine(3)
  const before = await countIntents()
  const { toBlock, headBlock } = await outOfTime().payments()
  assert.ok((toBlock ?? 0) < (headBlock ?? 0))
  assert.equal(await countIntents(), before)
  mock.restoreAll()
  await world.settle()
  assert.equal(await told(txHash), 'minted')
})

test('a run whose time is up before it has followed to the head pays no round', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine(3)
  const before = await countIntents()
  const { reason, dueNodes } = await outOfTime().credit()
  assert.ok((dueNodes ?? 0) > 0)
  assert.equal(reason, 'pending')
  assert.equal(await countIntents(), before)
})

test('after all of this the ledger matches the chain', async () => {
  mock.restoreAll()
  await checkInvariants(world)
})
