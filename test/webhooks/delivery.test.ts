// Events from the fact to their receiver, on a real chain and database, checked by the reference library of Standard Webhooks.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { inTransaction } from '../../src/db/core/sql.ts'
import { readFinding } from '../../src/db/core/troubles.ts'
import { addEndpoint, endpointName, listDeliveries, removeEndpoint, takeDeliveries } from '../../src/db/webhooks.ts'
import { silentLog } from '../../src/lib/log.ts'
import { enableWebhook, redeliver } from '../../src/operator/acts/webhooks.ts'
import { type Funds, watchFunds } from '../../src/passes/steps/funds.ts'
import { startWebhooks, type Webhooks } from '../../src/webhooks/worker.ts'
import { beWellFor } from '../support/in-world.ts'
import { until } from '../support/until.ts'
import { ETHER, INTERVAL_SEC, startWorld, type World } from '../support/world.ts'
import { type Received, type Receiver, SECRET, SECRET_BEFORE, startReceiver } from './receiver.ts'

const BASIC = ETHER / 100n
/** No tier's price, and no dust, so it is held. */
const ODD = BASIC / 100n
let world: World
let receiver: Receiver
let endpoint: string
const running: Webhooks[] = []

before(async () => {
  ;[world, receiver] = await Promise.all([startWorld(), startReceiver()])
  endpoint = endpointName(receiver.url)
  await addEndpoint(world.pool, { url: receiver.url, secrets: [SECRET] }, 'test')
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
  receiver.answer = (response) => void response.writeHead(204).end()
  receiver.received.length = 0
})
after(async () => {
  await world.close()
  await receiver.close()
})

async function deliver(secrets: readonly string[] = [SECRET], timeoutMs = 15_000): Promise<Webhooks> {
  await addEndpoint(world.pool, { url: receiver.url, secrets }, 'test')
  const worker = startWebhooks({
    pool: world.pool,
    allowPrivate: true,
    publicUrl: 'https://nodes.example',
    log: silentLog,
    timeoutMs,
  })
  running.push(worker)
  return worker
}
const pending = async () =>
  (await world.pool<{ n: number }[]>`SELECT count(*) AS n FROM webhook_deliveries WHERE state = 'pending'`)[0]?.n
const allDelivered = () => until('all is delivered', async () => (await pending()) === 0)
const typesOf = (received: readonly Received[]) => received.map(({ event }) => event.type).sort()
/** Makes deliveries that wait for their next attempt due now. */
const hurry = () => world.pool`UPDATE webhook_deliveries SET due_at = now() WHERE state = 'pending'`
const headersOf = (received: Received | undefined) => (received?.headers ?? {}) as Record<string, string>

test('events from before any delivery are sent then, each with a signature for the library', async () => {
  await world.pay(5, BASIC)
  await world.pay(6, ODD)
  await world.rest()
  await world.chain.increaseTime(INTERVAL_SEC)
  await world.rest()
  await world.act(5, 'withdraw', [1n, world.at(7), 1_000n])
  await world.payments()
  // Nothing is delivered yet, as in a service that was killed between commit and delivery.
  assert.ok(((await pending()) ?? 0) >= 4)
  await deliver()
  await allDelivered()
  const types = new Set(typesOf(receiver.received))
  for (const type of ['payment.held', 'payment.minted', 'round.credited', 'withdrawal.seen'])
    assert.ok(types.has(type), type)
  const library = new Webhook(SECRET)
  const wrong = new Webhook(SECRET_BEFORE)
  for (const received of receiver.received) {
    assert.deepEqual(library.verify(received.body, headersOf(received)), received.event)
    assert.throws(() => wrong.verify(received.body, headersOf(received)))
    assert.throws(() => library.verify(`${received.body} `, headersOf(received)))
    assert.equal(received.headers['content-type'], 'application/json')
    assert.deepEqual(Object.keys(received.event), ['data', 'type', 'timestamp'])
  }
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids).size, ids.length)
})

