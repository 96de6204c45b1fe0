// A balancer with a node that has a sibling of the ledger's block, or lags: the ledger never stores what such a node
// says of a mint, and rewinds a stored node whose block is not the ledger's own.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { operatorDeps } from '../../src/boot/app.ts'
import { createSyncer } from '../../src/claims/sync.ts'
import type { Address, Hash } from '../../src/domain/units.ts'
import { isOperatorRefusal } from '../../src/operator/act.ts'
import { attributePayment } from '../../src/operator/acts/attribute.ts'
import { refundPayment } from '../../src/operator/acts/refunds/record.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { BASIC, openStage, paid, type Stage } from '../faults/stage.ts'
import { startSibling, type TestChain } from '../support/anvil.ts'
import { mintData } from '../support/factory.ts'
import { loseNode } from '../support/faults/differences.ts'
import type { Call } from '../support/faults/names.ts'
import { FORWARDER, forwardTo, putForwarder } from '../support/forwarder.ts'
import { checkInvariants, type OnPurpose } from '../support/invariants.ts'
import { judgeOnly, ownerAbi, paymentOf } from '../support/world.ts'

let stage: Stage
before(async () => {
  stage = await openStage({ rpcTimeoutMs: 5_000 })
  await stage.world.settle()
})
after(async () => {
  await stage.world.close()
})

/** The readings of a request and of a repair: all except the head, and the blocks that the follower reads in full. */
const asReading = ({ method, params }: Call) =>
  method.startsWith('eth_get') || method === 'eth_call' ? params[0] !== 'latest' && params[1] !== true : false

interface Split {
  sibling: TestChain
  buyer: Address
  payment: Hash
  mint: Hash
  nodeId: bigint
  /** The call of the mint. */
  data: `0x${string}`
}

/** A head that the ledger has followed and that has no mint, and its sibling that has one. */
async function split(account: number): Promise<Split> {
  const { world } = stage
  const payment = await paid(world, account)
  await judgeOnly(world)
  const sibling = await startSibling(world.chain)
  const [{ cohort } = assert.fail()] = await world.pool<{ cohort: number }[]>`
    SELECT max(cohort) AS cohort FROM cohorts WHERE tier_no = 1`
  const data = mintData({ to: world.at(account), cohort, ref: payment })
  await sibling.increaseTime(7)
  const mint = await sibling.send({ from: world.at(1), to: world.factory, data, gas: '0x200000' })
  await sibling.mine()
  await world.chain.mine()
  await judgeOnly(world)
  const nodeId = BigInt((await world.pool`SELECT FROM nodes`).count + 1)
  const [ours, theirs] = [await world.chain.block(), await sibling.block()]
  assert.ok(ours.number === theirs.number && ours.hash !== theirs.hash)
  const receipt = await sibling.rpc<{ status: string; logs: unknown[] }>('eth_getTransactionReceipt', [mint])
  assert.deepEqual([receipt.status, receipt.logs.length], ['0x1', 2])
  return { sibling, buyer: world.at(account), payment, mint, nodeId, data }
}

/** A sync with a short wait. */
function syncer() {
  const { ctx } = stage.world
  return createSyncer({ ...ctx, pollPolicy: { ...ctx.pollPolicy, waitMs: 200 } }, () => judgeOnly(stage.world))
}

const nodesWith = (nodeId: bigint) => stage.world.pool`SELECT FROM nodes WHERE node_id = ${Number(nodeId)}`

/** What was minted off the ledger's chain is minted on it in the end, once. */
async function endsWell({ payment, sibling, nodeId }: Split, onPurpose: OnPurpose = {}): Promise<void> {
  const { world, proxy } = stage
  proxy.calm()
  await world.settle()
  assert.equal((await paymentOf(world, payment))?.state, 'minted')
  assert.equal((await nodesWith(nodeId)).length, 1)
  await checkInvariants(world, onPurpose)
  await sibling.stop()
}

