// Withdrawals and transfers in the ledger: which succeeded, which failed and whose they were, to the wei.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
/** Nodes 1 and 2 are of account 5, node 3 of account 6; each has one turn's credit. */
let creditWei: bigint
before(async () => {
  world = await startWorld()
  await world.settle()
  for (const account of [5, 5, 6]) await world.pay(account, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  creditWei = (await world.read<bigint[]>('nodeInfo', [1n]))[1] ?? 0n
  assert.ok(creditWei > 0n)
})
after(() => world.close())

const rowsOf = async (txHash: string) => {
  const rows = await world.pool`
    SELECT node_id, amount_wei, withdrawn_total_wei, to_address, status, confirmed_at = created_at AS at_once
    FROM withdrawals WHERE tx_hash = ${txHash} ORDER BY node_id`
  return rows.map((row) => [
    row.node_id,
    row.amount_wei,
    row.withdrawn_total_wei,
    row.to_address,
    row.status,
    row.at_once,
  ])
}

test('a part of a balance is withdrawn to any address of the owner’s choice', async () => {
  const txHash = await world.act(5, 'withdraw', [1n, world.at(9), 1000n])
  await world.payments()
  assert.deepEqual(await rowsOf(txHash), [[1, 1000n, 1000n, world.at(9), 'sent', true]])
})

test('withdrawing everything is a row a node, each with its balance', async () => {
  const txHash = await world.act(5, 'withdrawAll', [[1n, 2n], world.at(5)])
  await world.payments()
  assert.deepEqual(await rowsOf(txHash), [
    [1, creditWei - 1000n, creditWei, world.at(5), 'sent', true],
    [2, creditWei, creditWei, world.at(5), 'sent', true],
  ])
})

test('the balance goes with the node, and its new owner withdraws it, even while paused', async () => {
  await world.act(6, 'transferFrom', [world.at(6), world.at(8), 3n])
  await world.act(0, 'pause')
  const txHash = await world.act(8, 'withdrawAll', [[3n], world.at(8)])
  await world.payments()
  assert.deepEqual(await rowsOf(txHash), [[3, creditWei, creditWei, world.at(8), 'sent', true]])
  await world.act(0, 'unpause')
})

test('a round, a withdrawal of it and a transfer in one followed range leave every number exact', async () => {
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.chain.mine()
  assert.equal((await world.credit()).reason, null)
  await world.chain.mine()
  await world.act(5, 'withdraw', [2n, world.at(5), 1n])
  await world.act(5, 'transferFrom', [world.at(5), world.at(7), 2n])
  await world.act(7, 'withdraw', [2n, world.at(7), 2n])
  await world.payments()
  const [node] = await world.pool`SELECT owner, withdrawn_wei FROM nodes WHERE node_id = 2`
  assert.deepEqual(node, { owner: world.at(7), withdrawn_wei: creditWei + 3n })
  await checkInvariants(world)
})

test('a withdrawal that a reorg removes leaves the earlier one, also with a failed one between', async () => {
  const [before] = await world.pool`SELECT withdrawn_wei FROM nodes WHERE node_id = 3`
  await world.act(8, 'withdraw', [3n, world.at(8), 10n ** 30n])
  const { number } = await world.chain.block()
  await world.act(8, 'withdraw', [3n, world.at(8), 1n])
  await world.payments()
  await world.chain.reorg(Number((await world.chain.block()).number) - Number(number))
  await world.payments()
  assert.deepEqual(await world.pool`SELECT withdrawn_wei FROM nodes WHERE node_id = 3`.then((rows) => rows[0]), before)
  await checkInvariants(world)
})
