// A provider that returns logs only for a few blocks at a time cannot show all of an old node's events. The reconciler
// still reports every difference, and repairs the nodes that it can.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hash } from '../../src/domain/units.ts'
import { type FalseProvider, type Rule, startFalseProvider } from '../chain/false-provider.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { mintData } from '../support/factory.ts'
import { loseNode } from '../support/faults/differences.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** More blocks than the range over which it fetches a node's events one by one. */
const LONG = 450

let world: World
let provider: FalseProvider
/** First and last block of each request for logs. */
let asked: [number, number][] = []
/** Reports of a difference before the first such request. */
let toldBefore: number | null = null

before(async () => {
  const between = async (target: string) => {
    provider = await startFalseProvider(target)
    return { urls: [provider.url], close: () => provider.close() }
  }
  world = await startWorld({}, { between })
  await world.settle()
  for (const account of [5, 6]) await world.pay(account, BASIC)
  await world.settle()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(5), 1000n])
  await world.chain.mine(LONG)
  await world.pay(7, BASIC)
  await world.settle()
  await world.act(7, 'transferFrom', [world.at(7), world.at(8), 3n])
  await world.rest()
})
after(() => world.close())

const mintBlockOf = async (nodeId: number) => {
  const [row] = await world.pool<{ at: number }[]>`SELECT block_number AS at FROM nodes WHERE node_id = ${nodeId}`
  return row?.at ?? assert.fail('no such node')
}
const drift = async () => (await world.pool`SELECT drift AS value FROM ledger_state`)[0]?.value ?? []
const told = async () => (await world.pool`SELECT FROM audit WHERE action = 'drift'`).count

/** Refuses requests for the logs of a node in more than `blocks` blocks. */
const limits = (blocks: number): Rule => {
  return async ({ method, params: [filter = {}] }) => {
    const { fromBlock, toBlock, topics = [] } = filter as { fromBlock?: string; toBlock?: string; topics?: unknown[] }
    const isOfNode = typeof topics[1] === 'string' || typeof topics[3] === 'string'
    if (method !== 'eth_getLogs' || fromBlock === undefined || !isOfNode) return undefined
    const [first, last] = [Number(fromBlock), Number(toBlock)]
    asked.push([first, last])
    toldBefore ??= await told()
    return last - first < blocks ? undefined : { error: { code: -32005, message: `up to ${blocks} blocks at a time` } }
  }
}

test('a difference is reported before its repair, and each node is repaired alone from its mint', async () => {
  const [first, third] = [await mintBlockOf(2), await mintBlockOf(3)]
  assert.ok(third - first > LONG)
  await world.pool.begin(async (sql) => {
    await sql`DELETE FROM withdrawals WHERE node_id = 1`
    await sql`UPDATE nodes SET withdrawn_wei = 0 WHERE node_id = 1`
    await sql`DELETE FROM node_transfers WHERE node_id = 3 AND to_address = ${world.at(8)}`
    await sql`UPDATE nodes SET owner = ${world.at(7)} WHERE node_id = 3`
  })
  const before = await told()
  provider.rule = limits(1)
  assert.equal((await world.payments()).reconciled, 1)
  assert.deepEqual([toldBefore, await told()], [before + 1, before + 1])
  assert.ok((await drift()).some((found: { nodeId?: string }) => found.nodeId === '1'))
  const [node] = await world.pool`SELECT owner FROM nodes WHERE node_id = 3`
  assert.equal(node?.owner, world.at(8))
  assert.ok(Math.min(...asked.map(([from]) => from)) >= (await mintBlockOf(1)), 'asked for blocks before the mint')
})

test('a provider that takes longer ranges gets few requests, and the repair succeeds', async () => {
  const head = Number((await world.chain.block()).number)
  asked = []
  provider.rule = limits(50)
  assert.equal((await world.payments()).reconciled, 1)
  // It finds the size that the provider accepts once for each of the two kinds of requests, and keeps it.
  const pieces = Math.ceil((head - (await mintBlockOf(1))) / 25)
  assert.ok(asked.length <= 2 * (pieces + 6), `${asked.length} questions`)
  await world.payments()
  assert.deepEqual(await drift(), [])
  await checkInvariants(world)
})

