// Webhooks on the command line: what the admin routes answer, word for word, and what the doctor says of endpoints.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { registerEndpoints, settleDelivery, takeDeliveries } from '../../src/db/webhooks.ts'
import { endpointName } from '../../src/webhooks/worker.ts'
import { runHere, worldEnv } from '../support/cli.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { SECRET } from '../webhooks/receiver.ts'

// Never connected to: looked up by their own digits.
const PUBLIC = 'https://93.184.215.14/secret-path'
const PRIVATE = 'https://10.1.2.3/secret-path'
const ENDPOINT = endpointName(PUBLIC)

let desk: Desk
let env: Record<string, string>
before(async () => {
  desk = await startDesk()
  env = worldEnv(desk.world)
  await registerEndpoints(desk.world.pool, [ENDPOINT])
  for (const wei of [11n, 12n, 13n]) await desk.world.pay(6, wei)
  await desk.world.rest()
})
after(() => desk.close())

async function command(...argv: string[]) {
  const { code, out, err } = await runHere([...argv, '--json'], env)
  return { code, err, json: JSON.parse(out) }
}
async function examine(settings: NodeJS.ProcessEnv) {
  const { out, err } = await runHere(['doctor', '--json'], { ...env, WEBHOOK_SECRET: SECRET, ...settings })
  assert.ok(!(out + err).includes('secret-path'))
  const { findings } = JSON.parse(out) as {
    findings: { check: string; verdict: string; says: string; todo: string | null }[]
  }
  return findings.filter(({ check }) => check === 'webhooks')
}
/** One attempt that failed, at the oldest delivery that is due. */
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

test('redeliver and enable do what the routes do, under the name of who acts', async () => {
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

test('the doctor names an endpoint that has no address, a private one, and one that these settings leave out', async () => {
  const found = await examine({ WEBHOOK_URL: `https://hooks.invalid/secret-path,${PRIVATE}` })
  assert.deepEqual(
    found.map(({ verdict }) => verdict),
    ['fail', 'fail', 'warn'],
  )
  assert.match(found[0]?.says ?? '', /^hooks\.invalid#[0-9a-f]{8}: its host has no address/)
  assert.match(found[0]?.todo ?? '', /WEBHOOK_URL/)
  assert.match(found[1]?.says ?? '', /^10\.1\.2\.3#[0-9a-f]{8} is at a private address/)
  assert.match(found[1]?.todo ?? '', /WEBHOOK_ALLOW_PRIVATE=true/)
  assert.match(found[2]?.says ?? '', /93\.184\.215\.14.* not named by these settings/)
  const allowed = await examine({ WEBHOOK_URL: `${PUBLIC},${PRIVATE}`, WEBHOOK_ALLOW_PRIVATE: 'true' })
  assert.match(allowed[1]?.says ?? '', /is told nothing yet: the service was last started without it/)
  assert.equal(allowed[1]?.verdict, 'warn')
})

test('the doctor says how deliveries do: well, failing, given up on', async () => {
  const one = async () => {
    const found = await examine({ WEBHOOK_URL: PUBLIC })
    assert.equal(found.length, 1)
    return [found[0]?.verdict, found[0]?.says, found[0]?.todo ?? ''] as const
  }
  assert.equal((await one())[0], 'ok')
  await failOnce()
  const [failing, says] = await one()
  assert.equal(failing, 'warn')
  assert.match(says ?? '', /has failed since .*: answered 500; \d+ wait/)
  await failOnce(true)
  const [verdict, saying, todo] = await one()
  assert.equal(verdict, 'fail')
  assert.match(saying ?? '', /was given up on at .*: answered 410; \d+ wait/)
  assert.match(todo, new RegExp(`webhooks enable ${ENDPOINT}`))
  const { out } = await runHere(['doctor', '--json'], env)
  assert.match(out, /not named by these settings/)
})
