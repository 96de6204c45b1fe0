// Endpoints that get only some kinds of events, chosen in the settings, with the endpoint, or later; and what happens
// to waiting deliveries. Real receivers.
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { addEndpoint, endpointName, listEndpoints } from '../../src/db/webhooks.ts'
import { silentLog } from '../../src/lib/log.ts'
import { addWebhook, chooseEvents, redeliver } from '../../src/operator/acts/webhooks.ts'
import type { Act } from '../../src/operator/define-act.ts'
import { adoptEndpoints, startWebhooks, type Webhooks } from '../../src/webhooks/worker.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { type Receiver, SECRET, startReceiver } from './receiver.ts'

const SLACK = 'https://hooks.slack.com/services/T/B/x'
const MAIL = 'smtps://u:p@mail.example?from=a@x.example&to=b@x.example'

let database: OpenDatabase
let pool: Pool
let [one, other]: Receiver[] = []
const receivers = () => [one ?? assert.fail(), other ?? assert.fail()] as const
const running: Webhooks[] = []
before(async () => {
  database = await openDatabase(4)
  pool = database.pool
})
beforeEach(async () => {
  await pool`TRUNCATE webhook_events, webhook_endpoints CASCADE`
  ;[one, other] = await Promise.all([startReceiver(), startReceiver()])
})
afterEach(async () => {
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
  await Promise.all(receivers().map((receiver) => receiver.close()))
})
after(() => database.close())

let facts = 0
async function tell(...types: string[]): Promise<void> {
  for (const type of types) await pool`SELECT webhook_emit(${type}, ${String(++facts)}, '{}')`
  for (const worker of running) worker.wake()
}
const deliver = () =>
  running.push(startWebhooks({ pool, allowPrivate: true, publicUrl: 'https://nodes.example', log: silentLog }))
const typesOf = ({ received }: Receiver) => received.map(({ event }) => event.type).sort()
const ask = (act: Act<{ pool: Pool }>, input: object) =>
  act({ pool }, { name: 'ann', requestId: null }, input as never) as Promise<Record<string, unknown>>
/** Deliveries of an endpoint, by the type of their event. */
const statesOf = async (url: string) =>
  Object.fromEntries(
    (
      await pool<{ type: string; state: string }[]>`
        SELECT type, state FROM webhook_deliveries JOIN webhook_events USING (seq) WHERE endpoint = ${endpointName(url)} ORDER BY type`
    ).map(({ type, state }) => [type, state]),
  )
const toldTo = async () =>
  Object.fromEntries((await listEndpoints(pool)).map(({ endpoint, events }) => [endpoint, events]))

test('each endpoint of the settings gets its chosen kinds, or all without a choice', async () => {
  const [a, b] = receivers()
  const urls = [a.url, b.url, SLACK]
  const events = [['payment.held', 'funds.low'], ['all'], ['signer.down']]
  await adoptEndpoints(pool, { urls, secrets: [SECRET], events })
  await addEndpoint(pool, { url: MAIL, secrets: [] }, 'test')
  deliver()
  await tell('payment.minted', 'payment.held', 'round.credited', 'funds.low')
  await until('both have theirs', () => a.received.length === 2 && b.received.length === 4)
  assert.deepEqual(typesOf(a), ['funds.low', 'payment.held'])
  assert.deepEqual(await statesOf(SLACK), {})
  const told = await toldTo()
  assert.deepEqual(
    [a.url, b.url, SLACK].map((url) => told[endpointName(url)]),
    ['payment.held,funds.low', 'all', 'signer.down'],
  )
  assert.match(told[endpointName(MAIL)] ?? '', /^payment\.held,refund\.alarm,.*passes\.resumed/)
})

test('an event that no endpoint receives is not stored', async () => {
  await addEndpoint(pool, { url: SLACK, secrets: [], events: ['funds.low'] }, 'test')
  await tell('payment.minted', 'funds.low')
  assert.deepEqual([...(await pool`SELECT type FROM webhook_events`)], [{ type: 'funds.low' }])
})

