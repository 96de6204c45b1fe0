// GET /api/events: present states first, then each difference, on a real PostgreSQL with its notifications; its limits,
// its end, and callers who do not read.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { after, afterEach, before, describe, it } from 'node:test'
import { notifyLedgerChanged } from '../../../src/db/core/state.ts'
import { EventStream, watchedState } from '../../../src/http/events/stream.ts'
import { Watches } from '../../../src/http/events/watches.ts'
import { silentLog } from '../../../src/lib/log.ts'
import { type Service, startService } from '../../support/http.ts'
import { hashOf, insertCohort, insertPayment, insertSmallLedger, walletOf } from '../../support/http-ledger.ts'
import { until } from '../../support/until.ts'

const PRICE_WEI = '10000000000000000'

interface Stream {
  status: number
  headers: IncomingMessage['headers']
  text(): string
  /** The events so far: name, data and id. */
  events(): { event: string; data: { txHash?: string; status?: string; nodes?: string[] }; id: string | null }[]
  ended(): boolean
  close(): void
}

let open: ClientRequest[] = []
async function stream(
  { port }: Service,
  query: string,
  { from = '127.0.0.1', ...headers }: Record<string, string> = {},
): Promise<Stream> {
  const asked = request({
    host: '127.0.0.1',
    port,
    path: `/api/events?${query}`,
    localAddress: from,
    headers,
    agent: false,
  })
  open.push(asked)
  asked.on('error', () => {})
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  let text = ''
  let ended = false
  response.on('error', () => {})
  response.setEncoding('utf8').on('data', (more: string) => {
    text += more
  })
  response.on('end', () => {
    ended = true
  })
  const events = () =>
    text.split('\n\n').flatMap((block) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1]
      const event = field('event')
      return event ? [{ event, data: JSON.parse(field('data') ?? ''), id: field('id') ?? null }] : []
    })
  const { statusCode = 0 } = response
  return {
    status: statusCode,
    headers: response.headers,
    text: () => text,
    events,
    ended: () => ended,
    close: () => asked.destroy(),
  }
}
const count = (stream: Stream, events: number) =>
  until(`${events} events`, async () => stream.events().length >= events)
const pay = ({ sql }: Service, name: string, from: `0x${string}`, state = 'seen') =>
  insertPayment(sql, { txHash: hashOf(name), from, valueWei: PRICE_WEI, state })
const move = async ({ sql }: Service, name: string, state: string) => {
  await sql`UPDATE payments SET state = ${state}, reason = ${state === 'held' ? 'holding' : null} WHERE tx_hash = ${hashOf(name)}`
  await notifyLedgerChanged(sql)
}

function metersOf(streams: (open: number) => void, dropped: (why: string) => void = () => {}) {
  return { request() {}, memo() {}, dropped, streams }
}

