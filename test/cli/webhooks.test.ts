// Webhooks on the command line: the admin routes' answers, word for word, and the doctor's findings about endpoints.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addEndpoint, endpointName, settleDelivery, takeDeliveries } from '../../src/db/webhooks.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { ETHER } from '../support/world.ts'
import { SECRET } from '../webhooks/receiver.ts'

// Never connected to, because it is an address literal.
const PUBLIC = 'https://93.184.215.14/secret-path'
const PRIVATE = 'https://10.1.2.3/secret-path'
const ENDPOINT = endpointName(PUBLIC)

let desk: Desk
let env: Record<string, string>
before(async () => {
  desk = await startDesk()
  env = worldEnv(desk.world)
  await addEndpoint(desk.world.pool, { url: PUBLIC, secrets: [SECRET] }, 'test')
  for (const wei of [1n, 2n, 3n]) await desk.world.pay(6, ETHER / 10_000n + wei)
  await desk.world.rest()
})
after(() => desk.close())

async function command(...argv: string[]) {
  const { code, out, err } = await runHere([...argv, '--json'], env)
  return { code, err, json: JSON.parse(out) }
}
async function examine(settings: NodeJS.ProcessEnv) {
  const { out, err } = await runHere(['doctor', '--json'], {
    ...env,
    ...('WEBHOOK_URL' in settings && { WEBHOOK_SECRET: SECRET }),
    ...settings,
  })
  assert.ok(!(out + err).includes('secret-path'))
  const { findings } = JSON.parse(out) as {
    findings: { check: string; verdict: string; says: string; todo: string | null }[]
  }
  return findings.filter(({ check }) => check === 'webhooks')
}
/** One failed attempt at the oldest due delivery. */
async function failOnce(gone = false): Promise<void> {
  const [taken] = await takeDeliveries(desk.world.pool, ENDPOINT, 1)
  const result = {
    status: gone ? 410 : 500,
    error: gone ? 'answered 410' : 'answered 500',
    durationMs: 1,
    retrySec: 5,
    gone,
  }
  await settleDelivery(desk.world.pool, ENDPOINT, taken ?? assert.fail('nothing is due'), result)
}