test('a sync by node id reports nothing if a sibling of the ledger’s block answers', async () => {
  const { proxy } = stage
  const beside = await split(5)
  proxy.servedBy = (call) => (asReading(call) ? beside.sibling.rpcUrl : null)
  await assert.rejects(syncer().byNodeId(beside.nodeId), ChainFault)
  assert.equal((await nodesWith(beside.nodeId)).length, 0)
  await endsWell(beside)
})

test('a sync by transaction that a sibling of the ledger’s block answers finds nothing yet', async () => {
  const { proxy } = stage
  const beside = await split(6)
  const failed = await beside.sibling.send({
    from: beside.buyer,
    to: stage.world.factory,
    data: '0x00',
    gas: '0x10000',
  })
  await beside.sibling.mine()
  await stage.world.chain.mine()
  await judgeOnly(stage.world)
  proxy.servedBy = (call) => (asReading(call) ? beside.sibling.rpcUrl : null)
  for (const txHash of [beside.mint, failed])
    assert.deepEqual(await syncer().byTransaction(txHash, beside.buyer), { kind: 'notFound' })
  assert.equal((await nodesWith(beside.nodeId)).length, 0)
  await endsWell(beside)
})

test('the reconciler inserts nothing if a sibling of the ledger’s block answers', async () => {
  const { world, proxy } = stage
  const beside = await split(7)
  proxy.servedBy = (call) => (asReading(call) ? beside.sibling.rpcUrl : null)
  await world.payments().catch(() => {})
  assert.equal((await nodesWith(beside.nodeId)).length, 0)
  await endsWell(beside)
})

/** Only logs, and the headers that they name. */
const asLogs = ({ method }: Call) => method === 'eth_getLogs' || method === 'eth_getBlockByHash'

test('a node that a lagging provider reports without its last transfer returns with it', async () => {
  const { world, proxy } = stage
  const payment = await paid(world, 9)
  await world.settle()
  const nodeId = await world.read<bigint>('nodeOfRef', [payment])
  const lagging = await startSibling(world.chain)
  await world.act(9, 'transferFrom', [world.at(9), world.at(10), nodeId])
  await judgeOnly(world)
  await loseNode(world, Number(nodeId))
  proxy.servedBy = (call) => (asLogs(call) ? lagging.rpcUrl : null)
  await syncer().byNodeId(nodeId)
  proxy.calm()
  await world.rest()
  const [node] = await world.pool`SELECT owner FROM nodes WHERE node_id = ${Number(nodeId)}`
  assert.equal(node?.owner, world.at(10))
  await checkInvariants(world)
  await lagging.stop()
})

test('a transfer from a sibling block does not complete a node', async () => {
  const { world, proxy } = stage
  const payment = await paid(world, 11)
  await world.settle()
  const nodeId = await world.read<bigint>('nodeOfRef', [payment])
  const sibling = await startSibling(world.chain)
  const args = [world.at(11), world.at(12), nodeId] as const
  const data = encodeFunctionData({ abi: ownerAbi, functionName: 'transferFrom', args })
  await sibling.send({ from: world.at(11), to: world.factory, data, gas: '0x200000' })
  await sibling.increaseTime(7)
  const theirs = await sibling.mine()
  await world.act(11, 'transferFrom', args)
  await judgeOnly(world)
  const { hash } = await world.chain.block()
  assert.notEqual(hash, theirs.hash)
  await world.pool`DELETE FROM node_transfers WHERE node_id = ${Number(nodeId)} AND to_address = ${world.at(12)}`
  await world.pool`UPDATE nodes SET owner = ${world.at(11)} WHERE node_id = ${Number(nodeId)}`
  proxy.servedBy = (call) => (asLogs(call) ? sibling.rpcUrl : null)
  assert.equal((await judgeOnly(world)).reconciled, 1)
  proxy.calm()
  const [last] = await world.pool`SELECT block_hash AS hash FROM node_transfers ORDER BY block_number DESC LIMIT 1`
  assert.equal(last?.hash, hash)
  await checkInvariants(world)
  await sibling.stop()
})

const ADA = { name: 'ada', requestId: null }
const refusedBecause = (answer: object) => (isOperatorRefusal(answer) ? answer.because : 'done')