describe('events', () => {
  let service: Service
  let opened = 0
  before(async () => {
    const streams = { heartbeatMs: 50, perClient: 3, total: 5 }
    service = await startService({
      listen: true,
      streams,
      meters: metersOf((count) => {
        opened = count
      }),
    })
    await insertSmallLedger(service.sql)
  })
  afterEach(async () => {
    for (const asked of open) asked.destroy()
    open = []
    await until('all to be forgotten', async () => opened === 0)
    service.clock.now += 60_000
  })
  after(() => service.close())

  it('begin with the present states, equal to the other reads, and mark the end of these', async () => {
    const { json: payment } = await service.get(`/api/payment/${hashOf('pay 1')}`)
    const { json: nodes } = await service.get(`/api/nodes/${walletOf(1)}`)
    const ofPayment = await stream(service, `payment=${hashOf('pay 1')}`)
    await count(ofPayment, 3)
    const { headers } = ofPayment
    assert.deepEqual(
      [ofPayment.status, headers['content-type'], headers['cache-control'], headers['x-accel-buffering']],
      [200, 'text/event-stream', 'no-store', 'no'],
    )
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.deepEqual(
      ofPayment.events().map(({ event, data }) => [event, data]),
      [
        ['payment', payment],
        ['node', nodes.find(({ nodeId }: { nodeId: string }) => nodeId === payment.nodeId)],
        ['current', { payments: [hashOf('pay 1')], nodes: [payment.nodeId] }],
      ],
    )
    const ofWallet = await stream(service, `address=${walletOf(1)}`)
    await until('all', async () => ofWallet.events().some(({ event }) => event === 'current'))
    const told = ofWallet.events()
    assert.deepEqual(
      told.filter(({ event }) => event === 'node').map(({ data }) => data),
      nodes,
    )
    // Only an answer about one transaction has verdicts.
    const { verdict, payments, ...shown } = payment
    assert.equal(verdict, null)
    assert.deepEqual(told.find(({ data }) => data.txHash === hashOf('pay 1'))?.data, {
      ...shown,
      payments: payments.map(({ verdict: _, ...each }: { verdict: null }) => each),
    })
  })

  it('show each state as the ledger has it, and nothing else', async () => {
    const buyer = walletOf(70)
    const watched = await stream(service, `payment=${hashOf('told')}`)
    await count(watched, 1)
    await pay(service, 'told', buyer)
    await notifyLedgerChanged(service.sql)
    await count(watched, 3)
    await pay(service, 'another', walletOf(71))
    await notifyLedgerChanged(service.sql)
    await move(service, 'told', 'held')
    await count(watched, 5)
    assert.deepEqual(
      watched.events().map(({ event, data }) => data.status ?? event),
      ['current', 'seen', 'current', 'held', 'current'],
    )
    await pay(service, 'told too', buyer)
    const wallet = await stream(service, `address=${buyer}`)
    await count(wallet, 3)
    await move(service, 'told too', 'held')
    await count(wallet, 5)
    assert.deepEqual(
      wallet
        .events()
        .slice(3)
        .map(({ event, data }) => data.txHash ?? event),
      [hashOf('told too'), 'current'],
    )
  })

  it('resume after a caller’s last event: they skip old states and include later changes', async () => {
    const query = `address=${walletOf(72)}`
    await pay(service, 'resumed', walletOf(72))
    const first = await stream(service, query)
    await count(first, 2)
    const known = first.events().at(-1)?.id ?? assert.fail()
    first.close()
    const same = await stream(service, query, { 'last-event-id': known })
    await until('it lives', async () => same.text().includes('\n:\n'))
    assert.deepEqual(same.events(), [])
    same.close()
    await move(service, 'resumed', 'held')
    const later = await stream(service, query, { 'last-event-id': known })
    await count(later, 2)
    assert.deepEqual(
      later.events().map(({ data }) => data.status ?? null),
      ['held', null],
    )
    assert.notEqual(later.events().at(-1)?.id, known)
  })

  it('are refused without a subject, and HEAD does not open them', async () => {
    const queries = ['', '?address=0x12', '?payment=0x12', `?address=${walletOf(1)}&payment=${hashOf('a')}`]
    for (const query of queries) assert.equal((await service.get(`/api/events${query}`)).status, 400, query)
    const asked = request({
      host: '127.0.0.1',
      port: service.port,
      method: 'HEAD',
      path: `/api/events?address=${walletOf(1)}`,
    })
    asked.end()
    const [head] = (await once(asked, 'response')) as [IncomingMessage]
    assert.equal(head.statusCode, 200)
    head.resume()
    await once(head, 'end')
  })

  it('are bounded for each address and in all, and make room as they end', async () => {
    const query = `address=${walletOf(1)}`
    const mine = [await stream(service, query), await stream(service, query), await stream(service, query)]
    const refused = await stream(service, query)
    assert.deepEqual([refused.status, refused.headers['retry-after']], [429, '30'])
    for (const from of ['127.0.0.2', '127.0.0.3']) assert.equal((await stream(service, query, { from })).status, 200)
    const full = await stream(service, query, { from: '127.0.0.4' })
    assert.deepEqual([full.status, full.headers['retry-after']], [503, '30'])
    mine[0]?.close()
    await until('room', async () => opened === 4)
    assert.equal((await stream(service, query)).status, 200)
  })

  it('end after an hour', async () => {
    const one = await stream(service, `address=${walletOf(1)}`)
    await count(one, 1)
    service.clock.now += 3_599_000
    const { length } = one.text()
    await until('a heartbeat', async () => one.text().length > length + 6)
    assert.equal(one.ended(), false)
    service.clock.now += 2_000
    await until('the end', async () => one.ended())
    assert.deepEqual(one.events().at(-1), { event: 'end', data: {}, id: null })
  })
})

