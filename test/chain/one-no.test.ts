// One provider's no about the contract, beside an honest provider: what the passes read is the widest limit that any provider names.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createContractReader } from '../../src/chain/read/contract.ts'
import { createRpc } from '../../src/chain/rpc/rpc.ts'
import { wei } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { word } from '../evidence/rules.ts'
import { startWorld, type World } from '../support/world.ts'
import { type FalseProvider, startFalseProvider } from './false-provider.ts'

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

test('a cap, a budget, bounds or a pause that only the first provider tells stops nothing', async () => {
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

test('a balance is asked of the next provider, if the first gives no proof', async () => {
  await world.settle()
  liar.rule = async ({ method }, forward) => {
    if (method === 'eth_getBalance') return { result: '0x1' }
    const answer = await forward()
    if (method !== 'eth_getProof' || !('result' in answer)) return answer
    return { result: { ...(answer.result as object), accountProof: [] } }
  }
  const { createChainReader } = await import('../../src/chain/read/reader.ts')
  const rpc = createRpc({ urls: [liar.url, world.chain.rpcUrl], log: silentLog })
  const reader = createChainReader(rpc, { factory: world.factory, signers: [], wallets: [] } as never)
  const { number, hash } = await world.chain.block()
  const found = await reader.balanceAt(world.at(5), { number: Number(number), hash: hash as never })
  assert.equal(found?.proof, 'proven')
  assert.ok((found?.wei ?? 0n) > 1n)
  await rpc.close()
})
