// Readings for the public: values from a real chain, or null within the time limit, whatever the provider does.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { createReadings, type ReadingsOptions } from '../../src/chain/pages/readings.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { type Hash, wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { FOREVER, oneTurn } from '../support/factory.ts'
import { type Stage, startStage } from './stage.ts'

const ref = (digit: string) => `0x${digit.repeat(64)}` as Hash
let stage: Stage
let block: number
before(async () => {
  stage = await startStage()
  const { minter, distributor, at } = stage
  const due = (await stage.head()).time + 100
  await stage.send(minter, {
    kind: 'openCohorts',
    first: 1,
    openings: [{ tierNo: 2, firstDue: due, intervalSec: 60 }],
    validUntil: FOREVER,
  })
  const orders = [5, 5, 6].map((account, index) => ({ to: at(account), cohort: 1, ref: ref(String(index + 1)) }))
  await stage.send(minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
  await stage.chain.setNextTime(due)
  await stage.chain.mine()
  const credits = [oneTurn(1, due, wei(30n))]
  await stage.send(distributor, {
    kind: 'credit',
    round: 1,
    credits,
    valueWei: wei(90n),
    guard: null,
    validUntil: FOREVER,
  })
  block = (await stage.head()).number
})
after(() => stage.close())

/** The wall clock's time, while a test's own clock stands still. */
const WALL_MS = Date.UTC(2026, 0, 2, 3, 4, 30)

/** A budget that no busy machine uses up, for tests of the values. The others use the product's own. */
const AMPLE_MS = 30_000
/** The client's own timeout of a request. The product's budget for a reading is 300 ms, so a reading within it ends long before. */
const RPC_MS = 60_000

/** Separate readings behind a provider, on a clock that stands still until a test moves it. */
async function readingsBehind(options: Pick<ReadingsOptions, 'budgetMs'> = { budgetMs: AMPLE_MS }) {
  const { rpc, provider } = await stage.behind(RPC_MS)
  const time = { now: 0 }
  const { factory } = stage
  const readings = createReadings({
    rpc,
    factory,
    distributor: stage.at(2),
    clock: () => time.now,
    wallClock: () => WALL_MS,
    ...options,
  })
  return { readings, provider, time }
}

async function timed<T>(promise: Promise<T>): Promise<{ value: T; ms: number }> {
  const began = performance.now()
  const value = await promise
  return { value, ms: performance.now() - began }
}

test('a buyer is read fact by fact: a token that does not answer leaves the others as they are', async () => {
  const { readings, provider } = await readingsBehind()
  const wallet = stage.at(5)
  // An account without code returns nothing, and an ERC-721 has a balance, too.
  const unread = await readings.buyer(wallet, stage.at(9))
  assert.deepEqual([unread.heldWei, unread.code, unread.blockNumber], [null, { kind: 'none' }, block])
  assert.ok(unread.balanceWei && unread.gasPriceWei && unread.walletMax)
  assert.equal((await readings.buyer(wallet, stage.factory)).heldWei, 2n)
  assert.equal((await readings.buyer(stage.factory, null)).code?.kind, 'contract')
  provider.rule = async () => ({ error: { code: -32000, message: 'not now' } })
  const away = await readings.buyer(wallet, null)
  assert.deepEqual(new Set(Object.values(away)), new Set([null]))
})

test('readings are the chain’s own values', async () => {
  const { readings } = await readingsBehind()
  assert.deepEqual(await readings.node(1n, block), {
    owner: stage.at(5),
    balanceWei: 30n,
    creditedWei: 30n,
    withdrawnWei: 0n,
    blockNumber: block,
  })
  assert.equal((await readings.node(1n, block - 1))?.creditedWei, 0n)
  assert.deepEqual(await readings.cover(), {
    contractBalanceWei: 90n,
    outstandingWei: 90n,
    isSolvent: true,
    blockNumber: block,
    checkedAt: WALL_MS,
  })
  assert.equal(await readings.paused(), false)
  assert.equal(await readings.maxPerWallet(), await createContractReader(stage.rpc, stage.factory).maxPerWallet())
  assert.deepEqual((await readings.nodesOf(stage.at(5)))?.toSorted(), [1n, 2n])
  assert.equal(
    await readings.distributorBalanceWei(),
    BigInt(await stage.chain.rpc('eth_getBalance', [stage.at(2), 'latest'])),
  )
})

test('without a distributor there is no balance to read, and no request', async () => {
  const { rpc, provider } = await stage.behind()
  const readings = createReadings({ rpc, factory: stage.factory, distributor: null })
  assert.equal(await readings.distributorBalanceWei(), null)
  assert.equal(provider.requests, 0)
})

test('the parts of a cover are all read at one block', async () => {
  const { readings, provider } = await readingsBehind()
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_blockNumber') return undefined
    const head = await forward()
    // The chain advances between the two requests; the answer must not.
    await stage.act(5, 'withdraw', [1n, stage.at(9), 10n])
    await stage.chain.mine()
    return head
  }
  const cover = await readings.cover()
  assert.deepEqual([cover?.contractBalanceWei, cover?.outstandingWei, cover?.blockNumber], [90n, 90n, block])
})

