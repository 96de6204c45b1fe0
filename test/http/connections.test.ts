// Limits of connections, on real sockets: their number, in total and per address; which one closes for a new one; answers that
// are not read; requests before the last answer was read. Counts only, because speed is a bench's question.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ConnectionLimits, connectionLimits, parseOpenFiles } from '../../src/http/edge/connections.ts'
import { CRON_KEY, type Overrides, type Service, startService } from '../support/http.ts'
import { exchange } from '../support/http-raw.ts'
import { until } from '../support/until.ts'

const HEALTHZ = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
/** The largest file there is. */
const LARGE = 'GET /withdraw.html HTTP/1.1\r\nHost: x\r\n\r\n'
const LARGE_BYTES_MIN = 195_000
/** More than the system accepts at once, and fewer requests than may wait on a connection. */
const MANY = 50
/** Thirty times as long as clients that never read keep their connections on a quiet machine, and less than Node itself allows. */
const UNREAD_MS = 60_000

let service: Service | null = null
let sockets: Client[] = []

interface Client {
  socket: Socket
  /** Everything that came. */
  received(): Buffer
  closed(): boolean
}

async function start(connections: Partial<ConnectionLimits>, overrides: Overrides = {}): Promise<Service> {
  service = await startService({ connections, ...overrides })
  return service
}

afterEach(async () => {
  for (const { socket } of sockets) socket.destroy()
  sockets = []
  await service?.close()
  service = null
})

/** A connection from 127.0.0.x, which reads by default. */
async function open({ from = '127.0.0.1', reads = true } = {}): Promise<Client> {
  const socket = connect({ port: service?.port ?? 0, host: '127.0.0.1', localAddress: from })
  const chunks: Buffer[] = []
  let closed = false
  socket.on('error', () => {})
  socket.on('close', () => {
    closed = true
  })
  if (reads) socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  await once(socket, 'connect')
  const client = { socket, received: () => Buffer.concat(chunks), closed: () => closed }
  sockets.push(client)
  return client
}

const openMany = async (count: number, from?: string) => {
  for (let i = 0; i < count; i++) await open(from === undefined ? {} : { from })
}

/** Connections that the server has. */
const counted = () => new Promise<number>((resolve) => service?.app.server.getConnections((_, count) => resolve(count)))
const stillOpen = () => sockets.filter(({ closed }) => !closed()).length

/** Sends a request and waits for its answer. */
async function answered(client: Client, request = HEALTHZ): Promise<boolean> {
  const before = client.received().length
  client.socket.write(request)
  await until('an answer, or the end', async () => client.closed() || client.received().length > before)
  return /^HTTP\/1\.1 200/.test(client.received().subarray(before).toString('latin1'))
}

describe('connections', () => {
  it('are capped in all: the oldest idle one goes for a new one, which is served', async () => {
    await start({ total: 10, perAddress: 100 })
    await openMany(10)
    await until('all to be accepted', async () => (await counted()) === 10)
    const [first, second] = sockets
    assert.ok(first && second)
    // The first was used last.
    assert.ok(await answered(first))
    const late = await open()
    assert.ok(await answered(late))
    await until('one to have gone', async () => stillOpen() === 10)
    assert.deepEqual([first.closed(), second.closed()], [false, true])
    await openMany(50)
    await until('the others to have gone', async () => stillOpen() === 10 && (await counted()) === 10)
  })

  it('are capped for each address, and those of another address stay as they are', async () => {
    await start({ total: 100, perAddress: 5 })
    await openMany(3, '127.0.0.2')
    await openMany(40, '127.0.0.3')
    await until('the cap to hold', async () => stillOpen() === 8 && (await counted()) === 8)
    assert.equal(sockets.slice(0, 3).filter(({ closed }) => closed()).length, 0)
    const own = await open({ from: '127.0.0.3' })
    assert.ok(await answered(own), 'its newest connection is served')
  })

  it('of a trusted proxy have no cap of their own', async () => {
    await start({ total: 100, perAddress: 5 }, { settings: { trustedProxies: ['127.0.0.9'] } })
    await openMany(40, '127.0.0.9')
    await openMany(40, '127.0.0.8')
    await until('the cap to hold', async () => stillOpen() === 45 && (await counted()) === 45)
    assert.equal(sockets.slice(0, 40).filter(({ closed }) => closed()).length, 0)
  })

  it('with a request under way are never dropped for a new one, which is refused instead', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const dropped: string[] = []
    const meters = { request() {}, memo() {}, streams() {}, dropped: (why: string) => void dropped.push(why) }
    const asked: unknown[] = []
    const run = async (): Promise<never> => {
      asked.push(null)
      await held
      throw new Error('over')
    }
    await start({ total: 4, perAddress: 100 }, { passes: { payments: run, credit: run, claim: run }, meters })
    await openMany(4)
    for (const { socket } of sockets)
      socket.write(`GET /api/cron/credit HTTP/1.1\r\nHost: x\r\nx-cron-key: ${CRON_KEY}\r\n\r\n`)
    await until('all requests to be under way', async () => asked.length === 4)
    const late = await open()
    await until('the new one to be refused', async () => late.closed())
    assert.deepEqual(dropped, ['refused'])
    release()
    await until('all answers', async () => sockets.slice(0, 4).every(({ received }) => received().length > 0))
    assert.equal(sockets.slice(0, 4).filter(({ closed }) => closed()).length, 0)
    assert.ok(await answered(await open()), 'room again')
  })

  it('without a request are closed without an answer', async () => {
    await start({})
    await openMany(20)
    await until('all to be gone', async () => stillOpen() === 0 && (await counted()) === 0)
    assert.equal(sockets.filter(({ received }) => received().length > 0).length, 0)
  })

  it('give their place back when they end, however they do', async () => {
    await start({ total: 6, perAddress: 6 })
    for (let turn = 0; turn < 5; turn++) {
      await openMany(6)
      for (const { socket } of sockets.splice(0)) turn % 2 ? socket.destroy() : socket.resetAndDestroy()
      await until('all to be gone', async () => (await counted()) === 0)
    }
    await openMany(6)
    assert.equal((await Promise.all(sockets.map((client) => answered(client)))).filter(Boolean).length, 6)
  })
})

