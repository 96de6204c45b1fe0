// A provider that limits requests, and says for how long.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { silentLog } from '../../src/lib/log.ts'
import { RpcFault } from '../../src/ports/faults.ts'
import { type FalseProvider, startFalseProvider } from './false-provider.ts'

const open: { close(): Promise<void> }[] = []
after(async () => {
  for (const one of open.reverse()) await one.close()
})

/** A provider with this answer. */
async function provider(result: string): Promise<FalseProvider> {
  const proxy = await startFalseProvider()
  proxy.rule = () => ({ result })
  open.push(proxy)
  return proxy
}

function client(proxies: FalseProvider[]) {
  const rpc = createRpc({ urls: proxies.map(({ url }) => url), log: silentLog })
  open.push(rpc)
  return rpc
}

const isLimit = (error: unknown) => error instanceof RpcFault && error.trouble === 'limit'

test('a provider that wants a pause gets only sends while another provider answers', async () => {
  const [busy, other] = [await provider('0x1'), await provider('0x2')]
  let limits = 1
  busy.http = () => (limits-- > 0 ? { status: 429, headers: { 'retry-after': '30' }, body: '{}' } : undefined)
  const alone = client([busy])
  await assert.rejects(alone.request('eth_chainId', []), isLimit)
  const calls = [1, 2].map(() => ({ method: 'eth_chainId', params: [] }))
  await assert.rejects(alone.requestAll(calls), /pause for 30 s/)
  assert.equal(busy.requests, 1)
  assert.deepEqual(
    (await alone.sendToAll('eth_sendRawTransaction', ['0x00'])).map(({ ok }) => ok),
    [true],
  )
  limits = 1
  const both = client([busy, other])
  assert.equal(await both.request('eth_chainId', []), '0x2')
  assert.equal(busy.requests, 3)
  assert.equal(await both.request('eth_chainId', []), '0x2')
  assert.equal(busy.requests, 3)
})

test('a pause that is no number of seconds is none', async () => {
  const proxy = await provider('0x1')
  let limits = 1
  proxy.http = () => (limits-- > 0 ? { status: 429, headers: { 'retry-after': 'tomorrow' }, body: '{}' } : undefined)
  assert.equal(await client([proxy]).request('eth_chainId', []), '0x1')
})

test('a pause is a minute at most, however long the provider asks for', async () => {
  for (const [asked, granted] of [
    ['59', 59],
    ['60', 60],
    ['61', 60],
    ['86400', 60],
  ] as const) {
    const proxy = await provider('0x1')
    proxy.http = () => ({ status: 429, headers: { 'retry-after': asked }, body: '{}' })
    const client_ = client([proxy])
    await assert.rejects(client_.request('eth_chainId', []), isLimit)
    await assert.rejects(client_.request('eth_chainId', []), new RegExp(`pause for ${granted} s`))
  }
})
