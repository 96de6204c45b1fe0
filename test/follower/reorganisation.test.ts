// Reorganisations: the follower rewinds what the blocks brought, takes up once what other blocks bring, and the service
// sends its own transactions again. Each test has its own world, because it breaks it.
import assert from 'node:assert/strict'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import type { Hash } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { worldTest } from '../support/in-world.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

const inWorld = worldTest()
const stateOf = async (world: World, txHash: Hash) => (await paymentOf(world, txHash))?.state
const reorganisations = (world: World) =>
  world.pool`SELECT detail FROM audit WHERE action = 'reorganisation' ORDER BY id`

/** The last transaction stored by a sender. */
async function lastSent(world: World): Promise<Hash> {
  const [row] = await world.pool<{ hash: Hash }[]>`
    SELECT tx_hash AS hash FROM outbox_attempts ORDER BY outbox_id DESC, attempt DESC LIMIT 1`
  return row?.hash ?? assert.fail('nothing was sent')
}

/** A node of account 5, minted in the block before the head, and its payment two blocks before. */
async function mintedNode(world: World): Promise<{ paid: Hash; mint: Hash }> {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  const mint = await lastSent(world)
  await world.chain.mine()
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  return { paid, mint }
}

/** Waits until the only node's turn is due, and sends the round that pays it; returns the round's transaction. */
async function sentRound(world: World): Promise<Hash> {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const { txHash, reason } = await world.credit()
  assert.equal(reason, null)
  return txHash ?? assert.fail('no round')
}

inWorld('a node whose payment disappears belongs to none, and to that payment if it comes back', async (world) => {
  const { paid } = await mintedNode(world)
  const goBack = async () => {
    const [fork, cursor] = [await readBlock(world.pool, 1), await readCursor(world.pool)]
    assert.ok(fork && cursor && (await rewindTo(world.ctx, fork, cursor)))
  }
  const unpaid = async () => (await world.pool`SELECT FROM nodes WHERE payment_id IS NULL`).count
  const { chain } = world.ctx
  // As if the payments wallet had changed by now.
  const observe: typeof chain.observe = async (...asked) => ({ ...(await chain.observe(...asked)), transfers: [] })
  await goBack()
  await world.instance({ minter: null, chain: { ...chain, observe } }).payments()
  assert.deepEqual([await stateOf(world, paid), await unpaid()], ['orphaned', 1])
  const [{ number } = assert.fail()] = await world.pool<{ number: number }[]>`SELECT block_number AS number FROM nodes`
  // Reads the payment again, above its node, as if a mint without a guard had stayed while its payment moved.
  const { transfers } = await chain.observe(number - 1, number - 1, null)
  const late: typeof chain.observe = async (...asked) => {
    const range = await chain.observe(...asked)
    const last = range.blocks.at(-1) ?? assert.fail()
    const at = { blockNumber: last.number, blockHash: last.hash, blockTime: last.time, txIndex: 0 }
    return { ...range, transfers: transfers.map((transfer) => ({ ...transfer, ...at })) }
  }
  await world.chain.mine()
  await world.instance({ minter: null, chain: { ...chain, observe: late } }).payments()
  assert.deepEqual([await stateOf(world, paid), await unpaid()], ['minted', 0])
})

inWorld('a payment that a reorganisation drops is orphaned and never minted', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.chain.mine()
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minting')
  await world.chain.reorg(2)
  await world.settle()
  await world.chain.mine(2)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  assert.equal(await world.read('lastId'), 0n)
  await checkInvariants(world)
})

inWorld('a payment that returns in another block is minted once, even if its first mint was sent', async (world) => {
  const paid = await world.pay(5, BASIC)
  const raw = await world.raw(paid)
  await world.chain.mine()
  await world.payments()
  const first = await lastSent(world)
  await world.chain.mine(1)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted')
  await world.chain.reorg(2, [[raw, 1]])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.read('lastId'), 1n)
  assert.equal((await reorganisations(world)).length, 1)
  // The first mint was bound to a block that no longer exists, so the contract refused it.
  assert.equal(await world.succeeded(first), false)
  await checkInvariants(world)
})