test('an event contains what the ledger holds', async () => {
  const [minted] = await eventsOf('payment.minted')
  const [node] = await world.pool`
    SELECT n.node_id::text AS "nodeId", n.mint_tx_hash AS "mintTxHash", n.block_number AS "blockNumber", n.block_hash AS "blockHash",
      p.tx_hash AS "txHash", p.ref, p.from_address AS "from", p.value_wei::text AS "valueWei", p.tier_id AS "tierId", iso(n.minted_at) AS "mintedAt"
    FROM nodes n JOIN payments p ON p.id = n.payment_id WHERE n.node_id = 1`
  assert.deepEqual(minted?.data, { ...node })
  const [held] = await eventsOf('payment.held')
  assert.equal(held?.data.reason, 'wrongAmount')
  assert.equal(held?.data.valueWei, ODD.toString())
  assert.equal(held?.data.from, world.at(6))
  const rounds = await eventsOf('round.credited')
  const stored =
    await world.pool`SELECT round AS "distributionId", total_wei::text AS "totalWei" FROM rounds ORDER BY round`
  assert.deepEqual(
    rounds.map(({ data }) => ({ distributionId: data.distributionId, totalWei: data.totalWei })),
    stored.map((row) => ({ ...row })),
  )
  const [withdrawal] = await eventsOf('withdrawal.seen')
  assert.deepEqual(
    [withdrawal?.data.amountWei, withdrawal?.data.status, withdrawal?.data.toAddress],
    ['1000', 'sent', world.at(7)],
  )
})

async function eventsOf(type: string): Promise<Received['event'][]> {
  const rows = await world.pool<{ body: string }[]>`SELECT body FROM webhook_events WHERE type = ${type} ORDER BY seq`
  return rows.map(({ body }) => JSON.parse(body))
}

test('during a rotation an event has a signature by each secret, so either receiver accepts it', async () => {
  await world.pay(6, ODD + 777n)
  await world.rest()
  await deliver([SECRET, SECRET_BEFORE])
  await allDelivered()
  const [received] = receiver.received
  assert.ok(received)
  for (const secret of [SECRET, SECRET_BEFORE]) new Webhook(secret).verify(received.body, headersOf(received))
})

test('a failing receiver is retried with the same id and body, after the convention’s waits', async () => {
  let failures = 0
  receiver.answer = (response) => void response.writeHead(failures++ === 0 ? 500 : 200).end()
  await world.pay(6, ODD + 778n)
  await world.rest()
  await deliver()
  await until('the second attempt', () => receiver.received.length === 2)
  const [first, second] = receiver.received
  assert.equal(first?.headers['webhook-id'], second?.headers['webhook-id'])
  assert.equal(first?.body, second?.body)
  await allDelivered()
  const [delivery] = await listDeliveries(world.pool, { state: null, type: null, before: null, limit: 1 })
  const { log, state } = delivery as unknown as { state: string; log: { status: number; error: string | null }[] }
  assert.equal(state, 'delivered')
  assert.deepEqual(
    log.map(({ status, error }) => [status, error]),
    [
      [500, 'answered 500'],
      [200, null],
    ],
  )
})

test('an event that failed ten times is given up, kept, and sent again at the operator’s request', async () => {
  receiver.answer = (response) => void response.writeHead(503).end()
  await world.pay(6, ODD + 779n)
  await world.rest()
  const worker = await deliver()
  await until('the last attempt', async () => {
    await hurry()
    worker.wake()
    return (await pending()) === 0
  })
  assert.equal(receiver.received.length, 10)
  const [delivery] = await listDeliveries(world.pool, { state: 'failed', type: 'payment.held', before: null, limit: 5 })
  assert.ok(delivery)
  receiver.answer = (response) => void response.writeHead(204).end()
  const actor = { name: 'anna', requestId: null }
  await redeliver(world, actor, { id: delivery.id })
  await allDelivered()
  assert.equal(receiver.received.length, 11)
  assert.equal(receiver.received[10]?.headers['webhook-id'], receiver.received[0]?.headers['webhook-id'])
  const [audit] = await world.pool`SELECT actor, action FROM audit ORDER BY id DESC LIMIT 1`
  assert.deepEqual({ ...audit }, { actor: 'anna', action: 'webhookRedelivered' })
  assert.deepEqual(await redeliver(world, actor, { id: 999_999 }).then((r) => 'because' in r && r.because), 'notFound')
})