test('list and deliveries answer what the routes answer, page by page', async () => {
  assert.deepEqual((await command('webhooks', 'list')).json, (await desk.get('webhooks')).json)
  const first = await command('webhooks', 'deliveries', '--type', 'payment.held', '--limit', '2')
  assert.deepEqual(first.json, (await desk.get('webhooks/deliveries?type=payment.held&limit=2')).json)
  assert.equal(first.json.deliveries.length, 2)
  const next = await command('webhooks', 'deliveries', '--type', 'payment.held', '--cursor', first.json.nextCursor)
  assert.deepEqual([next.json.deliveries.length, next.json.nextCursor], [1, null])
  assert.equal((await command('webhooks', 'deliveries', '--state', 'lost')).code, 2)
  const shown = await runHere(['webhooks', 'deliveries'], env)
  assert.match(shown.out, /payment\.held +93\.184\.215\.14#[0-9a-f]{8} +pending/)
})

test('redeliver and enable do what the routes do, under the actor’s name', async () => {
  const [{ id }] = (await command('webhooks', 'deliveries')).json.deliveries
  assert.deepEqual((await command('webhooks', 'redeliver', String(id))).json.state, 'pending')
  assert.equal((await command('webhooks', 'redeliver', '999999')).code, 1)
  assert.equal((await command('webhooks', 'redeliver', 'x')).code, 2)
  await failOnce(true)
  assert.equal((await command('webhooks', 'enable', ENDPOINT)).code, 0)
  assert.equal((await command('webhooks', 'enable', 'nowhere#1')).code, 1)
  const actions = ['webhookRedelivered', 'webhookEnabled']
  for (const action of actions) {
    const [entry] = (await desk.get(`audit?action=${action}`)).json.entries
    assert.match(entry.actor, /^cli:/)
  }
})

test('add and remove read URL and secret from the settings alone, and show neither', async () => {
  const NEW = 'https://93.184.215.15/secret-path'
  const settings = { ...env, WEBHOOK_URL: NEW, WEBHOOK_SECRET: SECRET }
  assert.equal((await runHere(['webhooks', 'add'], env)).code, 2)
  const added = await runHere(['webhooks', 'add', '--json'], settings)
  assert.deepEqual(JSON.parse(added.out), { endpoints: [{ endpoint: endpointName(NEW), added: true }] })
  const again = await runHere(['webhooks', 'add', '--json'], settings)
  assert.deepEqual(JSON.parse(again.out), { endpoints: [{ endpoint: endpointName(NEW), added: false }] })
  const chosen = { ...settings, WEBHOOK_EVENTS: 'payment.held' }
  assert.equal((await runHere(['webhooks', 'add'], chosen)).code, 0)
  assert.match((await runHere(['webhooks', 'list'], env)).out, /93\.184\.215\.15#\w+ +true +payment\.held/)
  const all = await runHere(['webhooks', 'events', endpointName(NEW), 'all'], env)
  assert.deepEqual([all.code, all.out.split('\n')[0]], [0, 'From now on it gets: all.'])
  const wrong = await runHere(['webhooks', 'events', endpointName(NEW), 'payment.hold'], env)
  assert.deepEqual([wrong.code, /payment\.held, payment\.minted.*no payment\.hold/.test(wrong.err)], [2, true])
  assert.equal((await command('webhooks', 'remove', endpointName(NEW))).code, 0)
  assert.equal((await command('webhooks', 'remove', endpointName(NEW))).code, 1)
  const { entries } = (await desk.get('audit')).json
  const shown = JSON.stringify([entries, (await desk.get('webhooks')).json, added, again])
  for (const secret of ['secret-path', SECRET.slice(6)]) assert.ok(!shown.includes(secret))
  assert.deepEqual(
    entries.slice(0, 5).map(({ action }: { action: string }) => action),
    ['webhookRemoved', 'webhookEventsChosen', 'webhookSecretsChanged', 'webhookSecretsChanged', 'webhookAdded'],
  )
})

test('the doctor reports an endpoint without an address, and a private one', async () => {
  const { pool } = desk.world
  const others = ['https://hooks.invalid/secret-path', PRIVATE]
  for (const url of others) await addEndpoint(pool, { url, secrets: [SECRET] }, 'test')
  const found = await examine({ WEBHOOK_URL: 'https://93.184.215.16/secret-path' })
  assert.deepEqual(found.map(({ verdict }) => verdict).sort(), ['fail', 'fail', 'ok'])
  const saying = (words: RegExp) => found.find(({ says }) => words.test(says)) ?? assert.fail(String(words))
  assert.match(saying(/^hooks\.invalid#[0-9a-f]{8}: its host does not resolve/).todo ?? '', /webhooks remove/)
  assert.match(saying(/^10\.1\.2\.3#[0-9a-f]{8} is at a private address/).todo ?? '', /WEBHOOK_ALLOW_PRIVATE=true/)
  for (const url of others) await pool`DELETE FROM webhook_endpoints WHERE endpoint = ${endpointName(url)}`
})

test('the doctor reports deliveries: well, failing, given up', async () => {
  const one = async () => {
    const found = (await examine({})).filter(({ says }) => says.startsWith('93.184.215.14#'))
    assert.equal(found.length, 1)
    return [found[0]?.verdict, found[0]?.says, found[0]?.todo ?? ''] as const
  }
  assert.equal((await one())[0], 'ok')
  await failOnce()
  const [failing, says] = await one()
  assert.equal(failing, 'warn')
  assert.match(says ?? '', /has failed since .*: answered 500; events waiting: \d+/)
  await failOnce(true)
  const [verdict, saying, todo] = await one()
  assert.equal(verdict, 'fail')
  assert.match(saying ?? '', /was disabled at .*: answered 410; events waiting: \d+/)
  assert.match(todo, new RegExp(`webhooks enable ${ENDPOINT}`))
})
