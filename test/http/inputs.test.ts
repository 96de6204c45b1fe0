// Callers' input, right and wrong: every spelling of addresses, ids, limits, hashes and bodies, and the answer to it.
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { getAddress } from 'viem'
import { type Service, startService } from '../support/http.ts'
import { hashOf, insertSmallLedger } from '../support/http-ledger.ts'

const MIXED = getAddress('0x70997970c51812dc3a010c7d01b50e0d17dc79c8')
/** Fewer than the limits allow in one window, because the clock stands still. */
const NEXT_MINUTE_MS = 60_000

describe('inputs', () => {
  let service: Service
  before(async () => {
    service = await startService()
    await insertSmallLedger(service.sql)
  })
  after(() => service.close())
  const status = async (path: string) => {
    service.clock.now += NEXT_MINUTE_MS
    return (await service.get(path)).status
  }

  it('accepts an address in lower, upper and correct mixed case, with one answer for all', async () => {
    const bodies = new Set<string>()
    for (const address of [MIXED, MIXED.toLowerCase(), `0x${MIXED.slice(2).toUpperCase()}`]) {
      const answer = await service.get(`/api/nodes/${address}`)
      assert.equal(answer.status, 200, address)
      bodies.add(answer.text)
    }
    assert.equal(bodies.size, 1)
  })

  it('refuses anything that is not exactly an address', async () => {
    const flipped = MIXED.replace(/[a-f]/, (c) => c.toUpperCase()).replace(/[A-F](?=[^A-F]*$)/, (c) => c.toLowerCase())
    assert.notEqual(flipped, MIXED)
    const wrong = [
      flipped,
      MIXED.replace('0x', '0X'),
      MIXED.slice(2),
      `${MIXED}0`,
      MIXED.slice(0, -1),
      `XE${MIXED.slice(2)}`,
      'vitalik.eth',
      encodeURIComponent(MIXED.toLowerCase().replace('7', '７')),
      `${MIXED.toLowerCase()}%0a`,
      `%20${MIXED.toLowerCase()}`,
      `${MIXED.toLowerCase()}%00`,
      "0x'%20OR%201=1--",
      '0x',
      '',
    ]
    for (const address of wrong) assert.equal(await status(`/api/nodes/${address}`), 400, address)
  })

  it('refuses any id that is not exactly a positive whole number', async () => {
    const wrong = [
      '0',
      '-0',
      '-1',
      '+1',
      '01',
      '1e3',
      '0x10',
      '1.0',
      '%201',
      '1%0a',
      '%D9%A3',
      'NaN',
      '',
      '%00',
      '1%2f2',
    ]
    for (const id of [...wrong, (2n ** 256n).toString(), '9'.repeat(400), '1;drop%20table%20nodes', "1'--", '1,2'])
      assert.equal(await status(`/api/node/${id}`), 400, id)
  })

  it('answers 404 for ids of no node, however large, and confuses none with another', async () => {
    for (const id of [
      9007199254740993n,
      2n ** 63n - 1n,
      2n ** 63n,
      2n ** 63n + 1n,
      2n ** 64n + 1n,
      2n ** 256n - 1n,
      2n ** 53n + 1n,
    ])
      assert.equal(await status(`/api/node/${id}`), 404, id.toString())
    assert.equal(await status('/api/node/1000000000'), 404)
  })

  it('refuses every limit but 1 to 200', async () => {
    const wrong = ['0', '201', '-1', '50abc', '050', '5.0', 'NaN', '1e2', '%2050', '', '99999999999999999999', '٥']
    for (const path of ['/api/node/1', '/api/distributions', '/api/distributions/1/turns']) {
      for (const limit of wrong) assert.equal(await status(`${path}?limit=${encodeURI(limit)}`), 400, limit)
      for (const query of ['limit=5&limit=5', 'limit[]=5', 'limit[0]=5', 'limit', '%6cimit=0', 'x=1&limit='])
        assert.equal(await status(`${path}?${query}`), 400, query)
      for (const query of ['limit=1', 'limit=200', '', 'limits=0', 'x=limit', 'Limit=0', 'toString=1', '__proto__=1'])
        assert.equal(await status(`${path}?${query}`), 200, query)
    }
  })

  it('refuses every offset but 0 to 1999', async () => {
    const path = '/api/distributions/1/turns'
    for (const offset of ['2000', '-1', '00', '01', '1.0', '1e2', '', '%201', '9999', '10000', '٥'])
      assert.equal(await status(`${path}?offset=${encodeURI(offset)}`), 400, offset)
    for (const query of ['offset=1&offset=1', 'offset[]=1', 'offset', 'limit=0&offset=1'])
      assert.equal(await status(`${path}?${query}`), 400, query)
    for (const query of ['offset=0', 'offset=1999', 'offset=5&limit=200', 'offsets=-1'])
      assert.equal(await status(`${path}?${query}`), 200, query)
    for (const id of ['0', '01', '-1', 'x', '1.0'])
      assert.equal(await status(`/api/distributions/${id}/turns`), 400, id)
  })

  it('gives no way round the routes', async () => {
    const paths = [
      '//evil.example/api/stats',
      '/api/../api/stats',
      '/api/%2e%2e/admin',
      '/api%2fstats',
      '/api/stats/',
      '/API/stats',
    ]
    for (const path of [
      ...paths,
      '/index.php',
      '/tiers/',
      '/round',
      '/assets/',
      '/api',
      '/api/node',
      '/api/node/1/',
      '/api/nodes/',
      '/api/stats%00',
      '/api/stats;x',
      '/.env',
      '/api/cron',
    ])
      assert.ok([400, 404].includes(await status(path)), path)
    for (const path of [
      '/%ff',
      '/%',
      '/api/node/%',
      '/api/nodes/%e0%a4%a',
      'http://evil.example/api/stats',
      '*',
      'evil',
    ])
      assert.ok([400, 404].includes(await status(path)), path)
  })

  it('refuses bodies that are not JSON objects of the right type and size', async () => {
    const good = JSON.stringify({ txHash: hashOf('x') })
    const json = { 'content-type': 'application/json' }
    const deep = (n: number) => `{"txHash":"${hashOf('x')}","x":${'['.repeat(n)}${']'.repeat(n)}}`
    const wrong: [name: string, body: string | Buffer | undefined, headers: Record<string, string>][] = [
      ['nothing', undefined, {}],
      ['empty', '', json],
      ['null', 'null', json],
      ['a list', '[]', json],
      ['a text', '"x"', json],
      ['a number', '1', json],
      ['broken', '{"txHash":', json],
      ['trailing', `${good}x`, json],
      ['a byte order mark', `\ufeff${good}`, json],
      ['UTF-16', Buffer.from(good, 'utf16le'), json],
      ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), json],
      ['text/plain', good, { 'content-type': 'text/plain' }],
      ['a form', `txHash=${hashOf('x')}`, { 'content-type': 'application/x-www-form-urlencoded' }],
      ['no type', good, {}],
      ['a strange type', good, { 'content-type': ';;;' }],
      ['another charset', good, { 'content-type': 'application/json; charset=utf-16' }],
      ['a json-like type', good, { 'content-type': 'application/jsonp' }],
      ['compressed', good, { ...json, 'content-encoding': 'gzip' }],
      ['17 KiB', JSON.stringify({ txHash: hashOf('x'), pad: 'x'.repeat(17 * 1024) }), json],
      ['a megabyte of digits', `{"txHash":${'1'.repeat(1024 * 1024)}}`, json],
      ['too deep', deep(100), json],
      ['as deep as fits', deep(7_000), json],
      ['a proto', '{"__proto__":{"txHash":"0x"}}', json],
      ['a constructor', '{"constructor":{"prototype":{"txHash":"0x"}}}', json],
    ]
    for (const [name, body, headers] of wrong) {
      service.clock.now += NEXT_MINUTE_MS
      const started = performance.now()
      const answer = await service.ask('POST', '/api/payments/claim', { body, headers })
      assert.equal(answer.status, 400, name)
      assert.ok(performance.now() - started < 500, `${name} took long`)
    }
    assert.equal(Object.hasOwn(Object.prototype, 'txHash'), false)
  })

  it('accepts a body with unknown fields, parameters on its type, and a reasonable depth', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      const body = JSON.stringify({ txHash: hashOf('x'), more: { a: [[1]] } })
      const answer = await service.ask('POST', '/api/payments/claim', { body, headers: { 'content-type': type } })
      // There is no chain here, so this answer means that the input was accepted.
      assert.equal(answer.status, 503, type)
    }
  })

  it('refuses invalid hashes', async () => {
    const hash = hashOf('x')
    const wrong = [
      hash.slice(0, -1),
      `${hash}0`,
      hash.slice(2),
      hash.replace('0x', '0X'),
      `${hash}\n`,
      `0x${'g'.repeat(64)}`,
    ]
    for (const txHash of [...wrong, '', 1, null, true, [hash], { hash }]) {
      service.clock.now += NEXT_MINUTE_MS
      assert.equal((await service.post('/api/payments/claim', { txHash })).status, 400, JSON.stringify(txHash))
    }
  })

  it('ignores bodies that no route needs, up to 16 KiB', async () => {
    for (const [size, expected] of [
      [0, 200],
      [16 * 1024, 200],
      [16 * 1024 + 1, 400],
    ] as const) {
      service.clock.now += NEXT_MINUTE_MS
      const options = {
        body: Buffer.alloc(size, 0x61),
        headers: { 'content-type': 'image/png', 'content-length': size },
      }
      assert.equal((await service.ask('POST', '/api/auth/logout', options)).status, expected, `logout ${size}`)
      assert.equal((await service.ask('GET', '/api/stats', options)).status, expected, `stats ${size}`)
    }
  })
})
