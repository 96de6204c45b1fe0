// The JSON-RPC client against providers that lie, stall, flood and refuse.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { createRpc, type RpcOptions, splitRpcUrls } from '../../src/chain/rpc/rpc.ts'
import { silentLog } from '../../src/lib/log.ts'
import { RpcFault, type RpcTrouble } from '../../src/ports/faults.ts'
import { type Answer, type FalseProvider, startFalseProvider } from './false-provider.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

async function provider(
  rule: (method: string) => Answer | undefined = () => ({ result: '0x1' }),
): Promise<FalseProvider> {
  const proxy = await startFalseProvider()
  proxy.rule = ({ method }) => rule(method)
  open.push(proxy)
  return proxy
}

function client(proxies: FalseProvider[], options: Partial<RpcOptions> = {}) {
  const rpc = createRpc({ urls: proxies.map((proxy) => proxy.url), log: silentLog, timeoutMs: 1_000, ...options })
  open.push(rpc)
  return rpc
}

async function faultOf(promise: Promise<unknown>): Promise<RpcFault> {
  const error = await promise.then(
    () => assert.fail('expected a fault'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof RpcFault, String(error))
  assert.equal(error.retryable, true)
  return error
}

const bodies: [
  sentence: string,
  status: number,
  body: string | Buffer,
  kind: RpcTrouble,
  headers?: Record<string, string>,
][] = [
  ['HTML with status 200 is not an answer', 200, '<html>busy</html>', 'garbled'],
  ['HTML with status 502 is no answer', 502, '<html>bad gateway</html>', 'unreachable'],
  ['nor is a page with status 503 that has no end', 503, Buffer.alloc(5_000, 32), 'unreachable'],
  ['status 429 asks to slow down', 429, '{}', 'limit'],
  ['status 403 is a refusal', 403, '{"message":"forbidden"}', 'refused'],
  ['a redirect is not followed', 302, '', 'refused', { location: 'http://127.0.0.1:1/' }],
  ['an empty body is no answer', 200, '', 'garbled'],
  ['an array is no answer to one question', 200, '[]', 'garbled'],
  ['an answer to another question is not taken', 200, '{"jsonrpc":"2.0","id":999,"result":"0x1"}', 'garbled'],
  ['an answer without an id is not taken', 200, '{"jsonrpc":"2.0","result":"0x1"}', 'garbled'],
  ['an answer larger than the bound is not read', 200, Buffer.alloc(5_000, 32), 'tooLarge'],
  [
    'an answer that inflates beyond the bound is not read',
    200,
    gzipSync(Buffer.alloc(1_000_000, 32)),
    'tooLarge',
    { 'content-encoding': 'gzip' },
  ],
]
for (const [sentence, status, body, kind, headers] of bodies) {
  test(sentence, async () => {
    const proxy = await provider()
    proxy.http = () => ({ status, body, ...(headers ? { headers } : {}) })
    const fault = await faultOf(client([proxy], { replyBytesMax: 4_096 }).request('eth_chainId', []))
    assert.equal(fault.trouble, kind)
  })
}

test('a compressed answer within the bound is read', async () => {
  const proxy = await provider()
  proxy.http = (body) => {
    const { id } = JSON.parse(body)
    return { headers: { 'content-encoding': 'gzip' }, body: gzipSync(JSON.stringify({ id, result: '0x7' })) }
  }
  assert.equal(await client([proxy]).request('eth_chainId', []), '0x7')
})

test('a JSON-RPC error is an answer, with its code, text and data', async () => {
  const error = { code: 3, message: 'execution reverted', data: '0x12345678' }
  const proxy = await provider(() => ({ error }))
  assert.deepEqual(await client([proxy]).call('eth_call', []), { ok: false, error })
  assert.equal(proxy.requests, 1)
})

test('a JSON-RPC error under an HTTP error status is read all the same', async () => {
  const proxy = await provider()
  proxy.http = () => ({ status: 400, body: '{"id":null,"error":{"code":-32602,"message":"bad"}}' })
  const reply = await client([proxy]).call('eth_call', [])
  assert.deepEqual(reply, { ok: false, error: { code: -32602, message: 'bad', data: null } })
})

test('a provider that never answers is given up in time', async () => {
  const proxy = await provider()
  proxy.http = () => null
  const began = performance.now()
  const fault = await faultOf(client([proxy]).request('eth_chainId', [], { timeoutMs: 200, attempts: 1 }))
  assert.equal(fault.trouble, 'unreachable')
  assert.ok(performance.now() - began < 600)
})

test('a send that misses its time is given up, and never sent', async () => {
  const begin: (() => void)[] = []
  const aborted: unknown[] = []
  // Like a pool that cannot connect.
  const dispatcher = { destroy: async () => {} } as Dispatcher
  dispatcher.dispatch = (_, handler) => {
    const controller = {
      abort: (reason: Error) => aborted.push(reason.name),
    } as unknown as Dispatcher.DispatchController
    begin.push(() => handler.onRequestStart?.(controller, {}))
    return false
  }
  const rpc = client([await provider()], { dispatcherFor: () => dispatcher })
  const fault = await faultOf(rpc.request('eth_chainId', [], { timeoutMs: 50, attempts: 1 }))
  assert.match(fault.message, /no answer in time/)
  for (const late of begin) late()
  assert.deepEqual(aborted, ['TimeoutError'])
})

test('a provider that hangs once is tried again, and a send does not wait the usual time for it', {
  timeout: 30_000,
}, async () => {
  const proxies = [await provider(), await provider()]
  for (const proxy of proxies) proxy.http = () => (proxy.requests === 1 ? null : undefined)
  const [first, second] = proxies.map(({ url }) => createRpc({ urls: [url], log: silentLog }))
  const [read, [sent]] = await Promise.all([
    first?.request('eth_chainId', []),
    second?.sendToAll('eth_sendRawTransaction', ['0x00']) ?? [],
  ])
  assert.equal(read, '0x1')
  assert.equal(sent?.ok, null)
  assert.deepEqual(
    proxies.map((proxy) => proxy.requests),
    [2, 1],
  )
})

test('a read rides out one broken answer', async () => {
  const proxy = await provider()
  proxy.http = () => (proxy.requests === 1 ? { status: 503, body: '' } : undefined)
  assert.equal(await client([proxy]).request('eth_chainId', []), '0x1')
})

test('a read continues at the next provider, and the one that failed rests', async () => {
  const [first, second] = [await provider(), await provider(() => ({ result: '0x2' }))]
  first.http = () => ({ status: 500, body: '' })
  const rpc = client([first, second])
  assert.equal(await rpc.request('eth_chainId', []), '0x2')
  assert.equal(await rpc.request('eth_chainId', []), '0x2')
  assert.equal(first.requests, 1)
})

const ZEROS = `0x${'0'.repeat(64)}`
const HEADER = { number: '0x7', hash: ZEROS, parentHash: ZEROS, timestamp: '0x1' }

test('a null or a wrong kind of result goes to another provider, alone and in a batch', async () => {
  const [first, second] = [await provider(), await provider()]
  const rpc = client([first, second])
  const call = { method: 'eth_getBlockByNumber', params: [] }
  for (const odd of [null, '0x2', [], 7, { ...HEADER, number: '0X2' }, { ...HEADER, hash: '0x2' }]) {
    first.rule = () => ({ result: odd })
    second.rule = () => ({ result: HEADER })
    assert.deepEqual(await rpc.request(call.method, []), HEADER)
    // Each provider lacks one of both.
    first.rule = ({ params }) => ({ result: params[0] === 1 ? odd : HEADER })
    second.rule = ({ params }) => ({ result: params[0] === 2 ? odd : HEADER })
    assert.deepEqual(await rpc.requestAll([1, 2].map((at) => ({ ...call, params: [at] }))), [HEADER, HEADER])
    // If no provider knows better, that is the answer, not a fault.
    for (const one of [first, second]) one.rule = () => ({ result: odd })
    assert.deepEqual(await rpc.request(call.method, []), odd)
  }
})

test('a call that one provider finds invalid goes to the next one', async () => {
  const invalid = { error: { code: -32602, message: 'invalid argument 1: hex string expected' } }
  const [first, second] = [await provider(() => invalid), await provider(() => ({ result: '0x2' }))]
  const rpc = client([first, second])
  assert.equal(await rpc.request('eth_getBalance', []), '0x2')
  assert.deepEqual(await rpc.requestAll([{ method: 'eth_getBalance', params: [] }]), ['0x2'])
})

test('the only provider is tried again only if one of its nodes may just lack the block', async () => {
  const cases: [method: string, first: Answer, asked: number][] = [
    ['eth_call', { error: { code: -32000, message: 'header not found' } }, 2],
    ['eth_call', { error: { code: -32001, message: 'block 0x7 was not found' } }, 2],
    ['eth_call', { error: { code: -32603, message: 'internal error' } }, 2],
    ['eth_getBlockByNumber', { result: null }, 2],
    ['eth_call', { error: { code: -32601, message: 'the method does not exist' } }, 1],
    ['eth_call', { error: { code: -32602, message: 'invalid argument 1' } }, 1],
    ['eth_getTransactionByHash', { result: null }, 1],
  ]
  for (const [method, first, asked] of cases) {
    const one = await provider()
    one.rule = () => (one.seen.length === 1 ? first : { result: method === 'eth_call' ? '0x' : HEADER })
    const reply = await client([one]).call(method, [])
    assert.deepEqual([one.seen.length, reply.ok && reply.result !== null], [asked, asked === 2], method)
  }
})

test('a revert is the contract’s once each provider reports it, and each is tried once', async () => {
  const reverts = () => provider(() => ({ error: { code: 3, message: 'execution reverted' } }))
  const [liar, honest] = [await reverts(), await provider(() => ({ result: '0x02' }))]
  assert.equal(await client([liar, honest]).request('eth_call', []), '0x02')
  assert.deepEqual(await client([liar, honest]).requestAll([{ method: 'eth_call', params: [] }]), ['0x02'])
  const [first, second] = [await reverts(), await reverts()]
  await faultOf(client([first, second]).request('eth_call', []))
  assert.deepEqual([first.requests, second.requests], [1, 1])
  const alone = await reverts()
  await assert.rejects(client([alone]).requestAll([{ method: 'eth_call', params: [] }]))
  assert.equal(alone.requests, 1)
})

test('a batch returns its answers in the order of its calls, in any order of arrival', async () => {
  const proxy = await provider()
  proxy.http = (body) => ({
    body: JSON.stringify(
      JSON.parse(body)
        .reverse()
        .map(({ id, method }: { id: number; method: string }) => ({ id, result: method })),
    ),
  })
  const calls = ['a', 'b', 'c'].map((method) => ({ method, params: [] }))
  assert.deepEqual(await client([proxy]).requestAll(calls), ['a', 'b', 'c'])
})

test('a batch whose answer would be too large is sent in pieces', async () => {
  const proxy = await provider(() => ({ result: 'x'.repeat(1_500) }))
  const results = await client([proxy], { replyBytesMax: 4_096 }).requestAll(
    Array.from({ length: 8 }, () => ({ method: 'm', params: [] })),
  )
  assert.equal(results.length, 8)
})

test('a call that failed only within its batch is sent alone', async () => {
  const proxy = await provider((method) => ({ result: method }))
  proxy.http = (body) => {
    const calls = JSON.parse(body)
    if (!Array.isArray(calls)) return undefined
    const answers = calls.map(({ id }: { id: number }, index: number) =>
      index === 0 ? { id, result: 'a' } : { id, error: { code: -32003, message: 'response too large' } },
    )
    return { body: JSON.stringify(answers) }
  }
  assert.deepEqual(await client([proxy]).requestAll(['a', 'b'].map((method) => ({ method, params: [] }))), ['a', 'b'])
})

test('a send goes to every provider exactly once, with any outcome', async () => {
  const proxies = [await provider(), await provider(), await provider(), await provider()]
  const [stalling, broken, refusing] = proxies as [FalseProvider, FalseProvider, FalseProvider, FalseProvider]
  stalling.http = () => null
  broken.http = () => ({ status: 502, body: '' })
  refusing.rule = () => ({ error: { code: -32000, message: 'nonce too low' } })
  const replies = await client(proxies, { timeoutMs: 300 }).sendToAll('eth_sendRawTransaction', ['0x00'])
  assert.deepEqual(
    replies.map((reply) => reply.ok),
    [null, null, false, true],
  )
  assert.deepEqual(
    proxies.map((proxy) => proxy.requests),
    [1, 1, 1, 1],
  )
})

test('no fault, error or host shows more of a URL than its host', async () => {
  const proxy = await provider(() => ({
    error: { code: -32000, message: 'key sEcReTkEy123 and passw0rd!! are unknown at /v2/sEcReTkEy123' },
  }))
  const { host } = new URL(proxy.url)
  const rpc = createRpc({
    urls: [`http://someuser1:passw0rd!!@${host}/v2/sEcReTkEy123?token=qUeRyKeY99`],
    log: silentLog,
  })
  open.push(rpc)
  const shown = [rpc.hosts.join(), (await faultOf(rpc.request('eth_chainId', []))).message]
  proxy.http = () => ({ status: 500, body: 'sEcReTkEy123' })
  shown.push((await faultOf(rpc.request('eth_chainId', []))).message)
  await proxy.close()
  shown.push((await faultOf(rpc.request('eth_chainId', []))).message)
  for (const text of shown) {
    assert.doesNotMatch(text, /sEcReT|qUeRy|passw0rd|someuser1/)
  }
  open.splice(open.indexOf(proxy), 1)
})

test('a password may have an @ or a percent sign, is sent as it is, and is not shown', async () => {
  const given: (string | undefined)[] = []
  for (const [written, password] of [
    ['p@ssw0rd%21!', 'p@ssw0rd!!'],
    ['100%sure,yes', '100%sure,yes'],
    ['p%40ssw0rd:%2F%23', 'p@ssw0rd:/#'],
  ] as const) {
    const server = createServer((request, response) => {
      given.push(request.headers.authorization)
      let text = ''
      request.on('data', (chunk) => {
        text += chunk
      })
      request.on('end', () => {
        const message = `who is someuser:${password}?`
        const refusal = (call: { id: unknown }) => ({ jsonrpc: '2.0', id: call.id, error: { code: -32000, message } })
        const calls = JSON.parse(text)
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(Array.isArray(calls) ? calls.map(refusal) : refusal(calls)))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const rpc = createRpc({ urls: [`http://someuser:${written}@127.0.0.1:${port}`], log: silentLog })
    const { message } = await faultOf(rpc.request('eth_chainId', []))
    assert.deepEqual(given.splice(0).slice(-1), [`Basic ${Buffer.from(`someuser:${password}`).toString('base64')}`])
    assert.ok(!message.includes(password) && !message.includes(written), message)
    await rpc.close()
    await new Promise((resolve) => server.close(resolve))
  }
})

test('no more than 16 requests are open at one provider', async () => {
  const proxy = await provider()
  let inside = 0
  let most = 0
  const full = Promise.withResolvers<void>()
  proxy.rule = async () => {
    most = Math.max(most, ++inside)
    if (inside === 16) full.resolve()
    await full.promise
    await new Promise((resolve) => setTimeout(resolve, 10))
    inside--
    return { result: '0x1' }
  }
  const rpc = client([proxy], { timeoutMs: 10_000 })
  await Promise.all(Array.from({ length: 60 }, () => rpc.request('eth_chainId', [])))
  assert.equal(most, 16)
})

test('several URLs are separated by commas; what is no http URL is refused without being shown', () => {
  assert.deepEqual(splitRpcUrls(' http://a , https://b,'), ['http://a', 'https://b'])
  assert.throws(
    () => createRpc({ urls: ['ftp://host/secretsecret'], log: silentLog }),
    (error: Error) => !error.message.includes('secret'),
  )
})

/** A provider whose head has a certain time, on a chain; it answers everything else with that time. */
const standing = (chainId: string, time: number) =>
  provider((method) => {
    if (method === 'eth_chainId') return { result: chainId }
    if (method !== 'eth_getBlockByNumber') return { result: time }
    const hash = `0x${'a'.repeat(64)}`
    const at = { number: '0x9', timestamp: `0x${time.toString(16)}`, hash, parentHash: hash, mixHash: hash }
    return { result: { ...at, logsBloom: `0x${'0'.repeat(512)}`, baseFeePerGas: '0x1' } }
  })

const heads: [sentence: string, others: [chainId: string, time: number][], asked: number][] = [
  ['a provider that lags far behind another one comes last', [['0x1', 1_031]], 1_031],
  ['a provider that lags a few blocks still comes first', [['0x1', 1_030]], 1_000],
  ['a provider on another chain proves no lag of the first', [['0x2', 9_000]], 1_000],
  [
    'of three the second comes first if the others lag',
    [
      ['0x1', 2_000],
      ['0x1', 1_500],
    ],
    2_000,
  ],
]
for (const [sentence, others, asked] of heads) {
  test(sentence, async () => {
    const proxies = [await standing('0x1', 1_000)]
    for (const [chainId, time] of others) proxies.push(await standing(chainId, time))
    const rpc = client(proxies)
    assert.equal(await rpc.request('eth_gasPrice', []), 1_000)
    await rpc.passOverLaggards()
    assert.equal(await rpc.request('eth_gasPrice', []), asked)
  })
}

test('a provider without a head keeps its place, and moves no other one', async () => {
  const silent = await provider((method) => (method === 'eth_gasPrice' ? { result: 1_000 } : { result: null }))
  for (const proxies of [
    [silent, await standing('0x1', 9_000)],
    [await standing('0x1', 1_000), silent],
  ]) {
    const rpc = client(proxies)
    await rpc.passOverLaggards()
    assert.equal(await rpc.request('eth_gasPrice', []), 1_000)
  }
})