test('many readings of nodes share one request', async () => {
  const { readings, provider } = await readingsBehind()
  const found = await Promise.all([1n, 2n, 3n, 1n, 2n].map((nodeId) => readings.node(nodeId, block)))
  assert.deepEqual(
    found.map((node) => node?.owner),
    [5, 5, 6, 5, 5].map(stage.at),
  )
  assert.equal(provider.requests, 1)
  assert.equal(provider.seen.length, 3)
})

test('requests for nodes are 10 ms apart, however the callers arrive', async () => {
  const { rpc, provider } = await stage.behind()
  const readings = createReadings({ rpc, factory: stage.factory, distributor: null, budgetMs: AMPLE_MS })
  const asked: Promise<unknown>[] = []
  const began = performance.now()
  for (let index = 0; index < 30; index++) {
    asked.push(readings.node(BigInt(index + 1), block))
    await new Promise((resolve) => setTimeout(resolve, 4))
  }
  const found = await Promise.all(asked)
  assert.ok(found.slice(0, 3).every((node) => node !== null))
  // One at once, then one for each 10 ms in which the callers arrived, however long that took.
  const most = Math.floor((performance.now() - began) / 10) + 2
  assert.ok(
    provider.requests >= 2 && provider.requests <= most && provider.requests < 30,
    `${provider.requests} requests`,
  )
})

test('a node that the contract does not know is null, and no fault of the provider', async () => {
  const { readings, provider } = await readingsBehind()
  for (const nodeId of [99n, 98n, 97n, 96n, 2n ** 256n - 1n]) assert.equal(await readings.node(nodeId, block), null)
  assert.notEqual(await readings.node(1n, block), null)
  const before = provider.requests
  assert.equal(await readings.node(99n, block), null)
  assert.equal(provider.requests, before)
})

test('answers are remembered for their time and no longer', async () => {
  const { readings, provider, time } = await readingsBehind()
  const kinds: [ask: () => Promise<unknown>, ageMs: number, requests: number][] = [
    [() => readings.node(1n, block), 5_000, 1],
    [() => readings.cover(), 10_000, 2],
    [() => readings.paused(), 5_000, 1],
    [() => readings.distributorBalanceWei(), 5_000, 1],
  ]
  for (const [ask, ageMs, requests] of kinds) {
    const before = provider.requests
    const first = await ask()
    time.now += ageMs - 1
    assert.deepEqual(await ask(), first)
    assert.equal(provider.requests - before, requests)
    time.now += 1
    await ask()
    assert.equal(provider.requests - before, 2 * requests)
  }
})

