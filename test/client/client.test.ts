// The client's handling of answers, and of missing ones. The server here is a plain HTTP server that answers as a test
// wants. The examples, which run against the service, show that real answers fit.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { createClient, followPayment, LedgerError, watchAddress, watchPayment } from '../../client/src/index.ts'
import { document } from '../support/http-contract.ts'
import { HANGING_MS, until } from '../support/until.ts'

interface Said {
  status: number
  body?: unknown
  headers?: Record<string, string | string[]>
}

let answers: (Said | 'reset' | 'silence')[] = []
/** Answers for these paths in place of `answers`. */
let apart: Record<string, Said> = {}
let asked: { method: string; url: string; headers: IncomingMessage['headers']; at: number }[] = []
const server = createServer((request, response) => {
  asked.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, at: performance.now() })
  const own = Object.entries(apart).find(([path]) => request.url?.startsWith(path))?.[1]
  const said = own ?? (answers.length > 1 ? answers.shift() : answers[0])
  request.resume()
  if (said === 'reset' || said === undefined) return void request.socket.destroy()
  if (said === 'silence') return
  response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers })
  response.end(
    typeof said.body === 'string' ? said.body : JSON.stringify(said.body ?? { error: `status ${said.status}` }),
  )
})
let baseUrl = ''
const retry = { attempts: 3, baseMs: 20, settleMs: 40 }
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close().closeAllConnections())
beforeEach(() => {
  asked = []
  apart = {}
})

/** Sets the server's answers, of which the last one repeats, and returns a client for it. */
function told(...said: typeof answers) {
  answers = said
  return createClient({ baseUrl, retry })
}
const refusal = (status: number | null, retryable: boolean) => (error: unknown) => {
  assert.ok(error instanceof LedgerError, String(error))
  assert.deepEqual({ status: error.status, retryable: error.retryable }, { status, retryable })
  return true
}

test('has a method for every operation of the document', () => {
  const methods = new Set(Object.keys(createClient({ baseUrl })))
  const operations = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>)
    .flatMap((path) => Object.values(path))
    .map(({ operationId }) => operationId)
    // The same route by another method.
    .filter((id) => id !== 'postNonce')
  assert.deepEqual(
    operations.filter((id) => !methods.has(id)),
    [],
  )
})

test('amounts are bigint, times are Date, and null stays null', async () => {
  const node = {
    id: 1,
    priceWei: '10000000000000000000000',
    mintedAt: '2026-01-02T03:04:05.000Z',
    lastCreditedAt: null,
  }
  const [got] = await told({ status: 200, body: [node] }).getNodesOfAddress('0x00')
  assert.equal(got?.priceWei, 10n ** 22n)
  assert.equal(got?.mintedAt?.toISOString(), '2026-01-02T03:04:05.000Z')
  assert.equal(got?.lastCreditedAt, null)
  const cover = await told({ status: 200, body: { surplusWei: '-5', isSolvent: null, checkedAt: null } }).getCover()
  assert.equal(cover.surplusWei, -5n)
  assert.equal(cover.isSolvent, null)
})

for (const status of [429, 500, 502, 503, 504]) {
  test(`${status} is retried until it is well`, async () => {
    const client = told({ status }, { status }, { status: 200, body: { usd: 1 } })
    assert.equal(await client.getPrice(), 1)
    assert.equal(asked.length, 3)
  })
}

for (const status of [400, 401, 403, 404]) {
  test(`${status} is never asked again`, async () => {
    await assert.rejects(told({ status, body: { error: 'No.' } }).getStats(), refusal(status, false))
    assert.equal(asked.length, 1)
  })
}

test('a lost connection is retried, and the error has no status if it stays lost', async () => {
  await assert.rejects(told('reset').getStats(), refusal(null, true))
  assert.equal(asked.length, 3)
  assert.equal(await told('reset', { status: 200, body: { usd: 2 } }).getPrice(), 2)
})

test('an answer that does not come is given up', async () => {
  answers = ['silence']
  const client = createClient({ baseUrl, retry, timeoutMs: 300 })
  await assert.rejects(client.getStats(), (error: Error) => /No answer within 300 ms/.test(error.message))
})

test('409 is retried after a longer pause', async () => {
  const client = told({ status: 409 }, { status: 200, body: { txHash: '0x01', status: 'seen' } })
  assert.equal((await client.claimPayment('0x01')).status, 'seen')
  const [first, second] = asked
  assert.ok(second && first && second.at - first.at >= retry.settleMs / 2 - 1)
})

test('the client retries an unconfirmed mint, but not a node that does not exist', async () => {
  const client = told({ status: 404 }, { status: 200, body: { created: true } })
  assert.equal((await client.syncNode({ txHash: '0x01' })).created, true)
  const [first, second] = asked
  assert.ok(second && first && second.at - first.at >= retry.settleMs / 2 - 1)
  await assert.rejects(told({ status: 404 }).syncNode({ txHash: '0x01' }), refusal(404, true))
  assert.equal(asked.length, 2 + retry.attempts)
  await assert.rejects(told({ status: 404 }).syncNode({ nodeId: 1 }), refusal(404, false))
  assert.equal(asked.length, 3 + retry.attempts)
})