test('an endpoint that is gone, or fails for days, gets nothing until it is enabled, then all', async () => {
  const disabled = async () =>
    (
      await world.pool<
        { at: Date | null }[]
      >`SELECT disabled_at AS at FROM webhook_endpoints WHERE endpoint = ${endpoint}`
    )[0]?.at
  const worker = await deliver()
  for (const status of [410, 500]) {
    receiver.received.length = 0
    receiver.answer = (response) => void response.writeHead(status).end()
    if (status === 500)
      await world.pool`UPDATE webhook_endpoints SET failing_since = now() - interval '5 days 1 minute' WHERE endpoint = ${endpoint}`
    await world.pay(6, ODD + 780n + BigInt(status))
    await world.rest()
    worker.wake()
    await until('it is disabled', async () => (await disabled()) !== null)
    const told = receiver.received.length
    await world.pay(6, ODD + 790n + BigInt(status))
    await world.rest()
    await hurry()
    assert.equal((await takeDeliveries(world.pool, endpoint, 10)).length, 0)
    assert.equal(receiver.received.length, told)
    receiver.answer = (response) => void response.writeHead(204).end()
    await enableWebhook(world, { name: 'anna', requestId: null }, { endpoint })
    await allDelivered()
    assert.equal(receiver.received.length, told + 2)
    assert.equal(await disabled(), null)
  }
})

test('several instances deliver each event once', async () => {
  for (let i = 0; i < 12; i++) await world.pay(6, ODD + 1_000n + BigInt(i))
  await world.rest()
  const events = await pending()
  assert.ok((events ?? 0) >= 12)
  const taken = await inTransaction(world.pool, async (sql) => [
    ...(await takeDeliveries(sql, endpoint, 5)),
    // The first transaction is still open.
    ...(await takeDeliveries(world.pool, endpoint, 100)),
  ])
  assert.deepEqual([taken.length, new Set(taken.map(({ id }) => id)).size], [events, events])
  await hurry()
  receiver.answer = (response) => void setTimeout(() => response.writeHead(204).end(), 20)
  await Promise.all([deliver(), deliver(), deliver()])
  await allDelivered()
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(ids.length, events)
  assert.equal(new Set(ids).size, ids.length)
})

test('a delivery whose deliverer died is made again by another when its lease is over', async () => {
  await world.pay(6, ODD + 2_000n)
  await world.rest()
  // Leased, and never finished.
  const [taken] = await takeDeliveries(world.pool, endpoint, 10)
  assert.ok(taken)
  assert.equal((await takeDeliveries(world.pool, endpoint, 10)).length, 0)
  const [lease] = await world.pool<{ sec: number }[]>`
    SELECT extract(epoch FROM due_at - now())::float8 AS sec FROM webhook_deliveries WHERE id = ${taken.id}`
  assert.ok((lease?.sec ?? 0) > 15, 'longer than an attempt may last')
  await hurry()
  await deliver()
  await allDelivered()
  assert.equal(receiver.received.length, 1)
})

test('an event is there if and only if its fact is: a fact that is rolled back is never sent', async () => {
  const before = await world.pool`SELECT count(*) AS n FROM webhook_events`
  await assert.rejects(
    world.pool.begin(async (sql) => {
      await sql`UPDATE payments SET reason = 'recheck' WHERE state = 'held'`
      const inside = await sql`SELECT count(*) AS n FROM webhook_events`
      assert.notDeepEqual(inside, before)
      throw new Error('taken back')
    }),
    /taken back/,
  )
  assert.deepEqual(await world.pool`SELECT count(*) AS n FROM webhook_events`, before)
})