test('a cover reports when the chain was read, even if it is repeated late or often', async () => {
  const { rpc, provider } = await stage.behind()
  const time = { now: 0, wall: WALL_MS }
  const clocks = { clock: () => time.now, wallClock: () => time.wall }
  const readings = createReadings({ rpc, factory: stage.factory, distributor: null, budgetMs: AMPLE_MS, ...clocks })
  provider.rule = ({ method }) => {
    if (method === 'eth_getBlockByNumber') time.wall += 200
    return undefined
  }
  assert.equal((await readings.cover())?.checkedAt, WALL_MS)
  time.now += 9_999
  time.wall += 9_999
  assert.equal((await readings.cover())?.checkedAt, WALL_MS)
  time.now += 1
  const asked = provider.requests
  assert.equal((await readings.cover())?.checkedAt, WALL_MS + 200 + 9_999)
  assert.ok(provider.requests > asked)
})

test('each call reads the owner of the nodes again, and simultaneous calls share one reading', async () => {
  const { readings, provider } = await readingsBehind()
  await Promise.all([readings.nodesOf(stage.at(5)), readings.nodesOf(stage.at(5))])
  assert.equal(provider.requests, 1)
  await readings.nodesOf(stage.at(5))
  assert.equal(provider.requests, 2)
})

test('a failure is not remembered', async () => {
  const { readings, provider } = await readingsBehind()
  provider.http = () => ({ status: 500, body: '' })
  assert.equal(await readings.paused(), null)
  provider.http = () => undefined
  assert.equal(await readings.paused(), false)
})

for (const [sentence, http] of [
  ['a provider that never answers', () => null],
  ['a provider that answers HTML', () => ({ body: '<html></html>' })],
  ['a provider that answers nonsense', () => ({ body: '{"jsonrpc":"2.0","id":1,"result":{"a":1}}' })],
] as const) {
  test(`${sentence} costs each reading at most its budget, and gives null`, async () => {
    const { readings, provider } = await readingsBehind({})
    provider.http = http
    const all = [
      readings.node(1n, block),
      readings.cover(),
      readings.paused(),
      readings.distributorBalanceWei(),
      readings.nodesOf(stage.at(5)),
    ]
    for (const { value, ms } of await Promise.all(all.map((reading) => timed<unknown>(reading)))) {
      assert.equal(value, null)
      assert.ok(ms < RPC_MS, `${ms} ms`)
    }
  })
}

test('no provider answers at all: null within the budget', async () => {
  const rpc = createRpc({ urls: ['http://127.0.0.1:9'], log: silentLog, timeoutMs: RPC_MS })
  const readings = createReadings({ rpc, factory: stage.factory, distributor: stage.at(2) })
  const { value, ms } = await timed(readings.cover())
  assert.equal(value, null)
  assert.ok(ms < RPC_MS, `${ms} ms`)
  await rpc.close()
})

test('after three failures no caller waits until a single caller has found it well again', async () => {
  const { readings, provider, time } = await readingsBehind({})
  provider.http = () => null
  for (let failure = 0; failure < 3; failure++) assert.equal(await readings.nodesOf(stage.at(failure)), null)
  assert.equal(await readings.nodesOf(stage.at(5)), null)
  assert.equal(provider.requests, 3)

  time.now += 5_000
  const answered: number[] = []
  const ask = async (account: number) => {
    await readings.nodesOf(stage.at(account))
    answered.push(account)
  }
  await Promise.all([5, 6, 7].map(ask))
  assert.deepEqual(answered, [6, 7, 5], 'the first one waits for the provider')
  assert.equal(provider.requests, 4)

  provider.http = () => undefined
  assert.equal(await readings.nodesOf(stage.at(5)), null)
  time.now += 5_000
  assert.notEqual(await readings.nodesOf(stage.at(5)), null)
  assert.notEqual(await readings.nodesOf(stage.at(6)), null)
})

test('a provider that lags behind the block asked for gives null, not an older value', async () => {
  const { readings } = await readingsBehind()
  assert.equal(await readings.node(1n, block + 1_000), null)
})