test('a refund that is in a sibling of the ledger’s block is not recorded', async () => {
  const { world, proxy } = stage
  const payment = await paid(world, 14, BASIC - 5n)
  await judgeOnly(world)
  const sibling = await startSibling(world.chain)
  const back = { from: world.at(3), to: world.at(14), value: `0x${(BASIC - 5n).toString(16)}` } as const
  const beside = await sibling.send(back)
  await sibling.mine()
  await world.chain.mine()
  await judgeOnly(world)
  const deps = operatorDeps(world.ctx, world.pool)
  proxy.servedBy = (call) => (asReading(call) ? sibling.rpcUrl : null)
  const refused = await refundPayment(deps, ADA, { payment, refundTxHash: beside })
  assert.equal(refusedBecause(refused), 'notYet')
  proxy.calm()
  const refundTxHash = await world.chain.send({ ...back, gas: '0x5300' })
  // The chain calls its block final before the ledger has followed it.
  await world.chain.mine(70, 15)
  assert.equal(refusedBecause(await refundPayment(deps, ADA, { payment, refundTxHash })), 'done')
  const isFinal = async () => (await world.pool`SELECT final FROM refunds`)[0]?.final
  assert.equal(await isFinal(), false)
  await judgeOnly(world)
  assert.equal(await isFinal(), true)
  await checkInvariants(world)
  await sibling.stop()
})

test('a payer from a sibling of the ledger’s block is not believed', async () => {
  const { world, proxy } = stage
  await putForwarder(world)
  const sibling = await startSibling(world.chain)
  const inside = {
    to: FORWARDER,
    data: forwardTo(world.at(3)),
    gas: '0x200000',
    value: `0x${BASIC.toString(16)}`,
  } as const
  const beside = await sibling.send({ ...inside, from: world.at(16) })
  await sibling.mine()
  const own = await world.chain.send({ ...inside, from: world.at(15) })
  await world.chain.mine()
  await world.instance({ minter: null, chain: { ...world.ctx.chain, blockTransfers: async () => null } }).payments()
  const [residue] = await world.pool<{ id: number }[]>`SELECT id FROM payments WHERE reason = 'unattributed'`
  const attribute = (txHash: Hash) => attributePayment(world.ctx, ADA, { payment: String(residue?.id), txHash })
  proxy.servedBy = (call) => (asReading(call) || call.method.startsWith('debug_') ? sibling.rpcUrl : null)
  assert.equal(refusedBecause(await attribute(beside)), 'notYet')
  proxy.calm()
  assert.equal(refusedBecause(await attribute(own)), 'done')
  await checkInvariants(world)
  await sibling.stop()
})

/** A node that the ledger lost, minted in the head's block, and a sibling of that block with its own mint of the same id. */
async function lost(account: number): Promise<Split> {
  const { world } = stage
  const beside = await split(account)
  await world.chain.reorg(1, [[{ from: world.at(1), to: world.factory, data: beside.data, gas: '0x200000' }, 0]])
  await judgeOnly(world)
  assert.equal((await nodesWith(beside.nodeId)).length, 1)
  await loseNode(world, Number(beside.nodeId))
  return beside
}

test('a lost node returns by the ledger’s own block, even if a sibling answers for its events', async () => {
  const { world, proxy } = stage
  const beside = await lost(8)
  const head = Number((await world.chain.block()).number)
  proxy.servedBy = (call) => (asLogs(call) ? beside.sibling.rpcUrl : null)
  assert.deepEqual(await syncer().byNodeId(beside.nodeId), { kind: 'following' })
  assert.equal((await nodesWith(beside.nodeId)).length, 0)
  await judgeOnly(world)
  const [node] =
    await world.pool`SELECT block_hash AS hash, block_number AS number FROM nodes WHERE node_id = ${Number(beside.nodeId)}`
  assert.equal(node?.hash, (await world.chain.block(Number(node?.number))).hash)
  const [foreign = assert.fail()] = (await world.chain.block(head)).transactions
  await endsWell(beside, { foreign: [foreign] })
})
