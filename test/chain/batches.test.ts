// Batches through providers that take only small ones, or none, and say so in many ways: each call is answered, and the next batches are short.
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { silentLog } from '../../src/lib/log.ts'
import { type HttpAnswer, startFalseProvider } from './false-provider.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

interface Envelope {
  id: number
  method: string
}
const calls = Array.from({ length: 35 }, (_, index) => ({ method: `m${index}`, params: [] }))
const names = calls.map(({ method }) => method)

/** A provider that answers each call with its name, but answers requests of more than `most` calls with `refuse`. */
async function providerOf(most: number, refuse: (asked: Envelope[], most: number) => HttpAnswer | null | 'hangUp') {
  const proxy = await startFalseProvider()
  proxy.rule = ({ method }) => ({ result: method })
  const sizes: number[] = []
  proxy.http = (body) => {
    const asked: unknown = JSON.parse(body)
    if (!Array.isArray(asked)) return undefined
    sizes.push(asked.length)
    if (asked.length <= most) return undefined
    const refusal = refuse(asked as Envelope[], most)
    if (refusal !== 'hangUp') return refusal
    proxy.hangUp()
    return null
  }
  const rpc = createRpc({ urls: [proxy.url], log: silentLog, timeoutMs: 400, retryPauseMs: 1 })
  open.push(proxy, rpc)
  return { proxy, rpc, sizes }
}

const error = (code: number, message: string) => JSON.stringify({ id: null, jsonrpc: '2.0', error: { code, message } })
const answersTo = (asked: readonly Envelope[]) => asked.map(({ id, method }) => ({ id, result: method }))

const REFUSALS: Record<string, (asked: Envelope[], most: number) => HttpAnswer | null | 'hangUp'> = {
  'status 500 with error 31 (dRPC, 1RPC)': () => ({
    status: 500,
    body: error(31, 'Batch of more than 3 requests are not allowed on free tier'),
  }),
  'status 500 and nothing': () => ({ status: 500, body: '' }),
  'status 400 and text': () => ({ status: 400, body: 'too many calls' }),
  'status 403 and a page': () => ({ status: 403, body: '<html>denied</html>' }),
  'status 413': () => ({ status: 413, body: '' }),
  'status 429': () => ({ status: 429, body: '{}' }),
  'a closed socket': () => 'hangUp',
  'no answer': () => null,
  'one object': (asked) => ({ body: JSON.stringify(answersTo(asked)[0]) }),
  'one object with an error': () => ({ body: error(-32600, 'invalid request') }),
  'a rate limit for the whole': () => ({ body: error(-32005, 'rate limit exceeded') }),
  'fewer answers than calls': (asked, most) => ({ body: JSON.stringify(answersTo(asked.slice(0, most))) }),
  'a rate limit for each beyond': (asked, most) => ({
    body: JSON.stringify(
      answersTo(asked).map((one, at) =>
        at < most ? one : { id: one.id, error: { code: -32005, message: 'limit exceeded' } },
      ),
    ),
  }),
  'an empty list': () => ({ body: '[]' }),
}
for (const [sentence, refuse] of Object.entries(REFUSALS))
  for (const most of [1, 3, 10])
    test(`if batches of more than ${most} get ${sentence}, all calls succeed and later batches are shorter`, async () => {
      const { rpc, sizes } = await providerOf(most, refuse)
      assert.deepEqual(await rpc.requestAll(calls), names)
      sizes.length = 0
      assert.deepEqual(await rpc.requestAll(calls), names)
      assert.ok(
        sizes.every((size) => size <= most),
        `batches of ${sizes.join(', ')}`,
      )
    })

test('the size that one provider accepts is remembered for that one only', async () => {
  const [small, large] = [await providerOf(3, () => ({ status: 500, body: '' })), await providerOf(100, () => null)]
  const rpc = createRpc({ urls: [small.proxy.url, large.proxy.url], log: silentLog, timeoutMs: 400 })
  open.push(rpc)
  const [first, second] = rpc.providers
  assert.deepEqual(await first?.requestAll(calls), names)
  assert.deepEqual(await second?.requestAll(calls), names)
  assert.deepEqual(large.sizes, [35])
})

test('a halved size doubles after a minute, and each minute after that, up to the whole', async (t) => {
  const { proxy, rpc, sizes } = await providerOf(10, () => ({ status: 500, body: '' }))
  assert.deepEqual(await rpc.requestAll(calls), names)
  proxy.http = (body) => {
    const asked: unknown = JSON.parse(body)
    if (Array.isArray(asked)) sizes.push(asked.length)
    return undefined
  }
  const now = performance.now.bind(performance)
  const largest = async (laterMs: number) => {
    const clock = t.mock.method(performance, 'now', () => now() + laterMs)
    sizes.length = 0
    assert.deepEqual(await rpc.requestAll(calls), names)
    clock.mock.restore()
    return Math.max(...sizes)
  }
  const small = await largest(0)
  assert.ok(small <= 10)
  assert.equal(await largest(59_000), small)
  assert.equal(await largest(61_000), 2 * small)
  assert.equal(await largest(62_000), 2 * small)
  assert.equal(await largest(122_000), Math.min(35, 4 * small))
  assert.equal(await largest(600_000), 35)
})

