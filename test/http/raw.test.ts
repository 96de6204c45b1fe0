// Requests that no HTTP client would send, byte by byte: malformed, smuggled, endless, slow. The server answers each in
// the envelope or cuts it off, in time, in bounded memory, and never at another caller's cost.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { type Service, startService } from '../support/http.ts'
import { assertEnvelope } from '../support/http-contract.ts'
import { hashOf, insertSmallLedger } from '../support/http-ledger.ts'
import { type Exchange, exchange } from '../support/http-raw.ts'
import { until } from '../support/until.ts'

const STATS = 'GET /api/stats HTTP/1.1\r\nHost: x\r\n'
const CLAIM = 'POST /api/payments/claim HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n'

describe('raw requests', { concurrency: 8 }, () => {
  let service: Service
  before(async () => {
    service = await startService()
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const send = (...pieces: (string | Buffer)[]) => exchange(service.port, pieces)

  function assertRefused(name: string, { answers, rest }: Exchange, statuses: number[]): void {
    const last = answers.at(-1)
    assert.ok(last && statuses.includes(last.status), `${name}: ${last?.status} ${rest.slice(0, 100)}`)
    assert.equal(rest, '', name)
    assert.equal(last.headers['content-type'], 'application/json', name)
    assert.equal(last.headers['cache-control'], 'no-store', name)
    assert.equal(last.headers['x-content-type-options'], 'nosniff', name)
    assert.equal(last.headers['referrer-policy'], 'no-referrer', name)
    assert.ok(last.headers['x-request-id'], name)
    assertEnvelope(name, JSON.parse(last.body))
  }

  const REFUSED: Record<string, string | Buffer> = {
    'content-length beside transfer-encoding': `${CLAIM}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'two content-lengths': `${CLAIM}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`,
    'a content-length that is none': `${CLAIM}Content-Length: +5\r\n\r\nhello`,
    'a negative content-length': `${CLAIM}Content-Length: -1\r\n\r\n`,
    'an unknown transfer-encoding': `${CLAIM}Transfer-Encoding: gzip, x\r\n\r\n`,
    'a broken chunk': `${CLAIM}Transfer-Encoding: chunked\r\n\r\nzz\r\n`,
    'a folded header': `${STATS}X-A: 1\r\n  folded\r\n\r\n`,
    'a header without a name': `${STATS}: x\r\n\r\n`,
    'a space before the colon': `${STATS}X-A : 1\r\n\r\n`,
    'a NUL in a header': `${STATS}X-A: a\0b\r\n\r\n`,
    'a NUL in the path': 'GET /api/\0stats HTTP/1.1\r\nHost: x\r\n\r\n',
    'a tab for a space': 'GET\t/api/stats\tHTTP/1.1\r\nHost: x\r\n\r\n',
    '17 KB of headers': `${STATS}X-A: ${'a'.repeat(17 * 1024)}\r\n\r\n`,
    'a 17 KB path': `GET /${'a'.repeat(17 * 1024)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    '2,000 headers': `${STATS}${Array.from({ length: 2000 }, (_, i) => `a${i}:\r\n`).join('')}\r\n`,
    '150 short headers': `${STATS}${Array.from({ length: 150 }, (_, i) => `a${i}:\r\n`).join('')}\r\n`,
    'no host': 'GET /api/stats HTTP/1.1\r\n\r\n',
    'two hosts': `${STATS}Host: y\r\n\r\n`,
    'an unknown method': 'FROB /api/stats HTTP/1.1\r\nHost: x\r\n\r\n',
    'an unknown version': 'GET /api/stats HTTP/9.9\r\nHost: x\r\n\r\n',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a TLS hello': Buffer.from('16030100f1010000ed0303', 'hex'),
    noise: Buffer.from(Array.from({ length: 400 }, (_, i) => (i * 7919) % 256)),
    'an absolute target': 'GET http://evil.example/api/stats HTTP/1.1\r\nHost: x\r\n\r\n',
    'a target of no kind': 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
    'an expectation': `${STATS}Expect: a-pony\r\n\r\n`,
  }
  for (const [name, bytes] of Object.entries(REFUSED)) {
    it(`refuses ${name}`, async () => assertRefused(name, await send(bytes), [400, 404, 431]))
  }

  it('refuses to be a tunnel', async () => {
    assertRefused('CONNECT', await send('CONNECT evil.example:443 HTTP/1.1\r\nHost: x\r\n\r\n'), [405])
  })

  it('answers at most one request of smuggled ones', async () => {
    const smuggled = `${CLAIM}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /api/node/1 HTTP/1.1\r\nHost: x\r\n\r\n`
    const { answers, closed } = await exchange(service.port, [smuggled], { closes: true })
    assert.deepEqual([answers.length, answers[0]?.status, closed], [1, 400, true])
    const lines = 'GET /api/stats HTTP/1.1\nHost: x\n\nGET /api/node/1 HTTP/1.1\r\nHost: x\r\n\r\n'
    const bareLf = await exchange(service.port, [lines], { closes: true })
    assert.deepEqual([bareLf.answers.length, bareLf.answers[0]?.status, bareLf.closed], [1, 400, true])
  })

  it('answers requests that come in one piece, in their order', async () => {
    const three = `${STATS}\r\nGET /api/node/1 HTTP/1.1\r\nHost: x\r\n\r\n${STATS}\r\n`
    const { answers } = await exchange(service.port, [three], { answers: 3 })
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [200, 200, 200],
    )
    assert.match(answers[1]?.body ?? '', /matchedBy/)
  })

  it('answers HTTP/1.0 and upgrades it will not do', async () => {
    const old = await exchange(service.port, ['GET /api/stats HTTP/1.0\r\n\r\n'], { closes: true })
    assert.deepEqual([old.answers[0]?.status, old.closed], [200, true])
    const upgrade = await send(`${STATS}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`)
    assert.equal(upgrade.answers[0]?.status, 200)
  })

  it('gives the go-ahead to a caller that waits for it', async () => {
    const body = JSON.stringify({ txHash: hashOf('x') })
    const { answers } = await exchange(
      service.port,
      [`${CLAIM}Expect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n`, body],
      { pauseMs: 100, answers: 2 },
    )
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [100, 503],
    )
  })

  it('refuses endless bodies early, and holds none of them', async () => {
    const megabyte = Buffer.alloc(1024 * 1024, 0x61)
    const ten = Array<Buffer>(10).fill(megabyte)
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), megabyte, Buffer.from('\r\n')])
    const sendAll = async () => {
      const declared = await send(`${CLAIM}Content-Length: ${10 * megabyte.length}\r\n\r\n`, ...ten)
      assertRefused('declared', declared, [400])
      const chunked = await send(`${CLAIM}Transfer-Encoding: chunked\r\n\r\n`, ...Array<Buffer>(10).fill(chunk))
      assertRefused('chunked', chunked, [400])
      const bytes = [`${CLAIM}Content-Length: ${2 ** 40}\r\n\r\n`, ...ten, ...ten, ...ten]
      const endless = await exchange(service.port, bytes, { closes: true })
      assert.equal(endless.answers[0]?.status, 400)
      assert.equal(endless.closed, true)
      const onGet = await send(`${STATS}Content-Length: ${10 * megabyte.length}\r\n\r\n`, ...ten)
      assertRefused('on a GET', onGet, [400])
    }
    // The first run fills the client's own buffers, which are in this process as well.
    await sendAll()
    const before = process.memoryUsage().rss
    await sendAll()
    const grown = process.memoryUsage().rss - before
    assert.ok(grown < 60 * 1024 * 1024, `${grown} bytes`)
  })

  it('cuts off a slow sender within ten seconds, with others served meanwhile', async () => {
    const drip = (bytes: string) => [...bytes].map((byte) => byte)
    const slow = [
      exchange(service.port, drip(`${STATS}X-Slow: ${'a'.repeat(60)}`), { pauseMs: 250, waitMs: 60_000 }),
      exchange(service.port, [`${CLAIM}Content-Length: 60\r\n\r\n`, ...drip('{'.repeat(59))], {
        pauseMs: 250,
        waitMs: 60_000,
      }),
      exchange(service.port, [`${CLAIM}Content-Length: 100\r\n\r\n{"txHash":`], { waitMs: 60_000 }),
      exchange(service.port, [`${STATS}Content-Length: 100\r\n\r\n`, ...drip('a'.repeat(60))], {
        pauseMs: 250,
        waitMs: 60_000,
      }),
    ]
    let cutOff = 0
    for (const exchanged of slow) void exchanged.then(() => cutOff++)
    assert.equal((await service.get('/api/tiers')).status, 200)
    assert.ok(cutOff < slow.length, 'the others are served while a slow one is still connected')
    const { headersTimeout, requestTimeout } = service.app.server
    assert.ok(headersTimeout > 0 && headersTimeout <= requestTimeout && requestTimeout <= 10_000)
    for (const [i, exchanged] of (await Promise.all(slow)).entries()) {
      assert.ok(exchanged.closed, `${i}: still connected after ${exchanged.ms} ms`)
      const last = exchanged.answers.at(-1)
      assert.ok(last, `${i}: no answer`)
      if (i < 3) assertRefused(`slow ${i}`, exchanged, [408])
    }
  })

  it('lets go of every connection it refused, also when the caller does not', async () => {
    const alone = await startService()
    const open = () =>
      new Promise<number>((resolve) => alone.app.server.getConnections((_error, count) => resolve(count)))
    const kinds = ['CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n', `${STATS}Expect: x\r\n\r\n`, 'nonsense\r\n\r\n']
    const sockets = kinds.map((bytes) => {
      const socket = connect({ port: alone.port, host: '127.0.0.1', allowHalfOpen: true })
      socket.on('error', () => {})
      socket.resume().write(bytes)
      return socket
    })
    await Promise.all(sockets.map((socket) => once(socket, 'data')))
    for (const socket of sockets) socket.write('more and more')
    // Sooner than it cuts off a slow sender.
    await until('no connection to be open', async () => (await open()) === 0, 4_000)
    for (const socket of sockets) socket.destroy()
    await alone.close()
  })

  it('keeps a connection for the next request after a refused body that was sent whole', async () => {
    const body = 'x'.repeat(20_000)
    const bytes = `${CLAIM}Content-Length: ${body.length}\r\n\r\n${body}${STATS}\r\n`
    const { answers } = await exchange(service.port, [bytes], { answers: 2 })
    assert.deepEqual(
      answers.map((answer) => answer.status),
      [400, 200],
    )
  })
})
