// One provider's no about the contract, beside an honest provider: what the passes read is the widest limit that any provider names.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { createRpc, type RpcOptions } from '../../src/chain/rpc/rpc.ts'
import { wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { RpcFault } from '../../src/ports/faults.ts'
import { word } from '../evidence/rules.ts'
import { startWorld, type World } from '../support/world.ts'
import { type Answer, type FalseProvider, startFalseProvider } from './false-provider.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const part of open.splice(0)) await part.close()
})

let world: World
let liar: FalseProvider
before(async () => {
  world = await startWorld()
  liar = await startFalseProvider(world.chain.rpcUrl)
})
after(async () => {
  await liar.close()
  await world.close()
})

test('a cap, budget, bounds or pause that only the first provider reports stops nothing', async () => {
  const rpc = createRpc({ urls: [liar.url, world.chain.rpcUrl], log: silentLog })
  const contract = createContractReader(rpc, world.factory)
  const at = Number((await world.chain.block()).number)
  const read = async () => {
    const [most, { nodes, cohorts }, bounds] = [
      await contract.maxPerWallet(),
      await contract.budget(at),
      await contract.bounds(at),
    ]
    return { most, nodes, cohorts, ...bounds, isPaused: await contract.paused(at) }
  }
  const honest = await read()
  assert.ok(
    honest.most > 0 && honest.nodes > 0 && honest.cohorts > 0 && !honest.isPaused && honest.ceilingWei > wei(0n),
  )
  const none = () => 0n
  const lies = [word('budget', none), word('budget', none, 1), word('bounds', () => 2n ** 40n), word('bounds', none, 1)]
  const rest = [word('maxPerWallet', none), word('paused', () => 1n)]
  for (const lie of [...lies, ...rest]) {
    liar.rule = lie({ chain: world.chain } as never)
    assert.deepEqual(await read(), honest)
  }
  // A pause of both holds.
  await rpc.close()
  const alone = createRpc({ urls: [liar.url, liar.url], log: silentLog })
  assert.equal(await createContractReader(alone, world.factory).paused(at), true)
  await alone.close()
})

test('if the first provider gives no proof of a balance, the next one is tried', async () => {
  await world.settle()
  liar.rule = async ({ method }, forward) => {
    if (method === 'eth_getBalance') return { result: '0x1' }
    const answer = await forward()
    if (method !== 'eth_getProof' || !('result' in answer)) return answer
    return { result: { ...(answer.result as object), accountProof: [] } }
  }
  const { createChainReader } = await import('../../src/chain/evidence/reader.ts')
  const rpc = createRpc({ urls: [liar.url, world.chain.rpcUrl], log: silentLog })
  const reader = createChainReader(rpc, { factory: world.factory, signers: [], wallets: [] } as never)
  const { number, hash } = await world.chain.block()
  const found = await reader.balanceAt(world.at(5), { number: Number(number), hash: hash as never })
  assert.equal(found?.proof, 'proven')
  assert.ok((found?.wei ?? 0n) > 1n)
  await rpc.close()
})

async function provider(rule: () => Answer | undefined = () => undefined): Promise<FalseProvider> {
  const proxy = await startFalseProvider()
  proxy.rule = rule
  open.push(proxy)
  return proxy
}

function client(proxies: FalseProvider[], options: Partial<RpcOptions> = {}) {
  const rpc = createRpc({ urls: proxies.map(({ url }) => url), log: silentLog, timeoutMs: 1_000, ...options })
  open.push(rpc)
  return rpc
}

test('an impossible figure counts as malformed, and another provider is tried', async () => {
  const absurd: [method: string, result: unknown][] = [
    ['eth_getTransactionCount', `0x${'f'.repeat(64)}`],
    ['eth_estimateGas', '0x8000000000000000'],
    ['eth_getBalance', '-0x1'],
    ['eth_getBalance', 7],
    ['eth_blockNumber', '0X7'],
    ['eth_getLogs', [{}]],
  ]
  for (const [method, result] of absurd) {
    const [first, second] = [await provider(() => ({ result })), await provider()]
    second.rule = () => ({ result: method === 'eth_getLogs' ? [] : '0x7' })
    const outcomes: string[] = []
    const rpc = client([first, second], { observe: ({ outcome }) => outcomes.push(outcome) })
    assert.deepEqual(await rpc.request(method, []), method === 'eth_getLogs' ? [] : '0x7', method)
    assert.deepEqual(outcomes, ['malformed', 'ok'], method)
  }
})

test('if an answer is too large, another provider is tried, and an only one not again', async () => {
  const [first, second] = [await provider(() => ({ result: `0x${'00'.repeat(2_000)}` })), await provider()]
  second.rule = () => ({ result: '0x7' })
  assert.equal(await client([first, second]).request('eth_getCode', [], { bytesMax: 1_000 }), '0x7')
  const fault = await client([first])
    .request('eth_getCode', [], { bytesMax: 1_000 })
    .catch((error: unknown) => error)
  assert.ok(fault instanceof RpcFault)
  assert.deepEqual([fault.trouble, first.requests], ['tooLarge', 2])
})