test('it never retries sooner than retry-after, and not at all if that is too long', async () => {
  const client = told({ status: 429, headers: { 'retry-after': '1' } }, { status: 200, body: { usd: 3 } })
  await client.getPrice()
  const [first, second] = asked
  assert.ok(second && first && second.at - first.at >= 990)
  const late = told({ status: 429, headers: { 'retry-after': '3600' } })
  await assert.rejects(late.getPrice(), (error: LedgerError) => error.retryAfter === 3600)
  assert.equal(asked.length, 3)
})

test('a sign-in is not repeated when its answer is lost, but is when it was refused unseen', async () => {
  const signed = { address: '0x00', signature: '0x00' }
  await assert.rejects(told('reset').verifySignature(signed), refusal(null, true))
  assert.equal(asked.length, 1)
  await told({ status: 429 }, { status: 200, body: { address: '0x00' } }).verifySignature(signed)
  assert.equal(asked.length, 3)
})

test('getMe without a session is null, and every other fault is thrown', async () => {
  assert.equal(await told({ status: 401 }).getMe(), null)
  await assert.rejects(told({ status: 400 }).getMe(), refusal(400, false))
})

test('the client reports a server that is no Node Ledger', async () => {
  await assert.rejects(told({ status: 200, body: '<html>' }).getStats(), (error: Error) =>
    /not JSON/.test(error.message),
  )
  assert.throws(() => createClient({ baseUrl: 'ledger.example' }), /absolute URL/)
})

test('cookies are kept, sent, and dropped when cleared', async () => {
  const set = { 'set-cookie': ['nl_session=a.b=; Path=/; HttpOnly', 'nl_nonce=; Max-Age=0'] }
  const client = told({ status: 200, body: {}, headers: set }, { status: 200, body: {} })
  await client.getStats()
  await client.getStats()
  assert.equal(asked[1]?.headers.cookie, 'nl_session=a.b=')
  answers = [
    { status: 200, body: {}, headers: { 'set-cookie': ['nl_session=; Max-Age=0'] } },
    { status: 200, body: {} },
  ]
  await client.logout()
  await client.getStats()
  assert.equal(asked[3]?.headers.cookie, undefined)
})

test('a signal ends the request and the waits with its own reason', async () => {
  const reason = new Error('enough')
  const client = createClient({ baseUrl, retry: { ...retry, baseMs: 60_000 } })
  answers = [{ status: 503 }]
  const stop = new AbortController()
  const stopped = assert.rejects(client.getStats({ signal: stop.signal }), { name: 'TimeoutError' })
  // Wait for the request, because a late one would take the first answer of the next test.
  await until('the request has arrived', () => asked.length > 0, HANGING_MS, 5)
  stop.abort(new DOMException('late', 'TimeoutError'))
  await stopped
  await assert.rejects(client.getStats({ signal: AbortSignal.abort(reason) }), reason)
})

/** A service without streams. */
const SILENT: typeof apart = { '/api/events': { status: 404 }, '/api/payment/': { status: 404 } }

test('a payment is followed from unseen to its node', async () => {
  apart = SILENT
  const at = (status: string, nodeId: string | null = null) => ({ status: 200, body: { status, nodeId, reason: null } })
  const client = told({ status: 409 }, at('seen'), at('seen'), at('minting'), at('minted', '7'), {
    status: 200,
    body: { nodeId: '7' },
  })
  const states: string[] = []
  const { node } = await followPayment(client, '0x01', { pollMs: 5, onState: (state) => states.push(state) })
  assert.deepEqual(states, ['waiting', 'seen', 'minting', 'minted'])
  assert.equal(node?.nodeId, '7')
})

test('the client follows a payment by events, and waits if there is a limit', async () => {
  const paid = (status: string) => event('payment', { txHash: '0x01', status, nodeId: '7', reason: null })
  apart = {
    '/api/events': streamed(paid('minting'), current('one', ['0x01']), paid('minted'), current('two', ['0x01'])),
  }
  const seen = { status: 200, body: { status: 'seen', nodeId: null, reason: null } }
  const client = told(seen, { status: 200, body: { nodeId: '7' } })
  const states: string[] = []
  const { node } = await followPayment(client, '0x01', { pollMs: 60_000, onState: (state) => states.push(state) })
  assert.deepEqual([states.at(-1), node?.nodeId], ['minted', '7'])
  assert.equal(asked.filter(({ url }) => url === '/api/payments/claim').length, 1)
  apart = SILENT
  const limited = told(seen, { status: 429, headers: { 'retry-after': '1' } }, { status: 400 })
  asked = []
  const reported: string[] = []
  await assert.rejects(
    followPayment(limited, '0x01', { pollMs: 5, onState: (state) => reported.push(state) }),
    refusal(400, false),
  )
  // A rate limit says nothing about the payment.
  assert.deepEqual(reported, ['seen'])
  const claims = asked.filter(({ url }) => url === '/api/payments/claim')
  assert.ok((claims[2]?.at ?? 0) - (claims[1]?.at ?? 0) >= 990)
})