test('a provider that is down is given up after one batch and one call, and keeps its size', async () => {
  const { proxy, rpc, sizes } = await providerOf(100, () => null)
  const { http } = proxy
  proxy.http = () => ({ status: 503, body: '' })
  await assert.rejects(rpc.requestAll(calls, { attempts: 1 }), /HTTP 503/)
  assert.equal(proxy.requests, 2)
  proxy.http = http
  assert.deepEqual(await rpc.requestAll(calls), names)
  assert.deepEqual(sizes, [35])
})

test('we wait once for a batch that hangs, then send no batch of that size', async (t) => {
  const { proxy, rpc, sizes } = await providerOf(3, () => null)
  // A clock on which 4 seconds pass in 1.5. Shorter waits last five times as long, because the machine may be busy.
  const [now, timeout] = [performance.now.bind(performance), AbortSignal.timeout.bind(AbortSignal)]
  const waits: number[] = []
  let ahead = 0
  t.mock.method(performance, 'now', () => now() + ahead)
  t.mock.method(AbortSignal, 'timeout', (ms: number) => {
    waits.push(ms)
    if (ms < 4_000) return timeout(ms * 5)
    const signal = timeout(1_500)
    signal.addEventListener('abort', () => (ahead += ms))
    return signal
  })
  assert.deepEqual(await rpc.requestAll(calls, { attempts: 1, timeoutMs: 4_000 }), names)
  const hung = sizes.filter((size) => size > 3)
  assert.equal(hung[0], 35)
  assert.equal(new Set(hung).size, hung.length, `batches of ${hung.join(', ')}`)
  assert.equal(waits.filter((ms) => ms === 1_000).length, hung.length)
  // It answers nothing any more, so no third request follows.
  proxy.http = () => null
  waits.length = 0
  await assert.rejects(rpc.requestAll(calls, { attempts: 1, timeoutMs: 4_000 }), /no answer in time/)
  assert.deepEqual(waits, [4_000, 1_000])
  // A batch that is refused at once did not use up any time.
  proxy.http = (body) => (body.startsWith('[') ? { status: 500, body: '' } : null)
  waits.length = 0
  await assert.rejects(rpc.requestAll(calls, { attempts: 1, timeoutMs: 4_000 }), /no answer in time/)
  assert.deepEqual(waits, [4_000, 4_000])
})

test('a provider that wants a pause after each batch gets shorter batches after it', async () => {
  const { rpc, sizes } = await providerOf(10, () => ({ status: 429, headers: { 'retry-after': '1' }, body: '{}' }))
  await assert.rejects(rpc.requestAll(calls, { attempts: 1 }))
  await assert.rejects(rpc.requestAll(calls, { attempts: 1 }), /asked us to pause/)
  assert.deepEqual(sizes, [35])
})

test('a rate limit that also meets a single call is reported, and causes no more calls', async () => {
  const { proxy, rpc } = await providerOf(0, () => ({ body: error(-32005, 'rate limit exceeded') }))
  proxy.rule = () => ({ error: { code: -32005, message: 'rate limit exceeded' } })
  await assert.rejects(rpc.requestAll(calls, { attempts: 1 }), /rate limit/)
  assert.equal(proxy.requests, 2)
})

test('a JSON-RPC error with a status of 500 or more is an answer, a gateway’s text is not', async () => {
  const { proxy, rpc } = await providerOf(100, () => null)
  for (const status of [500, 502, 503]) {
    proxy.http = () => ({ status, body: error(3, 'execution reverted') })
    const reply = await rpc.call('eth_call', [])
    assert.deepEqual(reply, { ok: false, error: { code: 3, message: 'execution reverted', data: null } })
    for (const body of ['{"error":"bad gateway"}', '{"message":"down"}', '[]', '{"result":"0x1","id":1}']) {
      proxy.http = () => ({ status, body })
      await assert.rejects(rpc.call('eth_call', [], { attempts: 1 }), { trouble: 'unreachable' }, `${status} ${body}`)
    }
  }
})

test('ids as text, bodies in gzip without the header, headers without gzip and a BOM are read', async () => {
  const { proxy, rpc } = await providerOf(100, () => null)
  const spellings: Record<string, (answer: object) => HttpAnswer> = {
    'a plain body': (answer) => ({ body: JSON.stringify(answer) }),
    'gzip without the header': (answer) => ({ body: gzipSync(JSON.stringify(answer)) }),
    'the header without gzip': (answer) => ({ headers: { 'content-encoding': 'gzip' }, body: JSON.stringify(answer) }),
    'the header in capitals': (answer) => ({
      headers: { 'content-encoding': 'GZIP' },
      body: gzipSync(JSON.stringify(answer)),
    }),
    'a BOM': (answer) => ({ body: `\uFEFF${JSON.stringify(answer)}` }),
  }
  for (const [name, spell] of Object.entries(spellings)) {
    const answerTo = ({ id, method }: Envelope) => ({ id: String(id), result: method })
    proxy.http = (body) => {
      const asked = JSON.parse(body) as Envelope | Envelope[]
      return spell(Array.isArray(asked) ? asked.map(answerTo) : answerTo(asked))
    }
    assert.equal(await rpc.request('m', []), 'm', name)
    assert.deepEqual(await rpc.requestAll(calls), names, name)
  }
  proxy.http = () => ({ headers: { 'content-encoding': 'br' }, body: Buffer.from([0x1b, 0x03]) })
  await assert.rejects(rpc.call('m', []), /not JSON, content-encoding br/)
  proxy.http = (body) => ({ body: JSON.stringify({ id: `${JSON.parse(body).id}0`, result: 1 }) })
  await assert.rejects(rpc.call('m', []), /another request/)
})
