import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, ownerAbi, paymentOf, startWorld, type World } from '../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.close())

test('an exact payment becomes a node of its sender, and the contract agrees', async () => {
  const txHash = await world.pay(5, ETHER / 100n)
  await world.settle()
  const payment = await paymentOf(world, txHash)
  assert.equal(payment?.state, 'minted')
  assert.equal(payment?.tierId, 'basic')
  assert.deepEqual(await world.read('nodesOf', [world.at(5)]), [BigInt(payment?.nodeId ?? 0)])
  assert.equal(await world.read('nodeOfRef', [txHash]), BigInt(payment?.nodeId ?? 0))
})

test('one wei too much is held with its evidence and mints nothing', async () => {
  const txHash = await world.pay(5, ETHER / 100n + 1n)
  await world.settle()
  assert.deepEqual(await paymentOf(world, txHash), { state: 'held', reason: 'wrongAmount', nodeId: null, tierId: null })
  const [verdict] = await world.pool`
    SELECT v.evidence FROM payment_verdicts v JOIN payments p ON p.id = v.payment_id WHERE p.tx_hash = ${txHash}`
  assert.equal(verdict?.evidence.receivedWei, (ETHER / 100n + 1n).toString())
})

test('a round credits every due node, and ledger equals contract to the wei', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  const round = await world.credit()
  assert.equal(round.reason, null)
  assert.equal(round.nodeCount, 1)
  await world.chain.mine()
  await world.payments()
  const [row] = await world.pool`SELECT total_wei, node_count, mode FROM rounds WHERE round = ${round.distributionId}`
  assert.deepEqual(row, { total_wei: round.totalWei, node_count: 1, mode: 'treasury' })
  const [, balance, credited] = await world.read<bigint[]>('nodeInfo', [1n])
  assert.equal(credited, round.totalWei)
  assert.equal(balance, round.totalWei)
  const [turn] =
    await world.pool`SELECT seed, seed_block, min_wei, max_wei, payout_bps, amount_wei FROM turns WHERE round = ${round.distributionId}`
  assert.ok(turn?.seed)
  assert.equal(turn?.payout_bps, 10_000)
})

test('a withdrawal of the owner shows up as a withdrawal', async () => {
  const amount = 12345n
  const data = encodeFunctionData({
    abi: ownerAbi,
    functionName: 'withdraw',
    args: [1n, world.at(6), amount],
  })
  const txHash = await world.call(5, world.factory, data)
  await world.payments()
  const [row] =
    await world.pool`SELECT node_id, amount_wei, to_address, status, withdrawn_total_wei FROM withdrawals WHERE tx_hash = ${txHash}`
  assert.deepEqual(row, {
    node_id: 1,
    amount_wei: amount,
    to_address: world.at(6),
    status: 'sent',
    withdrawn_total_wei: amount,
  })
  const [totals] =
    await world.pool`SELECT distributed_wei - withdrawn_wei AS outstanding, nodes, owners, sales_wei FROM totals`
  assert.equal(totals?.outstanding, await world.read('outstanding'))
  assert.deepEqual([totals?.nodes, totals?.owners, totals?.sales_wei], [1, 1, ETHER / 100n])
})

test('a node that changes hands belongs to the new owner', async () => {
  const [from, to] = [world.at(5), world.at(7)]
  await world.call(
    5,
    world.factory,
    encodeFunctionData({ abi: ownerAbi, functionName: 'transferFrom', args: [from, to, 1n] }),
  )
  await world.payments()
  const [node] = await world.pool`SELECT owner FROM nodes WHERE node_id = 1`
  assert.equal(node?.owner, to)
  assert.deepEqual([...(await world.pool`SELECT owner, nodes FROM owners`)], [{ owner: to, nodes: 1 }])
})

test('at the end the ledger matches the chain by every invariant', () => checkInvariants(world))
