// The stretched chain, on which we measure a rebuild of millions of blocks: it answers in a real node's form, and its
// blocks give the same ledger whether they are read or surveyed.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../../src/db/core/sql.ts'
import { follow } from '../../../src/follower/follow.ts'
import { rebuild } from '../../../src/mending/rebuild/rebuild.ts'
import type { Rules } from '../../../src/ports/contexts.ts'
import { type Hex, startTestChain, type TestBlock, type TestChain } from '../../support/anvil.ts'
import type { SendRules } from '../../support/faults/send-rules.ts'
import { createDatabase } from '../../support/postgres.ts'
import { contextOf, deployContracts, enterTerms } from '../../support/world.ts'
import { unsound } from '../model/recompute.ts'
import { Provider } from '../provider.ts'
import { rpcOn } from '../stage.ts'
import { playSparseBusiness, type SparseBusiness } from './business.ts'
import { FINAL_AFTER } from './chain.ts'

const TURN_SEC = 700
const UNLIMITED = { checkLock: () => {}, outOfTime: () => false }

async function withLedger(
  { stretched, factory }: SparseBusiness,
  rules: Partial<Rules>,
  body: (ctx: ReturnType<typeof contextOf>) => Promise<void>,
): Promise<void> {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 4, prepare: true, applicationName: 'test' })
  const chain = { ...stretched.model, rpc: stretched.rpc } as TestChain
  const fair = { chain, rules: {} as SendRules, weather: null, onRequest: async () => {}, onFault: () => {} }
  const rpc = rpcOn([new Provider(fair), new Provider(fair)])
  try {
    await body(contextOf({ chain: stretched.model, rpc, pool, directUrl: database.url, factory }, rules))
  } finally {
    await rpc.close()
    await pool.end({ timeout: 1 })
    await database.drop()
  }
}

test('a stretched chain gives the same ledger whether its blocks are read or surveyed', async () => {
  const business = await playSparseBusiness(1_500, 60, TURN_SEC)
  const { stretched, token } = business
  const survey = { behind: 300, blocksMin: 64 }
  await withLedger(business, { survey: { ...survey, behind: Number.POSITIVE_INFINITY } }, async (read) => {
    await enterTerms(read.pool, stretched.model, token, { intervalSec: TURN_SEC, slotSec: TURN_SEC })
    await follow(read, UNLIMITED)
    const [found] = await read.pool`
      SELECT (SELECT count(*) FROM nodes)::int AS nodes, (SELECT count(*) FROM payments)::int AS payments,
        (SELECT count(*) FROM rounds)::int AS rounds, (SELECT count(*) FROM withdrawals)::int AS withdrawals`
    assert.deepEqual({ ...found }, business.expected)
    await withLedger(business, { survey }, async (surveyed) => {
      const { comparison, surveyedTo } = await rebuild(surveyed, read.pool, () => {})
      assert.equal(surveyedTo, business.head - FINAL_AFTER - survey.behind)
      assert.deepEqual(
        comparison?.differences.filter(({ table }) => table !== 'blocks'),
        [],
      )
    })
  })
})

/** The shape of a JSON-RPC value. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, shapeOf(part)]))
  if (typeof value !== 'string' || !value.startsWith('0x')) return typeof value
  if (value.length === 66) return 'hash'
  if (value.length === 42) return 'address'
  if (value.length === 514) return 'bloom'
  return /^0x(0|[1-9a-f][0-9a-f]*)$/.test(value) ? 'quantity' : 'bytes'
}

/** The parts of a shape that another one has as well. */
function within(shape: unknown, part: unknown): unknown {
  if (Array.isArray(shape) && Array.isArray(part)) return part.map((one, index) => within(shape[index], one))
  if (typeof shape !== 'object' || typeof part !== 'object' || shape === null || part === null) return shape
  return Object.fromEntries(Object.entries(part).map(([key, one]) => [key, within((shape as never)[key], one)]))
}

/** Answers of a chain about the factory's deployment in its first block, and about a payment. */
async function answersOf(rpc: TestChain['rpc'], wallet: Hex, paid: Hex): Promise<Record<string, unknown>> {
  const first = await rpc<{ transactions: { hash: Hex }[] }>('eth_getBlockByNumber', ['0x1', true])
  const deployed = first.transactions[0]?.hash
  const { blockNumber } = await rpc<{ blockNumber: Hex }>('eth_getTransactionByHash', [paid])
  return {
    block: await rpc('eth_getBlockByNumber', [blockNumber, true]),
    header: await rpc('eth_getBlockByNumber', [blockNumber, false]),
    transaction: await rpc('eth_getTransactionByHash', [paid]),
    receipt: await rpc('eth_getTransactionReceipt', [paid]),
    deployment: await rpc('eth_getTransactionReceipt', [deployed]),
    balance: await rpc('eth_getBalance', [wallet, blockNumber]),
    proof: await rpc('eth_getProof', [wallet, [], blockNumber]),
    absent: await rpc('eth_getTransactionByHash', [`0x${'7'.repeat(64)}`]),
    beyond: await rpc('eth_getBlockByNumber', ['0xffffff', false]),
  }
}

test('the blocks of a stretched chain match their hashes, each with the one before', async () => {
  const { stretched } = await playSparseBusiness(300, 4, TURN_SEC)
  const rpc = stretched.rpc as TestChain['rpc']
  let before = `0x${'0'.repeat(64)}`
  for (let number = 0; number <= 300; number++) {
    // Its blooms say "perhaps" to everything.
    const wrong = (await unsound({ rpc }, number)).filter((what) => !what.startsWith('logsBloom'))
    const { hash, parentHash } = await rpc<TestBlock>('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    assert.deepEqual([wrong, parentHash], [[], before])
    before = hash
  }
})

test('a stretched chain answers in the form of a real node', async () => {
  const real = await startTestChain()
  try {
    await deployContracts(real, 250n)
    const [buyer, wallet] = [real.accounts[6]?.address, real.accounts[3]?.address] as [Hex, Hex]
    const paid = await real.send({ from: buyer, to: wallet, value: '0x2386f26fc10000' })
    await real.mine(2)
    const { stretched } = await playSparseBusiness(1_000, 4, TURN_SEC)
    const rpc = stretched.rpc as TestChain['rpc']
    const blocks = await Promise.all(
      Array.from({ length: 1_000 }, (_, number) =>
        rpc<{ transactions: { hash: Hex; to: Hex | null }[] }>('eth_getBlockByNumber', [
          `0x${number.toString(16)}`,
          true,
        ]),
      ),
    )
    const payment = blocks.flatMap(({ transactions }) => transactions).find(({ to }) => to === wallet.toLowerCase())
    const ours = shapeOf(await answersOf(rpc, wallet, payment?.hash ?? '0x'))
    const theirs = shapeOf(await answersOf(real.rpc, wallet, paid))
    assert.deepEqual(ours, within(theirs, ours))
  } finally {
    await real.stop()
  }
})
