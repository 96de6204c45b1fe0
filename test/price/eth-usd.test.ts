// The price of ether from upstreams that err, lie, flood and stall.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { fetchEthUsd, readPrice } from '../../src/price/eth-usd.ts'

let url: string
let respond: (request: IncomingMessage, response: ServerResponse) => void
let requests = 0
const server = createServer((request, response) => {
  requests++
  respond(request, response)
})
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/quote`
})
after(() => {
  server.closeAllConnections()
  server.close()
})

async function priceOf(
  body: string | Buffer,
  headers: Record<string, string> = {},
  status = 200,
): Promise<number | null> {
  respond = (_, response) => response.writeHead(status, headers).end(body)
  return await fetchEthUsd({ url, field: 'data.amount' })
}

test('a JSON number at the field is the price', async () => {
  assert.equal(await priceOf('{"data":{"amount":3012.55}}'), 3012.55)
  assert.equal(await priceOf('{"data":{"amount":3e3}}'), 3000)
})

test('a number as text is the price, as exchanges write it', async () => {
  for (const [body, field] of [
    ['{"data":{"amount":"3012.55"}}', 'data.amount'],
    ['{"symbol":"ETHUSDT","price":"3012.55000000"}', 'price'],
    ['{"error":[],"result":{"XETHZUSD":{"c":["3012.55","0.1"]}}}', 'result.XETHZUSD.c.0'],
  ] as const)
    assert.equal(readPrice(JSON.parse(body), field), 3012.55, body)
})

test('user and password of the URL are sent', async () => {
  let given: string | undefined
  respond = (request, response) => {
    given = request.headers.authorization
    response.end('{"data":{"amount":3000}}')
  }
  const withPassword = url.replace('http://', 'http://us%40er:pass%3Aword@')
  assert.equal(await fetchEthUsd({ url: withPassword, field: 'data.amount' }), 3000)
  assert.equal(Buffer.from(given?.replace('Basic ', '') ?? '', 'base64').toString(), 'us@er:pass:word')
})

test('the request is a GET for JSON, uncompressed', async () => {
  let asked: IncomingMessage | undefined
  respond = (request, response) => {
    asked = request
    response.end('{"data":{"amount":3000}}')
  }
  assert.equal(await fetchEthUsd({ url, field: 'data.amount' }), 3000)
  const { accept, 'accept-encoding': encoding } = asked?.headers ?? {}
  assert.deepEqual([asked?.method, accept, encoding], ['GET', 'application/json', 'identity'])
})

const nonsense: [sentence: string, amount: string][] = [
  ['a text with more than a number', '"3000 USD"'],
  ['an empty text', '""'],
  ['a text of a negative number', '"-3000"'],
  ['a text of zero', '"0.00"'],
  ['a negative number', '-1'],
  ['zero', '0'],
  ['a number beyond all doubles', '1e309'],
  ['a number beyond all prices', '1e12'],
  ['null', 'null'],
  ['true', 'true'],
  ['a list', '[3000]'],
  ['an object', '{"usd":3000}'],
]
for (const [sentence, amount] of nonsense) {
  test(`${sentence} is no price`, async () => assert.equal(await priceOf(`{"data":{"amount":${amount}}}`), null))
}

test('a missing field, no JSON and an empty body are no price', async () => {
  for (const body of [
    '{}',
    '{"data":null}',
    '{"data":{}}',
    '3000',
    '[]',
    '<html>3000</html>',
    '',
    '{"data":{"amount":3000',
  ]) {
    assert.equal(await priceOf(body), null, body)
  }
})

test('an error status is no price, with any body', async () => {
  for (const status of [201, 204, 400, 404, 429, 500, 503]) {
    assert.equal(await priceOf(status === 204 ? '' : '{"data":{"amount":3000}}', {}, status), null)
  }
})

test('a redirect is not followed', async () => {
  requests = 0
  assert.equal(await priceOf('', { location: url }, 302), null)
  assert.equal(await priceOf('{"data":{"amount":3000}}', { location: url }, 301), null)
  assert.equal(requests, 2)
})

test('more than 64 KiB is not read', async () => {
  const padded = (bytes: number) => '{"data":{"amount":3000}}'.padEnd(bytes)
  assert.equal(await priceOf(padded(64 * 1024)), 3000)
  assert.equal(await priceOf(padded(64 * 1024 + 1)), null)
  const large = `{"data":{"amount":3000},"pad":"${'x'.repeat(70_000)}"}`
  assert.equal(await priceOf(large), null)
})

test('an endless answer is left, and the upstream’s connection closed', async () => {
  let sent = 0
  const closed = new Promise<void>((resolve) => {
    respond = (_, response) => {
      response.on('close', resolve)
      const pour = () => {
        sent += 65_536
        if (!response.destroyed && response.write(Buffer.alloc(65_536, 32))) setImmediate(pour)
        else response.once('drain', pour)
      }
      pour()
    }
  })
  assert.equal(await fetchEthUsd({ url, field: 'a' }), null)
  await closed
  assert.ok(sent < 100 * 1024 * 1024)
})

test('an upstream that stalls, before or within its answer, is left after three seconds', async () => {
  const stalls = [
    () => {},
    (_: IncomingMessage, response: ServerResponse) => void response.writeHead(200).write('{"data":'),
  ]
  respond = (request, response) => stalls.pop()?.(request, response)
  const began = performance.now()
  assert.deepEqual(await Promise.all([0, 1].map(() => fetchEthUsd({ url, field: 'data.amount' }))), [null, null])
  assert.ok(performance.now() - began < 3_500)
})

test('an encoding that was not asked for, a closed port and an invalid URL are no price', async () => {
  assert.equal(await priceOf(gzipSync('{"data":{"amount":3000}}'), { 'content-encoding': 'gzip' }), null)
  for (const bad of ['http://127.0.0.1:9/', 'not a url', 'ftp://127.0.0.1/']) {
    assert.equal(await fetchEthUsd({ url: bad, field: 'a' }), null)
  }
})

test('the field is a path of names and places, and nothing inherited', () => {
  assert.equal(readPrice({ ethereum: { usd: 3000 } }, 'ethereum.usd'), 3000)
  assert.equal(readPrice({ result: { price: [{}, 3000] } }, 'result.price.1'), 3000)
  assert.equal(readPrice([3000], '0'), 3000)
  assert.equal(readPrice({ a: {} }, 'a.__proto__'), null)
  assert.equal(readPrice({ a: 3000 }, ''), null)
  assert.equal(readPrice(3000, ''), null)
  assert.equal(readPrice({ a: null }, 'a.b'), null)
  assert.equal(readPrice(null, 'a'), null)
  assert.equal(readPrice(undefined, 'a'), null)
  assert.equal(readPrice('four', 'length'), null)
  assert.equal(readPrice(Object.create({ usd: 3000 }), 'usd'), null)
})

test('a field has up to sixteen steps', () => {
  const nested = (steps: number): unknown => (steps === 0 ? 3000 : { a: nested(steps - 1) })
  const path = (steps: number) => Array(steps).fill('a').join('.')
  assert.equal(readPrice(nested(16), path(16)), 3000)
  assert.equal(readPrice(nested(17), path(17)), null)
})

test('a price is above zero and below ten million', () => {
  for (const price of [Number.MIN_VALUE, 0.01, 9_999_999.99]) assert.equal(readPrice({ usd: price }, 'usd'), price)
  const none = [
    0,
    -0,
    -3000,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    10_000_000,
    '10000000',
    ' 3000',
    '3e3',
    '0x10',
    3000n,
    true,
    [3000],
  ]
  for (const value of none) assert.equal(readPrice({ usd: value }, 'usd'), null)
})
