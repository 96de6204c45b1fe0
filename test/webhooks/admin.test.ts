// The operator's view of webhooks and acts on them, over HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { addEndpoint, endpointName } from '../../src/db/webhooks.ts'
import { silentLog } from '../../src/lib/log.ts'
import { startWebhooks } from '../../src/webhooks/worker.ts'
import { type Desk, startDesk } from '../support/operator.ts'
import { until } from '../support/until.ts'
import { ETHER } from '../support/world.ts'
import { type Receiver, SECRET, startReceiver } from './receiver.ts'

let desk: Desk
let receiver: Receiver
before(async () => {
  ;[desk, receiver] = await Promise.all([startDesk(), startReceiver()])
  await addEndpoint(desk.world.pool, { url: receiver.url, secrets: [SECRET] }, 'test')
})
after(async () => {
  await desk.close()
  await receiver.close()
})

test('the delivery log shows what was sent with its outcome, by pages, and repeats a delivery', async () => {
  const { world } = desk
  // No tier's price, and no dust, so it is held.
  const odd = [1n, 2n, 3n].map((wei) => ETHER / 10_000n + wei)
  for (const wei of odd) await world.pay(6, wei)
  await world.rest()
  const worker = startWebhooks({
    pool: world.pool,
    allowPrivate: true,
    publicUrl: 'https://nodes.example',
    log: silentLog,
  })
  const delivered = async () =>
    (await desk.get('webhooks/deliveries?state=delivered&type=payment.held')).json.deliveries
  await until('all three are delivered', async () => (await delivered()).length === 3)

  const [endpoint] = (await desk.get('webhooks')).json.endpoints
  assert.deepEqual(
    [endpoint.endpoint, endpoint.active, endpoint.pending, endpoint.lastError],
    [endpointName(receiver.url), true, 0, null],
  )
  const first = (await desk.get('webhooks/deliveries?limit=2&type=payment.held')).json
  const second = (await desk.get(`webhooks/deliveries?limit=2&type=payment.held&cursor=${first.nextCursor}`)).json
  const shown: { id: number; event: { data: { valueWei: string } } }[] = [...first.deliveries, ...second.deliveries]
  // Payments of one block that match no price are held together, in no order.
  const values = shown.map(({ event }) => event.data.valueWei).toSorted()
  assert.deepEqual([values, second.nextCursor], [odd.map(String), null])
  const ids = shown.map(({ id }) => id)
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => b - a),
  )
  assert.equal(first.deliveries[0].log[0].status, 204)

  const { id } = first.deliveries[0]
  const again = await desk.post(`webhooks/deliveries/${id}/redeliver`)
  assert.deepEqual([again.status, again.json.state], [200, 'pending'])
  await until('it came again', () => receiver.received.length === 4)
  await worker.stop()
  const audit = (await desk.get('audit?action=webhookRedelivered')).json.entries
  assert.deepEqual([audit.length, audit[0].actor], [1, 'ada'])
})

test('a missing endpoint is 404, a wrong request is 400, and without a key there is nothing', async () => {
  assert.equal((await desk.post('webhooks/deliveries/999999/redeliver')).status, 404)
  assert.equal((await desk.post('webhooks/deliveries/x/redeliver')).status, 400)
  assert.equal((await desk.get('webhooks/deliveries?state=lost')).status, 400)
  assert.equal((await desk.post('webhooks/enable', { endpoint: 'nowhere#1' })).status, 404)
  assert.equal((await desk.post('webhooks/enable', {})).status, 400)
  assert.equal((await desk.service.get('/api/admin/webhooks')).status, 401)
})