test('a choice applies from the next event on: other kinds that wait are sent by hand only', async () => {
  const [{ url }, b] = receivers()
  await addEndpoint(pool, { url, secrets: [SECRET] }, 'test')
  await addEndpoint(pool, { url: b.url, secrets: [SECRET] }, 'test')
  const [a] = receivers()
  a.answer = (response) => void response.writeHead(500).end()
  deliver()
  await tell('payment.minted', 'payment.held')
  await until(
    'both were tried',
    async () => (await pool`SELECT FROM webhook_attempts WHERE error IS NOT NULL`).length === 2,
  )
  await Promise.all(running.splice(0).map((worker) => worker.stop()))
  await tell('round.credited', 'funds.low')
  const endpoint = endpointName(url)
  assert.deepEqual(await ask(chooseEvents, { endpoint, events: 'payment.held, funds.low' }), {
    endpoint,
    events: 'payment.held,funds.low',
  })
  assert.deepEqual(await statesOf(url), {
    'funds.low': 'pending',
    'payment.held': 'pending',
    'payment.minted': 'failed',
  })
  assert.equal((await statesOf(b.url))['round.credited'], 'pending')
  a.answer = (response) => void response.writeHead(204).end()
  a.received.length = 0
  await pool`UPDATE webhook_deliveries SET due_at = now() WHERE state = 'pending'`
  deliver()
  await tell('payment.minted', 'payment.held')
  await until('the chosen ones came', () => a.received.length === 3)
  await until('the other has all', () => b.received.length === 6)
  assert.deepEqual(typesOf(a), ['funds.low', 'payment.held', 'payment.held'])
  const [{ id } = { id: 0 }] = await pool<{ id: number }[]>`
    SELECT d.id FROM webhook_deliveries d JOIN webhook_events USING (seq) WHERE endpoint = ${endpoint} AND type = 'payment.minted'`
  await ask(redeliver, { id })
  await until('the one that was sent by hand', () => a.received.length === 4)
  const [row] = await pool`SELECT actor, subject, detail FROM audit WHERE action = 'webhookEventsChosen'`
  assert.deepEqual(
    { ...row },
    { actor: 'ann', subject: endpoint, detail: { before: 'all', after: 'payment.held,funds.low', reason: null } },
  )
})

test('a choice survives a new secret, and is replaced if it is given again', async () => {
  const [{ url }] = receivers()
  const endpoint = endpointName(url)
  const add = (more: object) => ask(addWebhook, { url, secret: SECRET, ...more })
  assert.deepEqual(await add({ events: 'funds.low' }), { endpoint, added: true })
  assert.deepEqual(await add({}), { endpoint, added: false })
  assert.equal((await toldTo())[endpoint], 'funds.low')
  await add({ events: 'all' })
  assert.equal((await toldTo())[endpoint], 'all')
})

test('mail has its kinds alike: by its URL, which prevails when it is added, or by an act', async () => {
  const named = `${MAIL}&events=payment.minted`
  await addEndpoint(pool, { url: named, secrets: [], events: ['funds.low'] }, 'test')
  await addEndpoint(pool, { url: MAIL, secrets: [], events: ['all'] }, 'test')
  assert.deepEqual(await toldTo(), { [endpointName(named)]: 'payment.minted', [endpointName(MAIL)]: 'all' })
  await ask(chooseEvents, { endpoint: endpointName(named), events: 'round.credited' })
  await tell('payment.minted', 'round.credited', 'funds.low')
  assert.deepEqual(await statesOf(named), { 'round.credited': 'pending' })
  assert.equal(Object.keys(await statesOf(MAIL)).length, 3)
})

test('an unknown kind is refused, with the list of kinds', async () => {
  const [{ url }] = receivers()
  const wrong = ['payment.hold', 'all,payment.held', 'payment.held,', '__proto__', ',']
  for (const events of wrong) {
    const { because, message } = await ask(addWebhook, { url, secret: SECRET, events })
    assert.equal(because, 'invalid', events)
    assert.match(
      String(message),
      /^events must be all, or kinds of events separated by commas: payment\.held, .*\(there is no /,
    )
  }
  const mailed = await ask(addWebhook, { url: `${MAIL}&events=payment.hold` })
  assert.match(
    String(mailed.message),
    /^url must have, after events=, all, or kinds of events separated by commas: payment\.held/,
  )
  assert.match(String((await ask(chooseEvents, { endpoint: 'x#1' })).message), /^events is required: all, or/)
  assert.equal((await ask(chooseEvents, { endpoint: 'x#1', events: 'all' })).because, 'notFound')
  assert.deepEqual(await toldTo(), {})
})