test('a reorg is reported, and a payment’s return in another block is another event', async () => {
  await deliver()
  const txHash = await world.pay(8, BASIC)
  await world.settle()
  await allDelivered()
  const mintsOf = () =>
    receiver.received.filter(({ event }) => event.type === 'payment.minted' && event.data.txHash === txHash)
  assert.equal(mintsOf().length, 1)
  // The blocks of payment and mint disappear; the payment returns in the first new one.
  const raw = await world.raw(txHash)
  await world.chain.reorg(6, [[raw, 0]])
  await world.settle()
  await until('the event of the second mint', () => mintsOf().length === 2)
  await allDelivered()
  const [first, second] = mintsOf()
  assert.notEqual(first?.event.data.blockHash, second?.event.data.blockHash)
  assert.notEqual(first?.headers['webhook-id'], second?.headers['webhook-id'])
  const reorganised = receiver.received.find(({ event }) => event.type === 'chain.reorganised')
  assert.ok(Number(reorganised?.event.data.toBlock) < Number(first?.event.data.blockNumber))
})

test('T9: low funds are reported once, and once more only after they sufficed for a while', async () => {
  const { distributor, ctx } = {
    distributor: world.at(2),
    ctx: world.instance({ rules: { fundsWarnTransactions: 50 } }).ctx,
  }
  await deliver()
  const look = async (balance: bigint) => {
    await world.chain.rpc('anvil_setBalance', [distributor, `0x${balance.toString(16)}`])
    await world.pool`DELETE FROM passes WHERE name = 'funds'`
    await watchFunds(ctx)
  }
  const isLow = async () => (await readFinding<Funds>(world.pool, 'funds distributor'))?.low
  for (const balance of [ETHER * 100n, 1n, 2n, ETHER * 100n, 2n, ETHER * 100n]) await look(balance)
  assert.equal(await isLow(), true, 'not yet over')
  await beWellFor(world, 'funds distributor')
  await look(ETHER * 100n)
  assert.equal(await isLow(), false)
  for (const balance of [3n, ETHER * 10_000n]) await look(balance)
  await allDelivered()
  const low = receiver.received.filter(({ event }) => event.type === 'funds.low')
  assert.deepEqual(low.map(({ event }) => [event.data.sender, event.data.balanceWei]).sort(), [
    ['distributor', '1'],
    ['distributor', '3'],
  ])
  assert.ok(BigInt(String(low[0]?.event.data.neededWei)) > 3n)
})

test('old events are forgotten, however many there are; younger ones stay', async () => {
  await world.pool`
    INSERT INTO webhook_events (id, type, body, created_at)
    SELECT 'old ' || n, 'payment.held', '{}', now() - interval '31 days' FROM generate_series(1, 5001) n`
  await world.pool`INSERT INTO webhook_events (id, type, body, created_at) VALUES ('young', 'x', '{}', now() - interval '29 days')`
  await deliver()
  const kept = async () =>
    (await world.pool<{ old: number }[]>`SELECT count(*) AS old FROM webhook_events WHERE id LIKE 'old %'`)[0]?.old
  await until('all old events are gone', async () => (await kept()) === 0)
  assert.equal((await world.pool`SELECT FROM webhook_events WHERE id = 'young'`).count, 1)
})

test('without an endpoint, no event is written down', async () => {
  await removeEndpoint(world.pool, endpoint)
  const before = await world.pool`SELECT count(*) AS n FROM webhook_events`
  await world.pay(6, ODD + 3_000n)
  await world.rest()
  assert.deepEqual(await world.pool`SELECT count(*) AS n FROM webhook_events`, before)
})
