// The static files: compressed once for all, limited for each caller, under one strict policy.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { after, before, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Service, startService } from '../support/http.ts'
import { insertSmallLedger } from '../support/http-ledger.ts'
import { exchange } from '../support/http-raw.ts'

const LARGE = '/withdraw.html'

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.close())

const ask = (port: number, path: string) => fetch(`http://127.0.0.1:${port}${path}`)
const policyOf = async (port: number, path: string) =>
  (await ask(port, path)).headers.get('content-security-policy') ?? ''

/** Unlike fetch: compressed answers as sent. */
async function raw(path: string, encoding: string | null, cookie = '') {
  const headers = { ...(cookie && { cookie }), ...(encoding !== null && { 'accept-encoding': encoding }) }
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

test('a large file is sent compressed to clients that take that, and whole to others', async () => {
  const plain = await raw(LARGE, null)
  const original = plain.body
  assert.ok(original.length > 100_000)
  const brotli = await raw(LARGE, 'gzip, deflate, br')
  assert.deepEqual([brotli.headers['content-encoding'], brotli.headers.vary], ['br', 'accept-encoding'])
  assert.ok(brotli.body.length < original.length / 3, `${brotli.body.length} bytes`)
  assert.ok(brotliDecompressSync(brotli.body).equals(original))
  const gzip = await raw(LARGE, 'gzip')
  assert.equal(gzip.headers['content-encoding'], 'gzip')
  assert.ok(gunzipSync(gzip.body).equals(original))
  assert.equal(plain.headers['content-encoding'], undefined)
  const signedIn = await raw(LARGE, 'br', 'nl_session=whatever')
  assert.ok(signedIn.body.equals(brotli.body), 'a file holds nothing of a session')
  assert.equal(new Set([brotli, gzip, plain].map(({ headers }) => headers.etag)).size, 3)
})

test('files and pages have limits for each caller', async () => {
  for (const path of [LARGE, '/icon.svg', '/docs', '/']) {
    const { headers } = await raw(path, null)
    assert.match(String(headers['x-ratelimit-limit']), /^\d+$/, path)
  }
  const limit = Number((await raw('/theme.js', null)).headers['x-ratelimit-limit'])
  const requests = 'GET /theme.js HTTP/1.1\r\nHost: x\r\n\r\n'
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
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self' 'sha256-[^']+';/)
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(String((await raw('/', null)).body)) ?? []
  assert.ok(
    policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`),
    'only the pages’ own style',
  )
  assert.doesNotMatch(policy, /unsafe|\*/)
})

test('the first paint has the sale’s colour, in the one style that the policy allows', async () => {
  const brand = { name: null, logo: null, color: '#1a6b52', contact: null, termsUrl: null }
  const coloured = await startService({ settings: { site: { chainName: null, explorerUrl: null, brand } } })
  try {
    for (const path of ['/', '/buy/basic', '/console', '/docs']) {
      const page = await ask(coloured.port, path)
      const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await page.text()) ?? []
      assert.match(style, /:root\{--brand-light:#1a6b52;.*--brand-on:#ffffff\}$/, path)
      const policy = page.headers.get('content-security-policy') ?? ''
      assert.ok(policy.includes(`'sha256-${createHash('sha256').update(style).digest('base64')}'`), path)
    }
  } finally {
    await coloured.close()
  }
  assert.doesNotMatch(await (await ask(service.port, '/')).text(), /--brand-light:/)
})

test('in production every answer has the headers that browsers enforce, also outside the routes', async () => {
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

test('a listed site may frame the public pages and read their manifest, and none the console', async () => {
  const framed = await startService({ settings: { frameAncestors: ['https://app.safe.global', 'https://b.example'] } })
  try {
    const { port } = framed
    for (const path of ['/', '/buy', '/owner', '/node/1'])
      assert.match(
        await policyOf(port, path),
        /; frame-ancestors https:\/\/app\.safe\.global https:\/\/b\.example$/,
        path,
      )
    for (const path of ['/console', '/console/payments', '/docs'])
      assert.match(await policyOf(port, path), /; frame-ancestors 'none'$/, path)
    const { status, headers } = await ask(port, '/manifest.json')
    assert.deepEqual([status, headers.get('access-control-allow-origin')], [200, '*'])
    assert.equal((await ask(port, '/icon.svg')).headers.get('access-control-allow-origin'), null)
  } finally {
    await framed.close()
  }
  assert.match(await policyOf(service.port, '/'), /; frame-ancestors 'none'$/)
  assert.equal((await ask(service.port, '/manifest.json')).status, 404)
})

test('pages may request this service and the public RPC, and load nothing from elsewhere', async () => {
  const own = await policyOf(service.port, '/')
  const related = await startService({ settings: { publicRpcUrl: 'https://rpc.example/v1' } })
  try {
    for (const path of ['/', '/buy/basic', '/owner', '/console', '/docs'])
      assert.equal(
        await policyOf(related.port, path),
        own.replace("connect-src 'self'", "connect-src 'self' https://rpc.example"),
        path,
      )
  } finally {
    await related.close()
  }
  assert.match(own, /connect-src 'self';/)
})

test('the sale’s description is public with its logo, which can do nothing as a page', async () => {
  const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>'
  const brand = { name: 'Aurora', color: '#1a6b52', contact: 'mailto:help@nodes.example', termsUrl: null }
  const chain = { chainName: 'Base', explorerUrl: 'https://basescan.org' }
  const named = await startService({ settings: { site: { ...chain, brand: { ...brand, logo } } } })
  try {
    const { json } = await named.get('/.well-known/node-ledger.json')
    assert.deepEqual([json.chainName, json.explorerUrl], ['Base', 'https://basescan.org'])
    assert.deepEqual(json.brand, { ...brand, logoUrl: '/brand/logo.svg' })
    const served = await fetch(`http://127.0.0.1:${named.port}${json.brand.logoUrl}`)
    assert.deepEqual([served.headers.get('content-type'), await served.text()], ['image/svg+xml', logo])
    assert.match(served.headers.get('content-security-policy') ?? '', /^default-src 'none';.*; sandbox$/)
    const manifest = await fetch(`http://127.0.0.1:${named.port}/app.webmanifest`)
    assert.equal(manifest.headers.get('content-type'), 'application/manifest+json; charset=utf-8')
    const { name, icons } = (await manifest.json()) as { name: string; icons: { src: string }[] }
    assert.deepEqual([name, icons[0]?.src], ['Aurora', '/brand/logo.svg'])
  } finally {
    await named.close()
  }
  assert.equal((await fetch(`http://127.0.0.1:${service.port}/brand/logo.svg`)).status, 404)
})

test('a shared link shows what the page is and whose, and its path is only text', async () => {
  const brand = { name: 'A "quoted" <name> & $1', logo: null, color: '#1a6b52', contact: null, termsUrl: null }
  const unnamed = { chainName: null, explorerUrl: null }
  const named = await startService({ settings: { site: { ...unnamed, brand } } })
  const metasOf = async (path: string) => {
    const html = await (await fetch(`http://127.0.0.1:${named.port}${path}`)).text()
    const unescaped = (text: string) =>
      text.replace(
        /&(amp|lt|gt|quot|#39);/g,
        (_all, sign) => ({ amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" })[sign as 'lt'],
      )
    return Object.fromEntries(
      [...html.matchAll(/<meta (?:name|property)="([^"]+)" content="([^"]*)">/g)].map(([, key = '', text = '']) => [
        key,
        unescaped(text),
      ]),
    )
  }
  try {
    for (const [path, title] of [
      ['/', brand.name],
      ['/node/7', 'Node 7'],
      ['/round/12', 'Round 12'],
      [`/address/0x${'ab'.repeat(20)}`, 'Wallet 0xabab…abab'],
      ['/node/%22%3E%3Cscript%3E', 'Node'],
      ['/console/payments', brand.name],
    ] as const) {
      const metas = await metasOf(path)
      assert.deepEqual([metas['og:title'], metas['og:site_name']], [title, brand.name], path)
      assert.equal(new URL(metas['og:url'] ?? '').origin, 'https://ledger.example', path)
      assert.equal(metas['og:image'], 'https://ledger.example/preview.png', path)
      assert.deepEqual(JSON.parse(metas['node-ledger:sale'] ?? ''), {
        name: brand.name,
        logoUrl: '/icon.svg',
        chain: 'chain 31337',
      })
    }
    const picture = await fetch(`http://127.0.0.1:${named.port}/preview.png`)
    assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/png'])
    const bytes = Buffer.from(await picture.arrayBuffer())
    const size = await metasOf('/').then((metas) => [metas['og:image:width'], metas['og:image:height']])
    assert.deepEqual(size, [bytes.readUInt32BE(16), bytes.readUInt32BE(20)].map(String))
  } finally {
    await named.close()
  }
})

test('the not-found page has the sale’s colour, and exactly its text’s bytes in any script', async () => {
  const brand = { name: '北極 Ünïcode', logo: null, color: '#1a6b52', contact: null, termsUrl: null }
  const named = await startService({ settings: { site: { chainName: null, explorerUrl: null, brand } } })
  try {
    const missing = await fetch(`http://127.0.0.1:${named.port}/nowhere`, { headers: { accept: 'text/html' } })
    const page = await missing.text()
    assert.match(page, /<title>Page not found · 北極 Ünïcode<\/title>/)
    const style = /<style>(.*?--brand-ground:#1a6b52.*?)<\/style>/s.exec(page)?.[1] ?? assert.fail('no colour')
    const digest = createHash('sha256').update(style).digest('base64')
    assert.ok(missing.headers.get('content-security-policy')?.includes(`style-src 'self' 'sha256-${digest}'`))
  } finally {
    await named.close()
  }
})

test('people get a not-found page or the page without the last slash, programs the envelope', async () => {
  const html = { headers: { accept: 'text/html,*/*' }, redirect: 'manual' } as const
  const ask = (path: string, how: RequestInit = html) => fetch(`http://127.0.0.1:${service.port}${path}`, how)
  for (const path of ['/nowhere', '/api/nowhere/', '//other.example/']) {
    const missing = await ask(path)
    assert.deepEqual([missing.status, missing.headers.get('cache-control')], [404, 'no-store'], path)
    assert.match(await missing.text(), /<h1>Page not found<\/h1>/)
    assert.match(
      missing.headers.get('content-security-policy') ?? '',
      /^default-src 'none'; script-src 'self'; style-src 'self' 'sha256-/,
    )
  }
  for (const encoding of ['br', 'gzip', 'identity']) {
    const { headers } = await ask('/nowhere', { headers: { ...html.headers, 'accept-encoding': encoding } })
    assert.deepEqual(
      [headers.get('content-encoding') ?? 'identity', headers.get('vary')],
      [encoding, 'accept-encoding'],
    )
    assert.ok(Number(headers.get('content-length')) < 20_000 || encoding === 'identity', `short as ${encoding}`)
  }
  for (const [path, location] of [
    ['/owner/', '/owner'],
    ['/node/7//?from=x', '/node/7?from=x'],
  ] as const) {
    const redirect = await ask(path)
    assert.deepEqual([redirect.status, redirect.headers.get('location')], [308, location])
  }
  assert.equal((await ask('/api/stats/')).status, 404, 'paths of the API are as they are documented')
  for (const how of [{}, { headers: { accept: 'application/json' } }, { ...html, method: 'POST' }]) {
    const { status, headers } = await ask('/nowhere/', how)
    assert.deepEqual([status, headers.get('content-type')], [404, 'application/json'])
  }
  assert.deepEqual([(await service.get('/owner/')).status, (await service.get('/nowhere')).status], [404, 404])
})

test('a page contains its heading, offer, price and state before any script runs', async () => {
  const sold = await startService()
  try {
    const main = async (path: string) => /<main.*<\/main>/s.exec(await (await ask(sold.port, path)).text())?.[0] ?? ''
    assert.match(await main('/buy'), /<h1>Buy a node<\/h1>.*<ul class="tiers"><\/ul>/s)
    await insertSmallLedger(sold.sql)
    await sold.sql`UPDATE tiers SET label = '<b>Plus</b>', on_sale = false WHERE tier_id = 'plus'`
    sold.clock.now += 60_000
    const shop = await main('/buy')
    assert.match(shop, /<h2>BASIC<\/h2><\/header><p class="price">0\.01 ETH<.*href="\/buy\/basic">Buy BASIC</s)
    assert.doesNotMatch(shop, /Plus/)
    assert.match(await main('/buy/plus'), /<h1>&lt;b&gt;Plus&lt;\/b&gt;.*Not on sale/s)
    assert.match(await main('/'), /<h1>Nodes that earn ETH.*from 0\.01 ETH.*Sold by 0xaaaa…afee.*0\.01 ETH/s)
    assert.match(
      await main('/buy/basic'),
      /<h1>Buy BASIC<\/h1>.*class="price">0\.01 ETH<.*href="ethereum:0xa{37}fee@31337\?value=10000000000000000".*0xa{37}fee.*chain 31337/s,
    )
    assert.doesNotMatch(await main('/buy/basic'), /Plus/)
    assert.match(await main('/node/7'), /<h1>Node 7<\/h1>/)
    await sold.sql`ALTER TABLE tiers RENAME TO gone`
    assert.equal((await ask(sold.port, '/buy')).status, 500, 'a fault is no empty shop')
    await sold.sql`ALTER TABLE gone RENAME TO tiers`
  } finally {
    await sold.close()
  }
})

test('pages of ids that no tier has take one place in the memory of answers', async () => {
  const results: string[] = []
  const meters = { memo: (result: string) => void results.push(result) }
  const sold = await startService({ listen: true, meters: meters as never })
  try {
    await insertSmallLedger(sold.sql)
    const read = async (path: string) => (await ask(sold.port, path)).text()
    const basic = await read('/buy/basic')
    const [first, ...others] = await Promise.all(['', 'none', 'Not-An-Id', 'none-2'].map((id) => read(`/buy/${id}x`)))
    for (const other of others) assert.equal(other, first)
    assert.notEqual(basic, first)
    assert.deepEqual(results.filter((result) => result === 'miss').length, 2)
  } finally {
    await sold.close()
  }
})

test('crawlers, phones and finders of faults get what they look for at fixed places', async () => {
  const brand = { name: 'Aurora', logo: null, color: null, contact: 'mailto:help@aurora.example', termsUrl: null }
  const named = await startService({
    settings: { publicUrl: 'https://nodes.example', site: { chainName: null, explorerUrl: null, brand } },
  })
  try {
    const text = async (path: string) => (await ask(named.port, path)).text()
    assert.match(
      await text('/robots.txt'),
      /^Disallow: \/console$.*^Sitemap: https:\/\/nodes\.example\/sitemap\.xml$/ms,
    )
    for (const path of ['/', '/buy', '/rounds'])
      assert.ok((await text('/sitemap.xml')).includes(`<loc>https://nodes.example${path}</loc>`), path)
    const security = await text('/.well-known/security.txt')
    assert.match(security, /^Contact: mailto:help@aurora\.example$/m)
    const expires = Date.parse(/^Expires: (.+)$/m.exec(security)?.[1] ?? '')
    assert.ok(expires > named.clock.now && expires < named.clock.now + 365 * 86_400_000)
    for (const [path, type] of [
      ['/favicon.ico', 'image/x-icon'],
      ['/apple-touch-icon.png', 'image/png'],
    ] as const)
      assert.equal((await ask(named.port, path)).headers.get('content-type'), type)
  } finally {
    await named.close()
  }
  assert.equal((await ask(service.port, '/.well-known/security.txt')).status, 404, 'no contact')
})