test('after a few failures a run stops, and the next one starts behind the last of them, in turn', async () => {
  const { pool } = world
  provider.rule = () => undefined
  for (const account of [9, 10, 11]) await world.pay(account, BASIC)
  await world.settle()
  const all = [1, 2, 3, 4, 5, 6]
  let withheld = all
  let tried: number[] = []
  provider.rule = async ({ method, params: [filter] }) => {
    if (method !== 'eth_getLogs') return undefined
    const { fromBlock, topics = [] } = filter as { fromBlock?: string; topics?: unknown[] }
    const id = Number(typeof topics[1] === 'string' ? topics[1] : topics[3])
    if (fromBlock === undefined || !all.includes(id)) return undefined
    if (tried.at(-1) !== id) tried.push(id)
    return withheld.includes(id) ? { error: { code: -32000, message: 'header not found' } } : undefined
  }
  const triedByRun = async () => {
    tried = []
    await world.payments()
    return tried
  }
  const known = async () =>
    (await pool<{ id: number }[]>`SELECT node_id AS id FROM nodes ORDER BY 1`).map(({ id }) => id)
  for (const id of all) await loseNode(world, id)
  await pool`UPDATE ledger_state SET reconcile_nodes = 0`
  assert.deepEqual(await triedByRun(), [1, 2, 3])
  assert.deepEqual(await triedByRun(), [4, 5, 6])
  assert.deepEqual(await triedByRun(), [1, 2, 3])
  withheld = [1, 2, 3]
  assert.deepEqual(await triedByRun(), [4, 5, 6, 1, 2, 3])
  assert.deepEqual(await known(), [4, 5, 6])
  withheld = []
  assert.deepEqual(await triedByRun(), [1, 2, 3])
  assert.deepEqual(await known(), all)
  await world.payments()
  await checkInvariants(world)
  assert.deepEqual(await drift(), [])
  await checkInvariants(world)
})

test('a node minted behind a credit of its cohort in one block comes back without that credit', async () => {
  const own = await startWorld()
  try {
    await own.settle()
    await own.pay(5, BASIC)
    await own.settle()
    await own.chain.increaseTime(INTERVAL_SEC)
    await own.chain.mine()
    const { txHash } = await own.credit()
    const [{ cohort } = assert.fail()] = await own.pool<{ cohort: number }[]>`SELECT cohort FROM nodes`
    const ref = hash(`0x${'5b'.repeat(32)}`)
    // The one with the higher fee goes first.
    const { baseFeePerGas } = await own.chain.rpc<{ baseFeePerGas: string }>('eth_getBlockByNumber', ['latest', false])
    const least = `0x${((BigInt(baseFeePerGas) * 9n) / 8n + 1n).toString(16)}`
    const behind = { maxFeePerGas: least, maxPriorityFeePerGas: '0x0' }
    const call = { from: own.at(1), to: own.factory, data: mintData({ to: own.at(9), cohort, ref }), gas: '0x200000' }
    await own.chain.send({ ...call, ...behind } as never)
    await own.chain.mine()
    await own.payments()
    const rows = () => own.pool`SELECT * FROM nodes WHERE node_id = 2`
    const before = await rows()
    assert.deepEqual(
      [
        ...(await own.pool`SELECT n.turns_at_mint, r.tx_hash FROM nodes n JOIN rounds r USING (block_number) WHERE node_id = 2`),
      ],
      [{ turns_at_mint: 1, tx_hash: txHash }],
    )
    await loseNode(own, 2)
    assert.equal((await own.payments()).reconciled, 1)
    assert.deepEqual(await rows(), before)
  } finally {
    await own.close()
  }
})

test('a node whose block the ledger has forgotten stays a difference, and doctor fails with it', async () => {
  const own = await startWorld()
  try {
    await own.settle()
    await own.pay(5, BASIC)
    await own.settle()
    await own.chain.mine(3)
    await own.payments()
    await loseNode(own, 1)
    await own.pool`DELETE FROM blocks WHERE number <= (SELECT max(number) - 2 FROM blocks)`
    for (let i = 0; i < 2; i++) assert.equal((await own.payments()).reconciled, 0)
    assert.equal((await own.pool`SELECT FROM nodes`).count, 0)
    const { out } = await runHere(['doctor', '--json'], worldEnv(own))
    const found = JSON.parse(out).findings.filter(({ verdict }: { verdict: string }) => verdict === 'fail')
    assert.ok(found.some(({ check }: { check: string }) => check === 'ledger.drift'))
  } finally {
    await own.close()
  }
})
