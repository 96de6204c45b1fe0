// A range of blocks on a busy chain, whose blooms rule nothing out: which of them are asked for their logs, and that none is missed.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData, parseAbi } from 'viem'
import { LateLogsFault } from '../../../src/chain/faults.ts'
import { createChainReader } from '../../../src/chain/read/reader.ts'
import type { Address, Hash } from '../../../src/domain/units.ts'
import { FOREVER } from '../../support/factory.ts'
import type { Call, Rule } from '../false-provider.ts'
import { type Stage, startStage } from '../stage.ts'

/** Two contracts that own nodes, and call the factory with what they are called with: CALL(gas, factory, 0, 0, calldatasize, 0, 0). */
const [ONE, OTHER] = ['0x00000000000000000000000000000000000f0f0a', '0x00000000000000000000000000000000000f0f0b'] as [
  Address,
  Address,
]
const transferAbi = parseAbi(['function transferFrom(address from, address to, uint256 id)'])

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

/** The first node goes from one contract to the other, by an internal call that no transaction's recipient shows. */
async function handOver(from: Address, to: Address): Promise<void> {
  const data = encodeFunctionData({ abi: transferAbi, functionName: 'transferFrom', args: [from, to, 1n] })
  await stage.chain.send({ from: stage.at(8), to: from, data, gas: '0x80000' })
}

/** Blocks as a busy chain has them: their blooms say "perhaps" to everything. */
const busy: Rule = async ({ method }, forward) => {
  if (method !== 'eth_getBlockByNumber') return undefined
  const answer = await forward()
  return 'result' in answer ? { result: { ...(answer.result as object), logsBloom: `0x${'ff'.repeat(256)}` } } : answer
}

/** The cost of a range of five blocks on a busy chain, as `rule` lets it be answered: its events, and calls by method. */
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

test('a change of the factory’s storage, and a provider without proofs, have them asked one by one', async () => {
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

test('a proof that is none, or of an account without storage, has them asked one by one', async () => {
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
    { storageHash: hex('0') },
    { storageHash: '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421' },
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

test('what comes and goes within a long range is found where a lagging node left it out at first', async () => {
  const { rpc, provider } = await stage.behind()
  const reader = createChainReader(rpc, stage.watched)
  const before = await stage.head()
  await stage.chain.mine(32)
  const { number, hash } = await stage.head()
  await reader.observe(before.number + 1, number, before.hash)
  await toAndFro()
  await stage.chain.mine(45)
  let asked = 0
  provider.rule = (call, forward) => (isOfRange(call) && asked++ === 0 ? { result: [] } : busy(call, forward))
  const range = await reader.observe(number + 1, (await stage.head()).number, hash)
  assert.deepEqual([range.blocks.length > 32, range.events.length], [true, 2])
})

/** A busy range in which a lagging node left out what came and went, and the next one, whose logs are as `rule` lets them be. */
async function afterLagging(rule: Rule) {
  const { number, hash } = await stage.head()
  await toAndFro()
  await stage.chain.mine(3)
  const { rpc, provider } = await stage.behind()
  const reader = createChainReader(rpc, stage.watched)
  provider.rule = async (call, forward) => (isOfRange(call) ? { result: [] } : busy(call, forward))
  const head = await stage.head()
  const { events } = await reader.observe(number + 1, head.number, hash)
  assert.deepEqual(events, [])
  await stage.chain.mine(3)
  provider.rule = async (call, forward) => (await rule(call, forward)) ?? busy(call, forward)
  provider.seen.length = 0
  const next = () => reader.observe(head.number + 1, head.number + 3, head.hash)
  return { first: number + 1, next, reader, parent: hash, asked: () => provider.seen.filter(isOfRange).length }
}

test('what came and went within a short range is found with the next one, and the range is observed again with it', async () => {
  const { first, next, reader, parent, asked } = await afterLagging(() => undefined)
  await assert.rejects(next, (error) => error instanceof LateLogsFault && error.block === first)
  assert.equal(asked(), 1, 'by the question that the next range takes anyhow')
  assert.deepEqual(
    (await reader.observe(first, first + 5, parent)).events.map(({ kind }) => kind),
    ['transfer', 'transfer'],
  )
  assert.deepEqual((await next()).events, [])
})

test('a late log that the block itself does not have is none', async () => {
  const { next } = await afterLagging(async (call, forward) =>
    isOfRange(call) ? forward() : call.method === 'eth_getLogs' ? { result: [] } : undefined,
  )
  assert.deepEqual((await next()).events, [])
})

test('a provider that takes no longer ranges is asked for the blocks before by themselves', async () => {
  const limit: Rule = (call) => {
    if (!isOfRange(call)) return undefined
    const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
    const span = Number(toBlock) - Number(fromBlock) + 1
    return span > 6 ? { error: { code: -32602, message: 'query exceeds max block range 6' } } : undefined
  }
  const { first, next } = await afterLagging(limit)
  await assert.rejects(next, (error) => error instanceof LateLogsFault && error.block === first)
  const { next: other } = await afterLagging((call) => {
    if (!isOfRange(call)) return undefined
    const { fromBlock, toBlock } = call.params[0] as { fromBlock: string; toBlock: string }
    return Number(toBlock) - Number(fromBlock) > 2
      ? { error: { code: -32602, message: 'query exceeds max block range 3' } }
      : undefined
  })
  assert.deepEqual((await other()).events, [], 'what cannot be had now does not stop the next range')
})

test('a transaction of ours has its block asked, since a mint that skips all changes no storage', async () => {
  const { byHash } = await observedBusy(
    () => undefined,
    () => stage.act(5, 'transferFrom', [stage.at(6), stage.at(5), 999n]),
  )
  assert.equal(byHash, 1)
})
