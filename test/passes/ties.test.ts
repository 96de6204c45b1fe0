// Two of something in one block: two versions of a tier, two payments, two owners of a node. Only the position in the
// block decides which one comes first.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { readBlock, readCursor } from '../../src/db/blocks/blocks.ts'
import { readMintedTo } from '../../src/db/nodes/nodes.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { rewindTo } from '../../src/follower/rewind.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { releasePayment } from '../../src/operator/acts/decide.ts'
import { checkInvariants } from '../support/invariants.ts'
import {
  ETHER,
  enterTier,
  INTERVAL_SEC,
  judgeOnly,
  ownerAbi,
  paymentOf,
  startWorld,
  type World,
} from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

/** The tier and version by which a payment was judged. */
const soldBy = async (txHash: Hash) => {
  const [row] = await world.pool<{ sold: string }[]>`
    SELECT concat_ws(' ', state, reason, tier_id, tier_version) AS sold FROM payments WHERE tx_hash = ${txHash}`
  return row?.sold
}
const nodeOf = async (txHash: Hash) => BigInt((await paymentOf(world, txHash))?.nodeId ?? assert.fail('it has no node'))
const ownerOf = async (id: bigint) =>
  (await world.pool<{ owner: string }[]>`SELECT owner FROM nodes WHERE node_id = ${id.toString()}`)[0]?.owner

/** Transfers a node, with a fee that decides its position among its block's transfers; mined with the next block. */
async function handOn(id: bigint, [from, to]: readonly [number, number], feeGwei: number): Promise<void> {
  const data = encodeFunctionData({
    abi: ownerAbi,
    functionName: 'transferFrom',
    args: [world.at(from), world.at(to), id],
  })
  const fee = `0x${(BigInt(feeGwei) * 10n ** 9n).toString(16)}`
  const call = { from: world.at(from), to: world.factory, data, gas: '0x30000' }
  await world.chain.rpc('eth_sendTransaction', [{ ...call, maxFeePerGas: fee, maxPriorityFeePerGas: fee }])
}

test('of two versions in one block the second sells and pays, and the first has its grace', async () => {
  const [first, second] = [wei(ETHER / 31n), wei(ETHER / 32n)]
  await enterTier(world, { tierId: 'twice', tierNo: 9, priceWei: first, payoutBps: 10_000 })
  await enterTier(world, { tierId: 'twice', tierNo: 9, priceWei: second, payoutBps: 20_000 })
  const paid = [await world.pay(5, second), await world.pay(6, first)] as const
  await world.settle()
  assert.deepEqual([await soldBy(paid[0]), await soldBy(paid[1])], ['minted twice 2', 'minted twice 1'])
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  await world.rest()
  const rates = await world.pool`SELECT DISTINCT payout_bps FROM turns WHERE tier_id = 'twice'`
  assert.deepEqual([...rates], [{ payout_bps: 20_000 }])
})

test('a payment minted before it is judged has the second of two versions in one block', async () => {
  const price = wei(ETHER / 34n)
  await enterTier(world, { tierId: 'again', tierNo: 10, priceWei: wei(ETHER / 35n) })
  await enterTier(world, { tierId: 'again', tierNo: 10, priceWei: price })
  await world.chain.mine()
  await world.payments()
  const fork = (await readCursor(world.pool)) ?? assert.fail()
  const paid = await world.pay(7, price)
  await world.settle()
  assert.equal(await soldBy(paid), 'minted again 2')
  // The follower reads all of it once more, in one range.
  const [before, cursor] = [await readBlock(world.pool, fork.number), await readCursor(world.pool)]
  assert.ok(before && cursor && (await rewindTo(world.ctx, before, cursor)))
  await world.settle()
  assert.equal(await soldBy(paid), 'minted again 2')
})

test('a node that changed hands twice in a block is the last owner’s after a later reorg', async () => {
  const paid = await world.pay(8, BASIC)
  await world.settle()
  const id = await nodeOf(paid)
  await handOn(id, [8, 9], 400)
  await handOn(id, [9, 10], 300)
  await world.chain.mine()
  await world.payments()
  assert.equal(await ownerOf(id), world.at(10))
  await handOn(id, [10, 11], 300)
  await world.chain.mine()
  await world.payments()
  assert.equal(await ownerOf(id), world.at(11))
  await world.chain.reorg(1)
  await world.chain.mine()
  await world.payments()
  assert.equal(await ownerOf(id), world.at(10))
})

test('a node that is handed on in the block of its mint was minted to the one who paid', async () => {
  const paid = await world.pay(12, BASIC)
  await world.chain.mine()
  await world.payments()
  const id = (await world.read<bigint>('lastId')) + 1n
  await handOn(id, [12, 13], 1)
  const fork = (await readCursor(world.pool)) ?? assert.fail()
  await world.chain.mine()
  await world.payments()
  const [node = assert.fail()] = await world.pool`SELECT block_number FROM nodes WHERE node_id = ${id.toString()}`
  assert.deepEqual([await ownerOf(id), node.block_number], [world.at(13), fork.number + 1])
  for (let i = 0; i < 2; i++) {
    assert.deepEqual([await soldBy(paid), await nodeOf(paid)], ['minted basic 1', id])
    assert.equal((await readMintedTo(world.pool, [id])).get(id), world.at(12))
    const [before, cursor] = [await readBlock(world.pool, fork.number - 1), await readCursor(world.pool)]
    assert.ok(before && cursor && (await rewindTo(world.ctx, before, cursor)))
    await world.settle()
  }
})

test('a pending payment counts once, with any versions of its tier', async () => {
  const price = wei(ETHER / 36n)
  for (let i = 0; i < 2; i++) await enterTier(world, { tierId: 'pair', tierNo: 11, priceWei: price, maxPerWallet: 2 })
  const paid = [await world.pay(14, price)]
  await world.chain.mine()
  await judgeOnly(world)
  paid.push(await world.pay(14, price), await world.pay(14, price))
  await world.settle()
  const sold = await Promise.all(paid.map(soldBy))
  assert.deepEqual(sold, ['minted pair 2', 'minted pair 2', 'held tierAllowance pair 2'])
  const third = paid[2] ?? assert.fail()
  assert.ok(!isOperatorRefusal(await releasePayment(world.ctx, { name: 'ada', requestId: null }, { payment: third })))
  await world.settle()
  assert.equal(await soldBy(third), 'minted pair 2', 'released in the version that it was judged by')
})

test('after all of this the ledger matches the chain', () => checkInvariants(world))
