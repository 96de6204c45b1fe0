// The pictures of links: real PNGs of what the ledger holds, asked for as a chat's preview does, and as somebody does who means harm.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { after, before, test } from 'node:test'
import type { HttpSettings } from '../../src/http/deps.ts'
import { withHead } from '../../src/http/pages/heads.ts'
import { fitted } from '../../src/http/pictures/card.ts'
import { covers, widthOf } from '../../src/http/pictures/face.ts'
import { type Service, startService } from '../support/http.ts'
import { insertNode, insertRound, insertSmallLedger, walletOf } from '../support/http-ledger.ts'
import { until } from '../support/until.ts'
import { readPng } from './png.ts'

const COLOR = '#0a7f5a'
const brand = { name: 'Aurora Nodes', color: COLOR, logo: null, contact: null, termsUrl: null }
const site = { chainName: null, explorerUrl: null, brand }

let service: Service
before(async () => {
  service = await startService({ listen: true, settings: { site } })
  await insertSmallLedger(service.sql)
})
after(() => service.close())

interface Got {
  status: number
  headers: Record<string, string | string[] | undefined>
  bytes: Buffer
}

const get = (path: string, { port = service.port, method = 'GET', from = '127.0.0.1' } = {}): Promise<Got> =>
  new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, method, agent: false, localAddress: from }, (incoming) => {
      const chunks: Buffer[] = []
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () =>
        resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, bytes: Buffer.concat(chunks) }),
      )
    })
      .on('error', reject)
      .end()
  })

/** The picture of a path, which must be one. */
async function picture(path: string, port = service.port): Promise<Buffer> {
  const { status, headers, bytes } = await get(path, { port })
  assert.deepEqual([status, headers['content-type']], [200, 'image/png'], path)
  const { width, height, at } = readPng(bytes)
  assert.deepEqual([width, height], [1200, 630], path)
  assert.deepEqual(at(4, 600), [0x0a, 0x7f, 0x5a], `${path} has the colour of the sale`)
  return bytes
}

test('each node, each round and the sale have a picture of their own, which a credit changes', async () => {
  const paths = ['/og/node/1.png', '/og/node/3.png', '/og/round/1.png', '/og/round/2.png', '/og/sale.png']
  const pictures = await Promise.all(paths.map((path) => picture(path)))
  assert.equal(new Set(pictures.map((bytes) => bytes.toString('latin1'))).size, paths.length)
  const [before] = pictures
  assert.ok((await picture('/og/node/1.png')).equals(before ?? Buffer.alloc(0)), 'nothing changed')
  await insertRound(service.sql, { round: 3, block: 90, turns: [{ cohort: 1, amountWei: 10n ** 15n }] })
  // The ledger's change is heard a moment later.
  await service.sql`NOTIFY ledger`
  // It is heard a moment later. Each look is another caller's, because of the limits.
  let asked = 0
  await until('a new picture', async () => {
    const { bytes } = await get('/og/node/1.png', { from: `127.0.2.${++asked}` })
    return !bytes.equals(before ?? Buffer.alloc(0))
  })
  assert.ok((await picture('/og/round/1.png')).equals(pictures[2] ?? Buffer.alloc(0)), 'of another round')
})

test('a picture is kept for a minute at most, found by its tag, and answered to HEAD', async () => {
  const { headers, bytes } = await get('/og/node/1.png')
  assert.equal(headers['cache-control'], 'public, max-age=60')
  assert.equal(headers['content-encoding'], undefined)
  const head = await get('/og/node/1.png', { method: 'HEAD' })
  assert.deepEqual([head.status, head.bytes.length, head.headers['content-length']], [200, 0, String(bytes.length)])
  assert.equal(head.headers.etag, headers.etag)
  assert.equal((await get('/og/node/1.png', { method: 'POST' })).status, 405)
})

test('what is not there has no picture, and no refusal is kept by anybody', async () => {
  const refusals = [
    ['/og/node/99.png', 404],
    ['/og/round/99.png', 404],
    [`/og/node/${2n ** 255n}.png`, 404],
    [`/og/node/${'9'.repeat(200)}.png`, 400],
    ['/og/node/0.png', 400],
    ['/og/node/-1.png', 400],
    ['/og/node/1e3.png', 400],
    ['/og/node/%3Csvg%3E.png', 400],
    ['/og/round/1%00.png', 400],
    ['/og/node/1.svg', 404],
    ['/og/node/..%2f..%2fpackage.json', 404],
    ['/og/other.png', 404],
  ] as const
  for (const [path, status] of refusals) {
    const got = await get(path)
    assert.equal(got.status, status, path)
    assert.equal(got.headers['cache-control'], 'no-store', path)
  }
})

