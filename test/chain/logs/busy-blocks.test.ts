// A range of blocks on a busy chain, whose blooms exclude nothing: for which blocks we fetch logs, and that we miss none.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { createFactoryStates } from '../../../src/chain/evidence/logs/storage-root.ts'
import { createChainReader } from '../../../src/chain/evidence/reader.ts'
import type { FailedProof } from '../../../src/domain/observed.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import type { BlockRef } from '../../../src/ports/chain.ts'
import { ChainFault } from '../../../src/ports/faults.ts'
import { FOREVER } from '../../support/factory.ts'
import type { Call, Rule } from '../false-provider.ts'
import { type Stage, startStage } from '../stage.ts'

/** Two contracts that own nodes, and forward their calldata to the factory: CALL(gas, factory, 0, 0, calldatasize, 0, 0). */
const [ONE, OTHER] = ['0x00000000000000000000000000000000000f0f0a', '0x00000000000000000000000000000000000f0f0b'] as [
  Address,
  Address,
]
const transferAbi = parseAbi(['function transferFrom(address from, address to, uint256 id)'])
const sweepAbi = parseAbi(['function sweep(address to, uint256 amount)'])

let stage: Stage
before(async () => {
  stage = await startStage()
  const { minter } = stage
  for (const owner of [ONE, OTHER])
    await stage.chain.rpc('anvil_setCode', [owner, `0x36600060003760006000366000600073${stage.factory.slice(2)}5af100`])
  const firstDue = (await stage.head()).time + 1_000
  const openings = [{ tierNo: 2, firstDue, intervalSec: 600 }]
  await stage.send(minter, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
  const orders = [{ to: ONE, cohort: 1, ref: `0x${'a'.repeat(64)}` as Hash }]
  await stage.send(minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
})
after(() => stage.close())

/** The first node moves from one contract to the other, by an internal call that no transaction's recipient shows. */
async function handOver(from: Address, to: Address): Promise<void> {
  const data = encodeFunctionData({ abi: transferAbi, functionName: 'transferFrom', args: [from, to, 1n] })
  await stage.chain.send({ from: stage.at(8), to: from, data, gas: '0x80000' })
}

/** A busy chain's blocks: their blooms say "perhaps" to everything. */
const busy: Rule = async ({ method }, forward) => {
  if (method !== 'eth_getBlockByNumber') return undefined
  const answer = await forward()
  return 'result' in answer ? { result: { ...(answer.result as object), logsBloom: `0x${'ff'.repeat(256)}` } } : answer
}

/** The cost of a range of five blocks on a busy chain, if the provider answers by `rule`: its events, and calls by method. */
async function observedBusy(rule: Rule, act: () => Promise<unknown> = async () => {}) {
  const before = await stage.head()
  await act()
  await stage.chain.mine(5)
  const { rpc, provider } = await stage.behind()
  provider.rule = async (call, forward) => (await rule(call, forward)) ?? busy(call, forward)
  const range = await createChainReader(rpc, stage.watched).observe(before.number + 1, before.number + 5, before.hash)
  const asked = (method: string, where: (call: Call) => boolean = () => true) =>
    provider.seen.filter((call) => call.method === method && where(call)).length
  const isByHash = ({ params }: Call) => 'blockHash' in (params[0] as object)
  return {
    events: range.events.map(({ kind }) => kind),
    byHash: asked('eth_getLogs', isByHash),
    byRange: asked('eth_getLogs', (call) => !isByHash(call)),
    proofs: asked('eth_getProof'),
  }
}

test('blocks of a busy chain are not asked one by one while the factory’s storage stays the same', async () => {
  const quiet = await observedBusy(() => undefined)
  assert.deepEqual(quiet, { events: [], byHash: 0, byRange: 1, proofs: 2 })
})

test('blocks whose header has other blocks’ bloom are read by their logs, not by the bloom', async () => {
  const settling: Rule = async ({ method }, forward) => {
    const answer = await forward()
    if (method !== 'eth_getBlockByNumber' || !('result' in answer)) return answer
    return {
      result: {
        ...(answer.result as object),
        extDataHash: `0x${'0'.repeat(64)}`,
        settledHeight: '0x1',
        logsBloom: `0x${'0'.repeat(511)}1`,
      },
    }
  }
  assert.deepEqual((await observedBusy(settling, () => handOver(ONE, OTHER))).events, ['transfer'])
})

test('a storage that one provider reports as unchanged counts only if the headers prove it', async () => {
  const earlier = await stage.head()
  await handOver(OTHER, ONE)
  await stage.chain.mine(2)
  const changed = await stage.head()
  await stage.chain.mine(2)
  const later = await stage.head()
  const { rpc, provider } = await stage.behind()
  const failed: FailedProof[] = []
  const soundness = { mode: 'proven' as const, chainId: null, failed, voices: [rpc] }
  const compare = (...[before, after]: [BlockRef, BlockRef]) =>
    createFactoryStates(rpc, stage.factory, soundness).compare(before, after)
  assert.deepEqual([await compare(changed, later), await compare(earlier, changed)], ['quiet', 'moved'])
  provider.rule = async ({ method, params }) =>
    method === 'eth_getProof'
      ? { result: await stage.chain.rpc(method, [...params.slice(0, -1), { blockHash: earlier.hash }]) }
      : undefined
  assert.equal(await compare(earlier, changed), null)
  assert.deepEqual(
    [failed.length, failed[0]?.part, failed[0]?.blockNumber],
    [1, 'state', changed.number],
    'it is reported',
  )
})

test('if the factory’s storage changed, or no provider proves it, blocks are read one by one', async () => {
  const transfer = () => handOver(ONE, OTHER)
  const back = () => handOver(OTHER, ONE)
  const lagging: Rule = ({ method, params }) =>
    method === 'eth_getLogs' && !('blockHash' in (params[0] as object)) ? { result: [] } : undefined
  assert.deepEqual((await observedBusy(lagging, transfer)).events, ['transfer'])
  const noProof: Rule = ({ method }) =>
    method === 'eth_getProof'
      ? { error: { code: -32601, message: 'the method eth_getProof does not exist' } }
      : undefined
  const one = await observedBusy((call, forward) => noProof(call, forward) ?? lagging(call, forward), back)
  assert.deepEqual(one.events, ['transfer'])
  assert.equal(one.byHash, 5)
})

test('after an invalid proof, or one without storage, blocks are read one by one', async () => {
  const hex = (digits: string) => `0x${digits.repeat(64)}`
  const proofs: unknown[] = [
    ...[
      null,
      [],
      7,
      {},
      { storageHash: null },
      { storageHash: '0x' },
      { storageHash: 1 },
      { storageHash: 'x'.repeat(1_000_000) },
    ],
    { storageHash: hex('0'), balance: '0x0' },
    { storageHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421', balance: '0x0' },
    { storageHash: hex('1') },
    { storageHash: hex('1'), balance: '' },
  ]
  let [from, to] = [ONE, OTHER]
  for (const result of proofs) {
    const rule: Rule = ({ method, params }) => {
      if (method === 'eth_getProof') return { result }
      return method === 'eth_getLogs' && !('blockHash' in (params[0] as object)) ? { result: [] } : undefined
    }
    const { events } = await observedBusy(rule, () => handOver(from, to))
    assert.deepEqual(events, ['transfer'], JSON.stringify(result)?.slice(0, 80))
    ;[from, to] = [to, from]
  }
})

const toAndFro = async () => {
  await handOver(ONE, OTHER)
  await stage.chain.mine()
  await handOver(OTHER, ONE)
}
const isOfRange = ({ method, params }: Call) => method === 'eth_getLogs' && !('blockHash' in (params[0] as object))

test('a change that undoes itself within a range is seen by its logs, not by the storage', async () => {
  assert.deepEqual((await observedBusy(() => undefined, toAndFro)).events, ['transfer', 'transfer'])
})

test('a sweep and ether for the factory change no storage, and are found by its balance', async () => {
  const owner = stage.at(0)
  // The owner's account calls as a contract does, which no transaction's recipient shows.
  await stage.chain.rpc('anvil_setCode', [owner, `0x36600060003760006000366000600073${stage.factory.slice(2)}5af100`])
  const data = encodeFunctionData({ abi: sweepAbi, functionName: 'sweep', args: [stage.at(9), 5n] })
  const rangeLacks: Rule = (call) => (isOfRange(call) ? { result: [] } : undefined)
  // A contract that sends its ether on: CALL(gas, factory, callvalue, 0, 0, 0, 0).
  const sender = `0x${'0e'.repeat(20)}` as Address
  await stage.chain.rpc('anvil_setCode', [sender, `0x60006000600060003473${stage.factory.slice(2)}5af100`])
  const ether = { from: stage.at(8), to: sender, value: '0x3e8', gas: '0x80000' } as const
  const arriving = await observedBusy(rangeLacks, () => stage.chain.send(ether))
  assert.deepEqual([arriving.events, arriving.byHash], [['ownerAct'], 5])
  const sweep = { from: stage.at(8), to: owner, data, gas: '0x80000' } as const
  const swept = await observedBusy(rangeLacks, () => stage.chain.send(sweep))
  assert.deepEqual([swept.events, swept.byHash], [['ownerAct'], 5])
  await stage.chain.rpc('anvil_setCode', [owner, '0x'])
})

test('if a node lacks a block when we query it by hash, we reject the range', async () => {
  const { number, hash } = await stage.head()
  await handOver(ONE, OTHER)
  await stage.chain.mine(5)
  const { rpc, provider } = await stage.behind()
  const reader = createChainReader(rpc, stage.watched)
  const lagging: Rule = (call) => {
    if (call.method !== 'eth_getLogs') return undefined
    return isOfRange(call) ? { result: [] } : { error: { code: -32000, message: 'unknown block' } }
  }
  provider.rule = async (call, forward) => (await lagging(call, forward)) ?? busy(call, forward)
  await assert.rejects(
    reader.observe(number + 1, number + 5, hash),
    (fault) => fault instanceof ChainFault && fault.retryable,
  )
  provider.rule = busy
  const { events } = await reader.observe(number + 1, number + 5, hash)
  assert.deepEqual(
    events.map(({ kind }) => kind),
    ['transfer'],
  )
  await handOver(OTHER, ONE)
  await stage.chain.mine()
})

test('a transaction of ours has its block asked, since a mint that skips all changes no storage', async () => {
  const { byHash } = await observedBusy(
    () => undefined,
    () => stage.act(5, 'transferFrom', [stage.at(6), stage.at(5), 999n]),
  )
  assert.equal(byHash, 1)
})