test('a rate limit that outlasts the deadline does not end the wait for an event', async () => {
  const paid = (status: string) => event('payment', { txHash: '0x01', status, nodeId: '7', reason: null })
  apart = { '/api/events': streamed(current('one', ['0x01']), paid('minted')) }
  const seen = { status: 200, body: { status: 'seen', nodeId: null, reason: null } }
  const node = { status: 200, body: { nodeId: '7' } }
  const followed = await followPayment(told({ status: 429, headers: { 'retry-after': '60' } }, node), '0x01', {
    timeoutMs: 10_000,
  })
  assert.equal(followed.node?.nodeId, '7')
  apart = SILENT
  const limited = told(seen, { status: 429, headers: { 'retry-after': '60' } })
  const startedAt = Date.now()
  await assert.rejects(followPayment(limited, '0x01', { pollMs: 5, timeoutMs: 300 }), /still "seen"/)
  assert.ok(Date.now() - startedAt >= 290)
})

test('a wait without a limit goes on, and one of no time still makes one claim', async () => {
  apart = SILENT
  const seen = { status: 200, body: { status: 'seen', nodeId: null, reason: null } }
  const held = { status: 200, body: { status: 'held', nodeId: null, reason: 'wrongAmount' } }
  const states: string[] = []
  const { payment } = await followPayment(told(seen, held), '0x01', {
    ...{ pollMs: 5, timeoutMs: Number.POSITIVE_INFINITY },
    onState: (state) => states.push(state),
  })
  assert.deepEqual([payment.reason, states], ['wrongAmount', ['seen', 'held']])
  const once = await followPayment(told(held), '0x01', { timeoutMs: 0 })
  assert.equal(once.payment.reason, 'wrongAmount')
})

test('a held payment has no node and a reason, and a timeout shows what to do', async () => {
  apart = SILENT
  const held = { status: 200, body: { status: 'held', nodeId: null, reason: 'wrongAmount' } }
  const { node, payment } = await followPayment(told(held), '0x01')
  assert.deepEqual({ node, reason: payment.reason }, { node: null, reason: 'wrongAmount' })
  const slow = told({ status: 200, body: { status: 'accepted', nodeId: null } })
  await assert.rejects(followPayment(slow, '0xabc', { pollMs: 5, timeoutMs: 30 }), /0xabc is still "accepted"/)
  await assert.rejects(followPayment(told({ status: 400 }), '0x01'), refusal(400, false))
})

const event = (name: string, data: unknown, id?: string) =>
  `${id ? `id: ${id}\n` : ''}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`
const current = (id: string, payments: string[]) => event('current', { payments, nodes: [] }, id)
/** A stream that sends all of this and ends. */
const streamed = (...events: string[]): Said => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body: `retry: 1\n\n:\n\n${events.join('')}`,
})

test('a watch survives a broken stream, keeps its state, and drops what a reorg removed', async () => {
  const paid = (status: string) => event('payment', { txHash: '0x01', status, valueWei: '5' })
  const ledger = told(
    streamed(paid('seen'), current('one', ['0x01']), event('unheardOf', {}), paid('held'), current('two', ['0x01'])),
    { status: 200, body: { txHash: '0x01', status: 'held', valueWei: '5' } },
    streamed(current('three', [])),
    { status: 404 },
  )
  const states: unknown[] = []
  for await (const payment of watchPayment(ledger, '0x01')) {
    states.push(payment && [payment.status, payment.valueWei])
    if (payment === null) break
  }
  assert.deepEqual(states, [['seen', 5n], ['held', 5n], null])
  assert.deepEqual(
    asked.map(({ url, headers }) => [url, headers['last-event-id'] ?? null]),
    [
      ['/api/events?payment=0x01', null],
      ['/api/payment/0x01', null],
      ['/api/events?payment=0x01', 'two'],
    ],
  )
})

test('a watch polls if there is no stream, and throws a permanent refusal', async () => {
  const lives: boolean[] = []
  const stop = new AbortController()
  apart = {
    '/api/events': { status: 429, headers: { 'retry-after': '1' } },
    '/api/payments/': { status: 200, body: [] },
    '/api/nodes/': { status: 200, body: [{ nodeId: '1' }] },
  }
  const ledger = createClient({ baseUrl, retry })
  const options = { pollMs: 20, signal: stop.signal, onLive: (isLive: boolean) => void lives.push(isLive) }
  for await (const { payments, nodes } of watchAddress(ledger, '0x02', options)) {
    assert.deepEqual([payments, nodes], [[], [{ nodeId: '1' }]])
    stop.abort()
  }
  assert.deepEqual(lives, [false])
  apart = {}
  await assert.rejects(watchPayment(told({ status: 400 }), 'nonsense').next(), refusal(400, false))
})
