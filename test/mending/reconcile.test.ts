// Reconciliation of the ledger with the contract: it finds and restores what the ledger lost, reports each difference once, and deletes nothing.
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { readCohorts } from '../../src/db/nodes/cohorts.ts'
import type { ChainCohort, ChainNode, ContractReader } from '../../src/ports/contract.ts'
import { loseNode } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { beginSlot, ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n

let world: World
/** Nodes 1 and 3 of account 5, node 2 of account 6, after two rounds, withdrawals and a transfer. */
before(async () => {
  world = await startWorld()
  await world.settle()
  for (const account of [5, 6]) await world.pay(account, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.pay(5, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 1000n])
  await world.act(5, 'withdraw', [1n, world.at(9), 500n])
  await world.act(6, 'transferFrom', [world.at(6), world.at(7), 2n])
  await world.rest()
})
after(() => world.close())
// The ledger goes back once for a block's hash, and these tests lose several nodes of one block.
beforeEach(() => world.pool`DELETE FROM audit WHERE action = 'leftOut'`.then(() => {}))

const drifts = () => world.pool`SELECT detail FROM audit WHERE action = 'drift' ORDER BY id`
/** The differences on record. */
const recorded = async () => (await world.pool`SELECT drift AS value FROM ledger_state`)[0]?.value ?? []
const nodeRows = () => world.pool`SELECT * FROM nodes ORDER BY node_id`

const lose = (nodeId: number, of: World = world) => loseNode(of, nodeId)

for (const nodeId of [1, 2, 3]) {
  test(`node ${nodeId}, lost from the ledger, comes back with its old owner, credits and withdrawals`, async () => {
    const before = await nodeRows()
    const children = () => world.pool`
      SELECT block_number, log_index, from_address, to_address FROM node_transfers UNION ALL
      SELECT block_number, log_index, to_address, amount_wei::text FROM withdrawals ORDER BY 1, 2`
    const childrenBefore = await children()
    await lose(nodeId)
    const outcome = await world.payments()
    assert.equal(outcome.reconciled, 1)
    assert.deepEqual(await nodeRows(), before)
    assert.deepEqual(await children(), childrenBefore)
    await world.payments()
    assert.deepEqual(await recorded(), [], 'what was repaired is no drift any more')
    const [back] = await world.pool<{ to: number }[]>`
      SELECT (detail ->> 'toBlock')::int AS to FROM audit WHERE action = 'leftOut' ORDER BY id DESC LIMIT 1`
    assert.equal(back?.to, Number(before[nodeId - 1]?.block_number) - 1, 'the ledger went back to before its mint')
    await checkInvariants(world)
  })
}

test('a withheld transfer and a withheld withdrawal are added from the node’s own events', async () => {
  const failed = await world.act(5, 'withdraw', [1n, world.at(5), 10n ** 30n])
  await world.payments()
  const before = await nodeRows()
  await world.pool.begin(async (sql) => {
    await sql`DELETE FROM node_transfers WHERE node_id = 2 AND to_address = ${world.at(7)}`
    await sql`UPDATE nodes SET owner = ${world.at(6)} WHERE node_id = 2`
    await sql`DELETE FROM withdrawals WHERE node_id = 1 AND amount_wei = 500`
    await sql`UPDATE nodes SET withdrawn_wei = 1000 WHERE node_id = 1`
  })
  assert.equal((await world.payments()).reconciled, 2)
  assert.deepEqual(await nodeRows(), before)
  await world.payments()
  assert.deepEqual(await recorded(), [])
  const rows = await world.pool`SELECT status FROM withdrawals WHERE tx_hash = ${failed}`
  assert.deepEqual([...rows], [{ status: 'failed' }], 'what failed left no event, and stays')
  await checkInvariants(world)
})

test('events that a provider withholds remove nothing from a node', async () => {
  const { history } = world.ctx
  const logsOfNode: typeof history.logsOfNode = async (...asked) =>
    (await history.logsOfNode(...asked)).map((places) => places.slice(0, 2))
  const known = () => world.pool`SELECT * FROM node_transfers WHERE node_id = 2 ORDER BY block_number`
  const before = await known()
  await world.pool`UPDATE nodes SET owner = ${world.at(9)} WHERE node_id = 2`
  await world.instance({ history: { ...history, logsOfNode } }).payments()
  assert.deepEqual(await known(), before)
  await world.pool`UPDATE nodes SET owner = ${world.at(7)} WHERE node_id = 2`
  await world.payments()
  await world.pool`DELETE FROM audit WHERE action = 'drift'`
})

/** Reorganises the last block away, and has the other pass follow the chain without it. */
async function dropLastBlock(): Promise<void> {
  await world.chain.reorg(1)
  await world.credit()
}
/** Node 2 moves back and forth, the last time in the head's block. Then the pass follows that does not compare. */
async function movedInHead(): Promise<void> {
  await beginSlot(world)
  await world.act(7, 'transferFrom', [world.at(7), world.at(8), 2n])
  await world.credit()
}
const ownerOf = async (nodeId: number) => {
  const [row] = await world.pool<{ owner: string }[]>`SELECT owner FROM nodes WHERE node_id = ${nodeId}`
  return row?.owner
}

/** A run whose last block disappears between reading a node's events and using them. */
async function reconcileWhileDropped(): Promise<void> {
  const { history } = world.ctx
  const logsOfNode: typeof history.logsOfNode = async (...asked) => {
    const places = await history.logsOfNode(...asked)
    await dropLastBlock()
    return places
  }
  await world.instance({ history: { ...history, logsOfNode } }).payments()
}

test('events of a block that is lost while they are being read are not added', async () => {
  await movedInHead()
  await world.pool`DELETE FROM node_transfers WHERE node_id = 2 AND to_address = ${world.at(8)}`
  await world.pool`UPDATE nodes SET owner = ${world.at(7)} WHERE node_id = 2`
  await reconcileWhileDropped()
  assert.equal(await ownerOf(2), world.at(7))
  assert.equal((await world.payments()).reconciled, 0)
  await checkInvariants(world)
  await world.pool`DELETE FROM audit WHERE action = 'drift'`
})

test('a node of a block that is lost while its events are being read is not inserted', async () => {
  await world.pay(12, BASIC)
  await world.chain.mine()
  await world.payments()
  await world.chain.mine()
  await world.credit()
  const [{ id } = assert.fail()] = await world.pool<{ id: number }[]>`SELECT max(node_id)::int AS id FROM nodes`
  await lose(id)
  await reconcileWhileDropped()
  assert.equal(await ownerOf(id), undefined)
  await world.settle()
  await checkInvariants(world)
  await world.pool`DELETE FROM audit WHERE action = 'drift'`
})

test('a round that is followed while a lost node’s events are read is counted to it, once', async () => {
  await lose(3)
  const { history } = world.ctx
  const logsOfNode: typeof history.logsOfNode = async (...asked) => {
    const places = await history.logsOfNode(...asked)
    await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    assert.equal((await world.credit()).reason, null)
    await world.chain.mine()
    await world.credit()
    return places
  }
  assert.equal((await world.instance({ history: { ...history, logsOfNode } }).payments()).reconciled, 0)
  assert.equal((await world.payments()).reconciled, 1)
  await checkInvariants(world)
  await world.pool`DELETE FROM audit WHERE action = 'drift'`
})

test('a lost node that came back stays counted in its cohort after a reorg of later blocks', async () => {
  const cohortOf = async (txHash: string) => {
    const [row] = await world.pool<{ node: number; cohort: number }[]>`
      SELECT node_id AS node, cohort FROM nodes WHERE ref = ${txHash}`
    return row ?? assert.fail('not minted')
  }
  await beginSlot(world)
  const first = await world.pay(8, BASIC)
  await world.settle()
  const { node, cohort } = await cohortOf(first)
  await lose(node)
  assert.equal((await world.payments()).reconciled, 1)
  const before = Number((await world.chain.block()).number)
  const second = await world.pay(9, BASIC)
  await world.settle()
  assert.equal((await cohortOf(second)).cohort, cohort)
  await world.chain.reorg(Number((await world.chain.block()).number) - before)
  await world.chain.mine()
  await world.payments()
  const [row] = await world.pool<{ size: number }[]>`SELECT size FROM cohorts WHERE cohort = ${cohort}`
  assert.equal(BigInt(row?.size ?? -1), (await world.read<bigint[]>('cohort', [BigInt(cohort)]))[1])
  await checkInvariants(world)
})

test('a lost node with a new owner and withdrawals stops no other, and comes back with all of it', async () => {
  await lose(1)
  await world.act(5, 'withdraw', [1n, world.at(5), 7n])
  await world.act(5, 'transferFrom', [world.at(5), world.at(10), 1n])
  // Followed by the pass that does not compare.
  await world.credit()
  assert.equal((await world.payments()).reconciled, 1)
  const [node] = await world.pool`SELECT owner FROM nodes WHERE node_id = 1`
  assert.equal(node?.owner, world.at(10))
  await checkInvariants(world)
})

test('a contract that cannot be read keeps no payment from being judged', async () => {
  const contract: ContractReader = { ...world.ctx.contract, counters: () => assert.fail('no answer') }
  const paid = await world.pay(8, BASIC)
  await world.chain.mine()
  const { payments } = world.instance({ contract })
  await payments()
  const [payment] = await world.pool`SELECT state FROM payments WHERE tx_hash = ${paid}`
  assert.equal(payment?.state, 'minting')
  const [pass] = await world.pool`SELECT error FROM passes WHERE name = 'reconcile'`
  assert.match(pass?.error, /no answer/)
  await checkInvariants(world)
})

test('a block that a reorg removes during a comparison is no drift', async () => {
  const told = (await drifts()).length
  await world.pay(9, BASIC)
  await world.chain.mine()
  await world.payments()
  // The mint's.
  await world.chain.mine()
  const { contract } = world.ctx
  let kept: { nodes: ChainNode[]; cohorts: ChainCohort[] } | undefined
  // Many providers still answer by the hash of a reorganised block; anvil does not.
  const remembering: ContractReader = {
    ...contract,
    async counters(number) {
      const at = (await readCursor(world.pool)) ?? assert.fail()
      const numbers = (await readCohorts(world.pool)).map(({ cohort }) => cohort)
      kept = { nodes: await contract.nodes(1n, 500, at), cohorts: await contract.cohorts(numbers, at) }
      await world.chain.reorg(1)
      return contract.counters(number)
    },
    nodes: async (first) => kept?.nodes.filter(({ nodeId }) => nodeId >= first) ?? [],
    cohorts: async (asked) => kept?.cohorts.filter(({ cohort }) => asked.includes(cohort)) ?? [],
  }
  const { payments } = world.instance({ contract: remembering })
  assert.equal((await payments()).minted, 1)
  assert.ok(kept)
  assert.equal((await drifts()).length, told)
  const [pass] = await world.pool`SELECT error FROM passes WHERE name = 'reconcile'`
  assert.equal(pass?.error, null, 'it was compared')
  await checkInvariants(world)
})