test('a head names the picture of its page, and the sale’s where it has none', () => {
  const settings = { publicUrl: 'https://ledger.example' } as HttpSettings
  const imageOf = (path: string, params = {}) => {
    const html = withHead('<!--head--><!--/head-->', settings, path, params)
    assert.match(html, /<meta name="twitter:card" content="summary_large_image">/)
    assert.match(
      html,
      /<meta property="og:image:width" content="1200">\s*<meta property="og:image:height" content="630">/,
    )
    assert.match(html, /<meta property="og:image:alt" content="[^"]{10,}">/)
    return /<meta property="og:image" content="https:\/\/ledger.example([^"]*)">/.exec(html)?.[1]
  }
  assert.equal(imageOf('/node/:id', { id: '3' }), '/og/node/3.png')
  assert.equal(imageOf('/round/:id', { id: '12' }), '/og/round/12.png')
  const others = ['/', '/buy', '/console'].map((path) => imageOf(path))
  const wrong = ['0', '">', '1.5', `0x${'a'.repeat(40)}`].map((id) => imageOf('/node/:id', { id }))
  assert.deepEqual(new Set([...others, ...wrong]), new Set(['/og/sale.png']))
})

test('two hundred pictures asked for at once: a line of bounded length is served, the others are told when to come again', async (t) => {
  const ids = Array.from({ length: 200 }, (_, i) => 1000 + i)
  for (const nodeId of ids) await insertNode(service.sql, { nodeId, owner: walletOf(5), cohort: 1 })
  const before = process.memoryUsage().rss
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  // From forty addresses: what holds is not the limit of a caller.
  const answers = await Promise.all(ids.map((id) => get(`/og/node/${id}.png`, { from: `127.0.1.${(id % 40) + 1}` })))
  delay.disable()
  t.diagnostic(`${answers.length} asked for: longest delay of the event loop ${(delay.max / 1e6).toFixed(0)} ms`)
  const served = answers.filter(({ status }) => status === 200)
  assert.equal(new Set(served.map(({ bytes }) => bytes.toString('latin1'))).size, served.length, 'each its own')
  assert.ok(served.length >= 25, `${served.length} served`)
  // On a machine so slow that a line is not drawn in time, the last of it are told just that.
  for (const { status, headers, bytes } of answers.filter((each) => !served.includes(each)))
    assert.deepEqual(
      [status, headers['cache-control'], headers['retry-after']],
      [503, 'no-store', /No answer came in time/.test(bytes.toString()) ? undefined : '2'],
    )
  assert.ok(served.length < ids.length, 'the line has no end')
  assert.ok(process.memoryUsage().rss - before < 200e6, 'memory grows with requests')
  // The service is there for the next.
  await picture('/og/node/2.png')
  // One caller has a limit, as with other reads.
  const one = await Promise.all(ids.map(() => get('/og/sale.png', { from: '127.0.3.1' })))
  assert.equal(one.filter(({ status }) => status === 429).length, 140)
})

test('with the database down there is no figure, and the sale’s picture stands', async () => {
  const down = await startService({ settings: { site } })
  await down.sql.end({ timeout: 0 })
  try {
    const { status, headers } = await get('/og/node/1.png', { port: down.port })
    assert.deepEqual([status, headers['cache-control']], [503, 'no-store'])
    assert.ok((await picture('/og/sale.png', down.port)).length > 5_000)
  } finally {
    await down.close()
  }
})

test('names of any length and script stay in their place: cut, or replaced by the site’s host where the face lacks a letter', async () => {
  assert.ok(covers('Größe Ноды Κόμβοι', 700))
  for (const text of ['節點', 'عقد', '🚀', 'a\u0007']) assert.ok(!covers(text, 700), text)
  for (const name of ['W'.repeat(40), 'i', 'A rather long name of a sale, all told 40'.slice(0, 40)]) {
    const { text, size } = fitted(name, 112, 700, 1032)
    assert.ok(widthOf(text, 700) * size <= 1032.01, text)
    const named = await startService({ settings: { site: { ...site, brand: { ...brand, name } } } })
    try {
      const { at } = readPng(await picture('/og/sale.png', named.port))
      // Nothing is drawn beyond the right edge of the texts.
      for (let y = 0; y < 630; y += 2) assert.deepEqual(at(1150, y), [0xf6, 0xf7, 0xfa], name)
    } finally {
      await named.close()
    }
  }
  const hosts = await Promise.all(
    ['節點銷售', 'عقد'].map(async (name) => {
      const named = await startService({ settings: { site: { ...site, brand: { ...brand, name } } } })
      try {
        return (await picture('/og/sale.png', named.port)).toString('latin1')
      } finally {
        await named.close()
      }
    }),
  )
  assert.equal(hosts[0], hosts[1], 'both say the host')
})
