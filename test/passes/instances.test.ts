// Several instances on one database and one chain: one of them runs a pass. If the lock fails them, the contract and
// the unique keys still make one node of a payment and one payment of a turn.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { readCursor } from '../../src/db/blocks/blocks.ts'
import { withLock } from '../../src/db/core/locks.ts'
import { checkInvariants } from '../support/invariants.ts'
import { ETHER, INTERVAL_SEC, paymentOf, startWorld, type World } from '../support/world.ts'

const BASIC = ETHER / 100n
/** As long as a run may wait for others that started with it. */
const LONG_MS = 10_000

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

/** Starts a pass four times in two instances; whichever runs continues only when the other three have answered. */
async function startedAtOnce<T>(passOf: (instance: ReturnType<World['instance']>) => () => Promise<T>): Promise<T[]> {
  const { chain } = world.ctx
  const answered = new AbortController()
  const head = async () => {
    await sleep(LONG_MS, undefined, { signal: answered.signal }).catch(() => {})
    return chain.head()
  }
  const [one, other] = [world.instance({ chain: { ...chain, head } }), world.instance({ chain: { ...chain, head } })]
  const outcomes: T[] = []
  await Promise.all(
    [one, one, other, other].map(async (instance) => {
      outcomes.push(await passOf(instance)())
      if (outcomes.length === 3) answered.abort()
    }),
  )
  return outcomes
}

test('of simultaneous runs one works, and the others report that they did not', async () => {
  const payments = await startedAtOnce((instance) => instance.payments)
  assert.deepEqual(
    payments.map((outcome) => outcome.ran),
    [false, false, false, true],
  )
  const credits = await startedAtOnce((instance) => instance.credit)
  assert.deepEqual(
    credits.map((outcome) => [outcome.ran, outcome.reason]),
    [
      [false, null],
      [false, null],
      [false, null],
      [true, 'nothingDue'],
    ],
  )
})

test('three instances running every pass make one node of each payment and pay each turn once', async () => {
  const instances = [world.instance(), world.instance(), world.instance()]
  for (let tick = 0; tick < 6; tick++) {
    for (const account of [5, 6, 7]) await world.pay(account, BASIC)
    if (tick === 3) await world.chain.increaseTime(INTERVAL_SEC)
    await world.chain.mine()
    const runs = instances.flatMap(({ payments, credit }) => [payments(), credit()])
    for (const run of await Promise.allSettled(runs)) assert.equal(run.status, 'fulfilled')
  }
  await checkInvariants(world)
  const [sold] = await world.pool`SELECT count(*) AS payments FROM payments WHERE state = 'minted'`
  assert.equal(sold?.payments, 18)
})

test('a run that another overtook while it read stores nothing, and rewinds nothing', async () => {
  const { chain } = world.ctx
  await world.settle()
  await world.chain.mine()
  const overtaken = world.instance({
    chain: {
      ...chain,
      observe: async (from, to, parent) => {
        const range = await chain.observe(from, to, parent)
        await world.chain.mine()
        await world.credit()
        assert.equal((await readCursor(world.pool))?.number, to + 1)
        return range
      },
    },
  })
  const { fromBlock, headBlock, held } = await overtaken.payments()
  assert.deepEqual([fromBlock, headBlock, held], [null, (await readCursor(world.pool))?.number, 0])
  assert.equal((await readCursor(world.pool))?.number, Number((await world.chain.block()).number))
})

test('a run that another overtook still judges and mints, and reports that', async () => {
  const { chain } = world.ctx
  await world.settle()
  const [paid, wrong] = [await world.pay(7, BASIC), await world.pay(8, BASIC + 1n)]
  await world.chain.mine()
  const overtaken = world.instance({
    chain: {
      ...chain,
      observe: async (...asked) => {
        const range = await chain.observe(...asked)
        await world.chain.mine()
        await world.credit()
        return range
      },
    },
  })
  const { held, pending, headBlock } = await overtaken.payments()
  assert.deepEqual([held, pending, headBlock], [1, 1, (await readCursor(world.pool))?.number])
  assert.equal((await paymentOf(world, paid))?.state, 'minting')
  assert.equal((await paymentOf(world, wrong))?.state, 'held')
  await world.settle()
})

test('a run whose provider lags behind the ledger reports that it counted nothing', async () => {
  const { chain } = world.ctx
  const old = await chain.head()
  await world.chain.mine()
  await world.payments()
  const lagging = world.instance({ chain: { ...chain, head: async () => old } })
  const { ran, held, reconciled } = await lagging.payments()
  assert.deepEqual([ran, held, reconciled], [true, null, null])
})

test('a run that has lost its lock sends nothing, and the next one sends what it had stored', {
  timeout: 30_000,
}, async () => {
  const { minter } = world.ctx
  assert.ok(minter)
  const paid = await world.pay(8, BASIC)
  await world.chain.mine()
  let lost: Promise<unknown> = Promise.resolve()
  const cut = world.instance({
    lock: (name, run) =>
      withLock(world.directUrl, name, (signal) => {
        lost = once(signal, 'abort')
        return run(signal)
      }),
    minter: {
      ...minter,
      sign: async (call, options) => {
        await world.pool`
          SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'node-ledger lock payments'
            AND datname = current_database()`
        await lost
        return minter.sign(call, options)
      },
      broadcast: () => assert.fail('sent without the lock'),
    },
  })
  await assert.rejects(cut.payments(), /lock payments was lost/)
  assert.equal((await paymentOf(world, paid))?.state, 'minting')
  await world.settle()
  assert.equal((await paymentOf(world, paid))?.state, 'minted')
})

test('two runs that both believe to hold the lock store one intent for a nonce, and mint once', async () => {
  const { minter } = world.ctx
  assert.ok(minter)
  const paid = await world.pay(9, BASIC)
  await world.chain.mine()
  let second: Promise<unknown> | undefined
  // The first run loses its lock just before it stores; the second one runs to its end in between.
  const first = world.instance({
    directUrl: world.directUrl,
    minter: {
      ...minter,
      sign: async (call, options) => {
        const signed = await minter.sign(call, options)
        await world.pool`
          SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'node-ledger lock payments'
            AND datname = current_database()`
        second = world.instance().payments()
        await second
        return signed
      },
    },
  })
  await assert.rejects(first.payments())
  await second
  const [row] = await world.pool`
    SELECT count(*) AS intents FROM outbox WHERE kind = 'mint' AND call::text LIKE ${`%${paid}%`}`
  assert.equal(row?.intents, 1)
  await checkInvariants(world)
})
