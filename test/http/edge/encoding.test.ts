// Compressed answers: a public answer is compressed for callers who accept it, and tells caches so. An answer that may
// belong to a session never is, because its length would reveal a secret beside text that an attacker chose.
import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { encoded, encodingFor } from '../../../src/http/edge/encoding.ts'
import { cachedResponseOf } from '../../../src/http/edge/memo.ts'
import { type Service, startService } from '../../support/http.ts'
import { insertSmallLedger } from '../../support/http-ledger.ts'

let service: Service
before(async () => {
  service = await startService({ listen: true })
  await insertSmallLedger(service.sql)
})
after(() => service.close())

interface Raw {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
}
/** The bytes as sent. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Raw> {
  service.clock.now += 1
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port: service.port, path, method, headers, agent: false }, (answer) =>
      answer
        .toArray()
        .then(
          (chunks) =>
            resolve({ status: answer.statusCode ?? 0, headers: answer.headers, bytes: Buffer.concat(chunks) }),
          reject,
        ),
    )
    outgoing.on('error', reject)
    outgoing.end()
  })
}
const LARGE = '/api/tiers'
const decompress = { br: brotliDecompressSync, gzip: gunzipSync } as const

test('a large answer has an encoding that the caller accepts, each with its own tag', async () => {
  const plain = await ask(LARGE)
  assert.ok(plain.bytes.length > 1024)
  assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'accept-encoding'])
  const tags = new Set([plain.headers.etag])
  for (const name of ['br', 'gzip'] as const) {
    const { headers, bytes } = await ask(LARGE, { 'accept-encoding': name })
    assert.deepEqual([headers['content-encoding'], headers.vary], [name, 'accept-encoding'])
    assert.equal(headers['content-length'], String(bytes.length))
    assert.ok(bytes.length < plain.bytes.length / 2)
    assert.deepEqual(decompress[name](bytes), plain.bytes)
    tags.add(headers.etag)
    const again = await ask(LARGE, { 'accept-encoding': name, 'if-none-match': headers.etag ?? '' })
    assert.deepEqual([again.status, again.headers.vary, again.bytes.length], [304, 'accept-encoding', 0])
    const head = await ask(LARGE, { 'accept-encoding': name }, 'HEAD')
    assert.deepEqual([head.headers['content-length'], head.bytes.length], [String(bytes.length), 0])
  }
  assert.equal(tags.size, 3)
})

test('neither a small answer, nor an error, nor anything to a session is compressed', async () => {
  const taken = { 'accept-encoding': 'br, gzip' }
  for (const path of ['/api/price', '/api/node/99999']) {
    const { headers } = await ask(path, taken)
    assert.equal(headers['content-encoding'], undefined, path)
  }
  const { headers, bytes } = await ask(LARGE, { ...taken, cookie: 'nl_session=whatever' })
  assert.deepEqual([headers['content-encoding'], headers['cache-control']], [undefined, 'private, no-store'])
  assert.doesNotThrow(() => JSON.parse(bytes.toString()))
})

test('the caller’s weights are gone by', () => {
  const cases = {
    'br;q=0, gzip': 'gzip',
    'br;q=0.0, gzip;q=0': 'identity',
    'gzip, deflate, br;q=0.5': 'br',
    '': 'identity',
  }
  for (const [accepted, expected] of Object.entries(cases)) assert.equal(encodingFor(accepted), expected, accepted)
})

test('an answer is compressed once for all callers', async () => {
  const response = cachedResponseOf(JSON.stringify(Array.from({ length: 500 }, (_, i) => `entry ${i}`)))
  const [first, joined] = await Promise.all([encoded(response, 'br'), encoded(response, 'br')])
  assert.equal(first, joined)
  assert.equal(await encoded(response, 'br'), first, 'later, too')
})
