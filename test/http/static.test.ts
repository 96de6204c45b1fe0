// The files that are served as they are: compressed once for all, limited for each caller, under one strict policy.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Asset } from '../../src/http/edge/assets.ts'
import { type Service, startService } from '../support/http.ts'
import { exchange } from '../support/http-raw.ts'

const BUNDLE = '/docs/swagger-ui-bundle.js'
const original = readFileSync(createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js'))

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

/** As fetch would not: compressed answers as they came. */
async function raw(path: string, encoding: string | null) {
  const headers = encoding === null ? {} : { 'accept-encoding': encoding }
  const url = `http://127.0.0.1:${service.port}${path}`
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>((resolve, reject) => {
    request(url, { agent: false, headers }, (answer) => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })
}

test('the bundle of the reference is sent compressed to clients that take that, and whole to others', async () => {
  const brotli = await raw(BUNDLE, 'gzip, deflate, br')
  assert.deepEqual([brotli.headers['content-encoding'], brotli.headers.vary], ['br', 'accept-encoding'])
  assert.ok(brotli.body.length < original.length / 3, `${brotli.body.length} bytes`)
  assert.ok(brotliDecompressSync(brotli.body).equals(original))
  const gzip = await raw(BUNDLE, 'gzip')
  assert.equal(gzip.headers['content-encoding'], 'gzip')
  assert.ok(gunzipSync(gzip.body).equals(original))
  const plain = await raw(BUNDLE, null)
  assert.equal(plain.headers['content-encoding'], undefined)
  assert.ok(plain.body.equals(original))
  assert.equal(new Set([brotli, gzip, plain].map(({ headers }) => headers.etag)).size, 3)
})

test('a file is read and compressed once for all who ask, also at once', async () => {
  let reads = 0
  const asset = new Asset(() => {
    reads++
    return Buffer.from('x'.repeat(10_000))
  })
  const first = await Promise.all(Array.from({ length: 50 }, () => asset.in('br')))
  assert.equal(new Set(first).size, 1)
  assert.equal(asset.in('br'), first[0])
  await asset.in('gzip')
  assert.equal(reads, 1)
})

test('a file that could not be read is tried again', async () => {
  let reads = 0
  const asset = new Asset(() => {
    if (++reads === 1) throw new Error('too many open files')
    return Buffer.from('x')
  })
  await assert.rejects(async () => asset.in('gzip'))
  assert.ok(await asset.in('gzip'))
})

test('files and pages have limits for each caller', async () => {
  for (const path of [BUNDLE, '/docs/swagger-ui.css', '/docs', '/']) {
    const { headers } = await raw(path, null)
    assert.match(String(headers['x-ratelimit-limit']), /^\d+$/, path)
  }
  const limit = Number((await raw('/docs/reference.js', null)).headers['x-ratelimit-limit'])
  const requests = 'GET /docs/reference.js HTTP/1.1\r\nHost: x\r\n\r\n'
  const statuses: number[] = []
  for (let sent = 1; sent < limit + 20; sent += 20) {
    const { answers } = await exchange(service.port, [requests.repeat(20)], { answers: 20 })
    statuses.push(...answers.map(({ status }) => status))
  }
  assert.equal(statuses.filter((status) => status === 200).length, limit - 1)
  assert.ok(statuses.slice(limit).every((status) => status === 429))
})

test('every page has the same policy, which lets nothing run or be worn that is written into it', async () => {
  const policies = new Set<unknown>()
  for (const path of ['/', '/tiers', '/console', '/docs']) {
    policies.add((await raw(path, 'br')).headers['content-security-policy'])
  }
  assert.equal(policies.size, 1)
  const [policy = ''] = policies as Set<string>
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self';/)
  assert.doesNotMatch(policy, /unsafe|\*/)
})

test('in production every answer says what browsers are to keep to, also one that no route gave', async () => {
  const production = await startService({ settings: { production: true } })
  const ask = async (bytes: string) => (await exchange(production.port, [bytes])).answers[0]?.headers ?? {}
  for (const target of ['GET /', 'GET /docs', 'GET /api/stats', 'GET /nowhere', 'OPTIONS /api/stats', 'FROB /']) {
    const headers = await ask(`${target} HTTP/1.1\r\nHost: x\r\n\r\n`)
    assert.match(headers['strict-transport-security'] ?? '', /^max-age=\d{8}/, target)
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin', target)
    assert.match(headers['permissions-policy'] ?? '', /camera=\(\)/, target)
  }
  await production.close()
  const { headers } = await service.get('/api/stats')
  assert.equal(headers['strict-transport-security'], undefined, 'a service without TLS must not lock browsers out')
})
