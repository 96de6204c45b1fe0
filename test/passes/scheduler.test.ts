// The timer: how soon the next run follows, by the last one's findings, whatever started it.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, mock, test } from 'node:test'
import { MINT_BATCH_MAX } from '../../src/domain/send.ts'
import { silentLog } from '../../src/lib/log.ts'
import { createScheduler, type Scheduler } from '../../src/passes/scheduler.ts'
import type { CreditOutcome, PaymentsOutcome } from '../../src/ports/outcomes.ts'
import { worldEnv } from '../support/cli.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { payFrom } from '../support/wallets/payer.ts'
import { ETHER, startWorld } from '../support/world.ts'

const TICK_SEC = 3_600

let runs = 0
/** What the next runs find pending; the last one repeats. Null: the run fails. */
let found: (number | null)[] = []
let scheduler: Scheduler
let stop = async () => {}

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] })
  runs = 0
})
afterEach(async () => {
  mock.timers.reset()
  await stop()
})

const outcomeOf = (pending: number) => ({ ran: true, pending }) as PaymentsOutcome

async function start(pending: (number | null)[]): Promise<void> {
  found = pending
  const payments = async () => {
    runs++
    const next = found.length > 1 ? found.shift() : found[0]
    if (next === null || next === undefined) throw new Error('no database')
    return outcomeOf(next)
  }
  scheduler = createScheduler({ payments, credit: async () => ({}) as CreditOutcome }, TICK_SEC, silentLog)
  stop = scheduler.start()
  await settled()
}

/** The loop's promises are done; timers advance only by `pass`. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

async function pass(sec: number): Promise<void> {
  for (let i = 0; i < sec; i++) {
    mock.timers.tick(1_000)
    await settled()
  }
}

test('with nothing on its way the next run comes a tick later', async () => {
  await start([0])
  await pass(TICK_SEC - 2)
  assert.equal(runs, 1)
  await pass(2)
  assert.equal(runs, 2)
})

test('work that a claim’s run found does not wait for a distant tick', async () => {
  await start([0, 1, 0])
  await scheduler.payments()
  await pass(TICK_SEC / 5 + 1)
  assert.equal(runs, 3)
})

test('a backlog is minted batch by batch, down to the last payment, without a tick between', async () => {
  const batches = [...Array.from({ length: 5 }, (_, n) => (5 - n) * MINT_BATCH_MAX), null, 0]
  await start([0, 5 * MINT_BATCH_MAX, ...batches])
  await scheduler.payments()
  await pass(batches.length + 1)
  assert.equal(runs, 2 + batches.length)
  await pass(30)
  assert.equal(runs, 2 + batches.length, 'and with nothing left ticks are ticks again')
})

test('a backlog without progress is checked each second for a while only', async () => {
  await start([0, 5 * MINT_BATCH_MAX])
  await scheduler.payments()
  await pass(120)
  assert.ok(runs > 10 && runs < 30, `${runs} runs`)
})

test('a run that fails is tried again a tick later', async () => {
  await start([1, null, 0])
  await pass(TICK_SEC / 5 + 1)
  assert.equal(runs, 2)
  await pass(TICK_SEC - 10)
  assert.equal(runs, 2)
})

test('the service’s timer continues a sale from a claim, though its tick is an hour off', async () => {
  mock.timers.reset()
  const world = await startWorld()
  const buyers = MINT_BATCH_MAX + 1
  try {
    await world.settle()
    const env = {
      ...worldEnv(world),
      SCHEDULER: 'on',
      TICK_SEC: String(TICK_SEC),
    }
    const service = await startService(temporaryDirectory(), env)
    try {
      const ran = async () =>
        (await world.pool`SELECT FROM passes WHERE name = 'credit' AND finished_at > started_at`).count > 0
      await until('the first tick', ran)
      let last = ''
      for (let n = 0; n < buyers; n++) last = await payFrom(world.chain, n, { to: world.at(3), value: ETHER / 100n })
      await world.chain.mine()
      await service.post('/api/payments/claim', { txHash: last })
      await until('all nodes', async () => {
        await world.chain.mine()
        return (await world.pool`SELECT FROM nodes`).count === buyers
      })
    } finally {
      await service.stop()
    }
  } finally {
    await world.close()
  }
})