describe('those who watch', () => {
  const client = '203.0.113.9'
  const limits = { total: 10, perClient: 10, heartbeatMs: 60_000, ageMsMax: 60_000 }

  it('may open one stream for each that ended, and no more', async () => {
    const watches = new Watches({
      limits: { ...limits, perClient: 3 },
      changes: null,
      monotonicClock: () => 0,
      log: silentLog,
    })
    const read = async () => ({ payments: [], nodes: [] })
    const opened = async () => {
      const stream = await watches.open(client, { key: 'one', read }, null)
      return stream instanceof EventStream ? stream : null
    }
    const streams: (EventStream | null)[] = [await opened(), await opened(), await opened()]
    assert.equal(streams.includes(null), false)
    assert.equal(await opened(), null)
    const ended = streams.pop()
    ended?.destroy()
    await once(ended as EventStream, 'close')
    streams.push(await opened())
    assert.deepEqual([streams[2] !== null, await opened()], [true, null])
    for (const stream of streams) stream?.destroy()
    watches.close()
  })

  it('the same share each read, and one that fails is made again', async () => {
    let changed = () => {}
    let [reads, fails] = [0, false]
    const read = async () => {
      reads++
      if (fails) throw new Error('no database')
      return { payments: [{ txHash: hashOf('shared'), version: reads }], nodes: [] }
    }
    const changes = {
      live: () => true,
      subscribe: (listener: () => void) => {
        changed = listener
      },
      close: async () => {},
    }
    const watches = new Watches({ limits, changes, monotonicClock: () => 0, log: silentLog })
    const opened = () => watches.open(client, { key: 'one', read }, null)
    const streams = await Promise.all([opened(), opened(), opened()])
    const seen = streams.map((each) => {
      assert.ok(each instanceof EventStream)
      const versions: unknown[] = []
      each.setEncoding('utf8').on('data', (text: string) => versions.push(...(text.match(/"version":\d+/g) ?? [])))
      return versions
    })
    assert.equal(reads, 1)
    fails = true
    for (let i = 0; i < 5; i++) changed()
    await until('the failed read', async () => reads === 2)
    fails = false
    await until('all to know', async () => seen.every((versions) => versions.length === 2))
    assert.equal(reads, 3)
    assert.deepEqual(seen[0], ['"version":1', '"version":3'])
    watches.close()
  })

  it('and read slowly have nothing queued up: they are sent the present, not what lay between', async () => {
    const events = new EventStream(null)
    const offer = (status: string) =>
      events.offer(watchedState({ payments: [{ txHash: '0x1', status } as never], nodes: [] }))
    for (const status of ['seen', 'accepted', 'minting']) offer(status)
    events.read()
    for (let i = 0; i < 1_000; i++) offer(`state ${i}`)
    const taken = [events.read(), events.read()].map(String)
    assert.deepEqual(
      taken.map((text) => /"status":"([^"]+)"/.exec(text)?.[1]),
      ['minting', 'state 999'],
    )
  })

  it('get accepted once per payment, whatever backs it meanwhile, and each other state', () => {
    const events = new EventStream(null)
    const told: string[] = []
    const offer = (status: string, assurance: string) => {
      const payment = { txHash: '0x1', status, assurance, updatedAt: assurance }
      events.offer(watchedState({ payments: [{ ...payment, payments: [payment] } as never], nodes: [] }))
      const text = String(events.read() ?? '')
      told.push(/"status":"([^"]+)","assurance":"([^"]+)/.exec(text)?.slice(1).join(' ') ?? text)
    }
    events.read()
    for (const status of ['seen', 'accepted', 'minting']) for (const by of ['linked', 'proven']) offer(status, by)
    assert.deepEqual(told, [
      ...['seen linked', 'seen proven', 'accepted linked', '', 'minting linked', 'minting proven'],
    ])
  })

  it('and end with a notice when the service stops, after their events', async () => {
    const watches = new Watches({ limits, changes: null, monotonicClock: () => 0, log: silentLog })
    const read = async () => ({ payments: [{ txHash: hashOf('stopped') }], nodes: [] })
    const stream = await watches.open(client, { key: 'one', read }, null)
    assert.ok(stream instanceof EventStream)
    let text = ''
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
    await until('the state', async () => text.includes('current'))
    watches.close()
    await once(stream, 'end')
    assert.deepEqual(text.match(/event: \w+/g), ['event: payment', 'event: current', 'event: end'])
  })

  it('and do not read at all are cut off, counted as stalled', async () => {
    const dropped: string[] = []
    let open = 0
    const meters = metersOf(
      (count) => {
        open = count
      },
      (why) => void dropped.push(why),
    )
    const service = await startService({
      listen: true,
      connections: { stallMs: 300 },
      streams: { heartbeatMs: 20 },
      meters,
    })
    try {
      const owner = walletOf(90)
      await service.sql.begin(async (sql) => {
        await sql`SET LOCAL session_replication_role = replica`
        await insertCohort(service.sql, { cohort: 1, tierNo: 1, nextDue: 1 })
        await sql`
          INSERT INTO nodes (node_id, owner, cohort, ref, per_node_at_mint_wei, turns_at_mint, mint_tx_hash, minted_at, block_number, block_hash)
          SELECT n, ${owner}, 1, h, 0, 0, h, now(), 5, ${hashOf('block 5')}
          FROM (SELECT n, '0x' || lpad(to_hex(n), 64, '0') AS h FROM generate_series(1, 5000) n) made`
      })
      const socket = connect({ port: service.port, host: '127.0.0.1' })
      socket.on('error', () => {})
      socket.pause()
      socket.write(`GET /api/events?address=${owner} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await until('it is open', async () => open === 1)
      await until(
        'the caller is cut off',
        async () => {
          await service.sql`UPDATE cohorts SET per_node_wei = per_node_wei + 1`
          await notifyLedgerChanged(service.sql)
          return dropped.length > 0
        },
        60_000,
      )
      assert.deepEqual(dropped, ['stalled'])
      await until('it is forgotten', async () => open === 0)
    } finally {
      await service.close()
    }
  })

  it('are sent away at shutdown, which waits for none of them', async () => {
    const service = await startService({ listen: true })
    const one = await stream(service, `address=${walletOf(1)}`)
    await count(one, 1)
    const began = performance.now()
    await service.close()
    assert.ok(performance.now() - began < 5_000)
    await until('the end', async () => one.ended())
  })
})
