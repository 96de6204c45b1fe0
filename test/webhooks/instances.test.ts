// Endpoints belong to the ledger, for all instances: a start adds endpoints to a ledger that never had any, and removes none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ignoredValues } from '../../src/boot/first-values.ts'
import { loadConfig } from '../../src/config/load.ts'
import type { Sql } from '../../src/db/core/sql.ts'
import { endpointName, listEndpoints } from '../../src/db/webhooks.ts'
import { silentLog } from '../../src/lib/log.ts'
import { adoptEndpoints, startWebhooks, type Webhooks } from '../../src/webhooks/worker.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { meetAt } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { ETHER } from '../support/world.ts'
import { type Receiver, SECRET, SECRET_BEFORE, startReceiver } from './receiver.ts'

let desk: Desk
let receivers: [Receiver, Receiver]
const running: Webhooks[] = []
before(async () => {
  desk = await startDesk()
  receivers = await Promise.all([startReceiver(), startReceiver()])
})
after(async () => {
  await Promise.all(running.map((worker) => worker.stop()))
  await Promise.all(receivers.map((receiver) => receiver.close()))
  await desk.close()
})

/** Starts an instance with these endpoints in its settings. */
async function start(...urls: string[]): Promise<void> {
  await adoptEndpoints(desk.world.pool, { urls, secrets: [SECRET] })
  running.push(
    startWebhooks({ pool: desk.world.pool, allowPrivate: true, publicUrl: 'https://nodes.example', log: silentLog }),
  )
}
const told = async () =>
  (await listEndpoints(desk.world.pool)).filter(({ active }) => active).map(({ endpoint }) => endpoint)
/** No tier's price, and no dust, so it is held. */
let amount = ETHER / 10_000n
const held = async () => {
  await desk.world.pay(6, amount++)
  await desk.world.rest()
}

test('of simultaneous starts with other settings one sets the endpoints, once', async () => {
  const [one, other] = receivers
  const { pool } = desk.world
  const endpoints = (sql: Sql) => sql`LOCK TABLE webhook_endpoints IN SHARE ROW EXCLUSIVE MODE`
  await meetAt(pool, endpoints, [() => start(one.url), () => start(other.url), () => start(one.url)])
  assert.deepEqual(await told(), [endpointName(one.url)])
  assert.equal((await desk.get('audit?action=webhookAdded')).json.entries.length, 1)
  await start(other.url)
  assert.deepEqual(await told(), [endpointName(one.url)])
  const isIgnored = async (url: string) => {
    const env = { NODE_ENV: 'test', WEBHOOK_URL: url, WEBHOOK_SECRET: SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' }
    const config = loadConfig(env, { readFile: () => assert.fail() })
    return (await ignoredValues(desk.world.pool, config)).some(({ settings }) => settings === 'WEBHOOK_URL')
  }
  assert.deepEqual([await isIgnored(one.url), await isIgnored(other.url)], [false, true])
  await desk.world.pool`UPDATE webhook_endpoints SET active = false`
  assert.equal(await isIgnored(other.url), false, 'an act has changed them')
  await desk.world.pool`UPDATE webhook_endpoints SET active = true`
})

test('an instance without endpoints removes none', async () => {
  await start()
  await held()
  await until('the event', () => receivers[0].received.length === 1)
})

test('an instance that may not reach an endpoint uses no attempt, and another sends immediately', async () => {
  const { pool } = desk.world
  const [one] = receivers
  const others = running.splice(0)
  await Promise.all(others.map((worker) => worker.stop()))
  const before = one.received.length
  const strict = startWebhooks({ pool, allowPrivate: false, publicUrl: 'https://nodes.example', log: silentLog })
  running.push(strict)
  await held()
  await until('it says why', async () => /not sent/.test((await listEndpoints(pool))[0]?.lastError ?? ''))
  const waiting = await pool`SELECT attempts, state FROM webhook_deliveries WHERE state <> 'delivered'`
  assert.deepEqual([...waiting], [{ attempts: 0, state: 'pending' }])
  await start()
  await held()
  await until('all events', () => one.received.length === before + 2)
  const attempts = await pool`SELECT FROM webhook_attempts WHERE error IS NOT NULL`
  assert.equal(attempts.count, 0)
  await until('it is well', async () => (await listEndpoints(pool))[0]?.failingSince === null)
  running.splice(running.indexOf(strict), 1)
  await strict.stop()
  one.received.length = before
})

test('running instances serve an endpoint that an act adds, and none that it removes', async () => {
  const [one, other] = receivers
  const added = await desk.post('webhooks', { url: other.url, secret: SECRET })
  assert.deepEqual([added.status, added.json.added], [200, true])
  await held()
  await until('the events at both', () => one.received.length === 2 && other.received.length === 1)
  // A delivery waits for it when it is removed.
  one.answer = (response) => void response.writeHead(500).end()
  await held()
  await until('it has failed', () => one.received.length === 3 && other.received.length === 2)
  assert.equal((await desk.post('webhooks/remove', { endpoint: endpointName(one.url) })).status, 200)
  await desk.world.pool`UPDATE webhook_deliveries SET due_at = now()`
  await start(one.url)
  await held()
  await until('the event at the other', () => other.received.length === 3)
  assert.equal(one.received.length, 3)
  assert.deepEqual(await told(), [endpointName(other.url)])
  for (const endpoint of [endpointName(other.url)]) await desk.post('webhooks/remove', { endpoint })
  await start(one.url)
  assert.deepEqual(await told(), [], 'removing the last one leaves none')
})

test('secrets are changed by an act, from the next event on, and no answer has one', async () => {
  const [, other] = receivers
  await desk.post('webhooks', { url: other.url, secret: SECRET })
  other.received.length = 0
  await held()
  await until('an event with the first secret', () => other.received.length === 1)
  const changed = await desk.post('webhooks', { url: other.url, secret: `${SECRET_BEFORE},${SECRET}` })
  assert.equal(changed.status, 200, changed.text)
  await held()
  // Running instances learn of endpoints after a while, but no event waits for that.
  for (const worker of running) worker.wake()
  await until('an event with both', () => other.received.length === 2)
  assert.equal(String(other.received[1]?.headers['webhook-signature']).split(' ').length, 2)
  const shown = JSON.stringify([(await desk.get('webhooks')).json, (await desk.get('audit')).json, changed.json])
  for (const secret of [SECRET, SECRET_BEFORE]) assert.ok(!shown.includes(secret.slice(6)))
  for (const body of [{ url: other.url }, { url: 'ftp://x', secret: SECRET }, { url: other.url, secret: 'whsec_x' }])
    assert.equal((await desk.post('webhooks', body)).status, 400)
})