inWorld('a mint that is mined on a fork without its payment reverts', async (world) => {
  const paid = await world.pay(5, BASIC)
  await world.chain.mine()
  await world.payments()
  const mint = await lastSent(world)
  const raw = await world.raw(mint)
  await world.chain.reorg(1, [])
  await world.chain.rpc('eth_sendRawTransaction', [raw]).catch(() => {})
  await world.chain.mine()
  assert.equal(await world.succeeded(mint), false)
  assert.equal(await world.read('lastId'), 0n)
  await world.settle()
  assert.equal(await stateOf(world, paid), 'orphaned')
  await checkInvariants(world)
})

inWorld('a mint whose block is lost is sent again if its payment stays, and mints one node', async (world) => {
  const { paid, mint } = await mintedNode(world)
  await world.chain.reorg(1)
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minting')
  assert.deepEqual(
    [...(await world.pool`SELECT nodes, owners, sales_wei FROM totals`)],
    [{ nodes: 0, owners: 0, sales_wei: 0n }],
  )
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal(await world.succeeded(mint), true, 'the same bytes did it')
  await checkInvariants(world)
})

inWorld('a round whose block is lost is sent again and credits once', async (world) => {
  await mintedNode(world)
  const round = await sentRound(world)
  await world.chain.mine()
  await world.payments()
  const [before] = await world.pool`SELECT total_wei FROM rounds`
  assert.ok(before)
  await world.chain.reorg(1)
  await world.payments()
  assert.equal((await world.pool`SELECT FROM rounds`).length, 0)
  assert.equal((await world.credit()).reason, 'pending')
  await world.chain.mine()
  await world.rest()
  assert.equal(await world.succeeded(round), true)
  const [after] = await world.pool`SELECT total_wei FROM rounds WHERE round = 1`
  assert.deepEqual(after, before)
  await checkInvariants(world)
})

inWorld('a provider that lags behind the ledger rewinds nothing, and gets neither reads nor sends', async (world) => {
  const { paid } = await mintedNode(world)
  const waits = await world.pay(6, BASIC)
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await world.instance({ minter: null }).payments()
  assert.equal(await stateOf(world, waits), 'accepted')
  const cursor = await world.pool`SELECT * FROM cursors`
  const old = (await world.ctx.chain.block(3)) ?? assert.fail()
  const sent = await world.pool`SELECT FROM outbox`
  const lagging = world.instance({
    chain: { ...world.ctx.chain, head: async () => old },
    contract: { ...world.ctx.contract, counters: () => assert.fail('asked for a block that it does not have') },
  })
  assert.equal((await lagging.payments()).ran, true)
  assert.equal((await lagging.credit()).reason, 'pending')
  assert.deepEqual(await world.pool`SELECT * FROM cursors`, cursor)
  assert.equal((await world.pool`SELECT FROM outbox`).length, sent.length)
  assert.deepEqual([...(await world.pool`SELECT error FROM passes WHERE error IS NOT NULL`)], [])
  assert.equal(await stateOf(world, paid), 'minted')
  assert.equal((await reorganisations(world)).length, 0)
  await checkInvariants(world)
})

inWorld('a chain that came back shorter is followed back if that is allowed', async (world) => {
  const { paid } = await mintedNode(world)
  const raw = await world.raw(paid)
  await world.chain.rpc('anvil_rollback', [2])
  await world.payments()
  assert.equal(await stateOf(world, paid), 'minted', 'not where it is not allowed')
  const embedded = world.instance({ rules: { rewindsToShorterChain: true } })
  await embedded.payments()
  assert.equal(await stateOf(world, paid), 'orphaned')
  await world.chain.rpc('eth_sendRawTransaction', [raw])
  await world.settle()
  assert.equal(await stateOf(world, paid), 'minted')
  await checkInvariants(world)
})

inWorld('a chain that parted before the oldest header stored stops the passes and changes nothing', async (world) => {
  await mintedNode(world)
  await world.pool`DELETE FROM blocks WHERE number < (SELECT block_number FROM cursors)`
  const cursor = await world.pool`SELECT * FROM cursors`
  await world.chain.reorg(3, [[{ from: world.at(9), to: world.at(8), value: '0x1', gas: '0x7530' }, 0]])
  await world.chain.mine()
  assert.equal((await world.payments()).toBlock, null)
  assert.equal((await world.credit()).reason, 'paused')
  assert.match((await world.pool`SELECT error FROM passes WHERE name = 'payments'`)[0]?.error, /forked from the ledger/)
  assert.deepEqual(await world.pool`SELECT * FROM cursors`, cursor)
  assert.equal((await world.pool`SELECT FROM nodes`).length, 1)
})