describe('answers', () => {
  it('that are never read are given up with their connection', async () => {
    const dropped: string[] = []
    const meters = { request() {}, memo() {}, streams() {}, dropped: (why: string) => void dropped.push(why) }
    await start({ stallMs: 200 }, { meters })
    for (let i = 0; i < 20; i++) {
      const { socket } = await open({ reads: false, from: `127.0.0.${i + 10}` })
      socket.pause()
      socket.write(LARGE.repeat(MANY))
    }
    await until('no connection to be left', async () => (await counted()) === 0, UNREAD_MS)
    // Node itself hangs up on such a client, too, but only after five minutes.
    assert.deepEqual(dropped, Array(20).fill('stalled'))
  })

  it('that take long to be made are waited for', async () => {
    await start({ stallMs: 50 }, { chainIdMatches: () => sleep(600, true) })
    const client = await open()
    assert.ok(await answered(client, 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n'))
  })

  it('that are read, if slowly, arrive whole', async () => {
    await start({ stallMs: 1_000 })
    const client = await open({ reads: false })
    let bytes = 0
    client.socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      client.socket.pause()
      setTimeout(() => client.socket.resume(), 5)
    })
    client.socket.write(LARGE)
    await until('the whole answer', async () => bytes > LARGE_BYTES_MIN || client.closed())
    assert.equal(client.closed(), false)
  })

  it('are in flight one at a time on a connection', async () => {
    const sent: string[] = []
    const log = {
      request: ({ route }: { route: string | null }) => void sent.push(route ?? ''),
      memo() {},
      streams() {},
      dropped() {},
    }
    const { app } = await start({ stallMs: 60_000 }, { meters: log })
    const held = new Set<Socket>()
    app.server.on('request', ({ socket }) => held.add(socket))
    for (let i = 0; i < 10; i++) {
      const { socket } = await open({ reads: false, from: `127.0.0.${i + 10}` })
      socket.pause()
      socket.write(LARGE.repeat(MANY))
    }
    const pending = () => [...held].map((socket) => socket.writableLength)
    await until('every connection to be full', async () => held.size === 10 && pending().every((bytes) => bytes > 0))
    // Only one answer's, because all connections share its bytes.
    const largest = Math.max(...pending())
    assert.ok(largest < 2 * LARGE_BYTES_MIN, `${largest} bytes wait on one connection`)
    // The system buffers at most 4 MB per connection, so at most half of the answers were begun.
    assert.ok(sent.length <= (10 * MANY) / 2, `${sent.length} answers were sent to clients who read nothing`)
  })

  it('come in the order of their requests, and an unreadable request is refused after them', async () => {
    const { port } = await start({})
    const requests = `${HEALTHZ}GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n${HEALTHZ}nonsense\r\n\r\n`
    const { answers, closed } = await exchange(port, [requests], { closes: true })
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.slice(0, 14)]),
      [
        [200, '{"status":"ok"'],
        [200, '{"status":"rea'],
        [200, '{"status":"ok"'],
        [400, '{"error":"The '],
      ],
    )
    assert.equal(closed, true)
    const kept = await exchange(port, [`${HEALTHZ.repeat(20)}nonsense\r\n\r\n`], { closes: true })
    assert.deepEqual(
      kept.answers.map(({ status }) => status),
      [...Array(20).fill(200), 400],
    )
  })

  it('are not piled up for a client that sends requests without end', async () => {
    const dropped: string[] = []
    const meters = { request() {}, memo() {}, streams() {}, dropped: (why: string) => void dropped.push(why) }
    await start({ stallMs: 60_000 }, { meters })
    const client = await open({ reads: false })
    client.socket.pause()
    // More than the server ever accepts: if it accepted all, this loop would have to end.
    let bundles = 100
    const pump = () => {
      while (bundles > 0 && !client.socket.destroyed && client.socket.write(LARGE.repeat(100))) bundles--
    }
    client.socket.on('drain', pump)
    pump()
    await until('it to be cut off', async () => (await counted()) === 0)
    assert.deepEqual(dropped, ['flooding'])
  })
})

describe('the limits', () => {
  it('follow the process’s open files, with a reserve for database, provider and webhooks', () => {
    const totals = [64, 1_024, 4_096, 20_480, 1_048_576, Number.POSITIVE_INFINITY].map(
      (files) => connectionLimits(files).total,
    )
    assert.deepEqual(totals, [32, 768, 3_840, 10_000, 10_000, 10_000])
    const perAddress = [64, 1_024, 4_096].map((files) => connectionLimits(files).perAddress)
    assert.deepEqual(perAddress, [8, 192, 512])
  })

  it('come from the system’s figures', () => {
    const line = 'Limit                     Soft Limit           Hard Limit           Units\nMax open files            '
    assert.equal(parseOpenFiles(`${line}20480                65536                files\n`), 20_480)
    assert.equal(parseOpenFiles(`${line}unlimited            unlimited            files\n`), Number.POSITIVE_INFINITY)
    assert.equal(parseOpenFiles('nothing of the kind'), 1_024)
  })
})
