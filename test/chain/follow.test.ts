// Heads, blocks by time, transactions and holdings, read from a real chain.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { demoTokenAbi, factoryTopics } from '../../src/chain/factory/abi.ts'
import { createNodeHistory } from '../../src/chain/factory/history.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { FEE_BLOCKS } from '../../src/domain/fees.ts'
import { type Hash, ZERO_HASH } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { FOREVER } from '../support/factory.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
let reader: ChainReader
before(async () => {
  stage = await startStage()
  reader = createChainReader(stage.rpc, stage.watched)
})
after(() => stage.close())

test('each reading of the head goes to the chain', async () => {
  const { number } = await reader.head()
  const { hash } = await stage.chain.mine()
  const head = await reader.head()
  assert.deepEqual([head.number, head.hash], [number + 1, hash])
  assert.equal(await reader.chainId(), stage.chain.chainId)
})

test('a block that is not there yet is null', async () => {
  const { number } = await reader.head()
  assert.equal((await reader.block(number))?.number, number)
  assert.equal(await reader.block(number + 1), null)
})

test('without finality there is no finalized block, but a busy provider does not mean that', async () => {
  const { rpc, provider } = await stage.behind()
  const behind = createChainReader(rpc, stage.watched)
  provider.rule = () => ({ error: { code: -39001, message: 'Unknown block' } })
  assert.equal(await behind.finalized(), null)
  provider.rule = () => ({ result: null })
  assert.equal(await behind.finalized(), null)
  provider.rule = () => ({ error: { code: -32603, message: 'the finalized block is not found' } })
  assert.equal(await behind.finalized(), null)
  for (const error of [
    { code: -32005, message: 'rate limited' },
    { code: -32603, message: 'Internal error' },
  ]) {
    provider.rule = () => ({ error })
    await assert.rejects(behind.finalized(), ChainFault)
  }
})

test('the first block at a time, and its parent, are found as a walk over all blocks finds them', async () => {
  await stage.chain.mine(12, 7)
  await stage.chain.mine(1, 500)
  await stage.chain.mine(7, 3)
  const head = await reader.head()
  const blocks = await Promise.all(Array.from({ length: head.number + 1 }, (_, number) => reader.block(number)))
  const times = new Set(blocks.flatMap((block) => [-1, 0, 1].map((around) => (block?.time ?? 0) + around)))
  for (const time of times) {
    const walked = blocks.find((block) => block && block.time >= time)
    const found = await reader.firstBlockAt(time, head.number)
    assert.equal(found?.block.hash, walked?.hash, `at ${time}`)
    assert.equal(found?.parent?.hash, walked && blocks[walked.number - 1]?.hash, `parent at ${time}`)
  }
})

test('no block later than it may be is ever found', async () => {
  const { number, time } = await reader.head()
  await stage.chain.mine(3, 10)
  assert.equal(await reader.firstBlockAt(time + 1, number), null)
  assert.equal((await reader.firstBlockAt(time + 1, number + 3))?.block.number, number + 1)
})

test('a transaction is pending, then succeeded or reverted, and unknown when no provider has it', async () => {
  const txHash = await stage.pay(5, 42n)
  const seen = await reader.transaction(txHash)
  assert.ok(seen)
  // Its index means nothing while it is in no block.
  const { txIndex: _, ...pending } = seen
  const { at } = stage
  assert.deepEqual(pending, {
    txHash,
    from: at(5),
    to: at(3),
    valueWei: 42n,
    blockNumber: null,
    blockHash: null,
    succeeded: null,
  })
  const failing = (await stage.act(5, 'withdraw', [1n, at(5), 1n])) as Hash
  const block = await stage.chain.mine()
  const view = await reader.transaction(txHash)
  assert.deepEqual(
    [view?.blockNumber, view?.blockHash, view?.txIndex, view?.succeeded],
    [Number(block.number), block.hash, 0, true],
  )
  assert.equal((await reader.transaction(failing))?.succeeded, false)
  assert.equal(await reader.transaction(ZERO_HASH), null)
})

test('a receipt of another block leaves the outcome open', async () => {
  const txHash = await stage.pay(5, 42n)
  await stage.chain.mine()
  const { rpc, provider } = await stage.behind()
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    const { result } = (await forward()) as { result: object }
    return { result: { ...result, blockHash: ZERO_HASH } }
  }
  assert.equal((await createChainReader(rpc, stage.watched).transaction(txHash))?.succeeded, null)
})

test('a holding is read at that very block', async () => {
  const owner = stage.at(6)
  const give = encodeFunctionData({ abi: demoTokenAbi, functionName: 'transfer', args: [owner, 5n] })
  const before = await stage.head()
  await stage.chain.send({ from: stage.at(4), to: stage.token, data: give, gas: '0x80000' })
  await stage.chain.mine()
  assert.equal(await reader.holding(stage.token, owner, before), 0n)
  assert.equal(await reader.holding(stage.token, owner, await stage.head()), 5n)
})

test('a holding is null if the token fails, is no contract, or the block is not canonical', async () => {
  const at = await stage.head()
  const codes = { reverts: '0x60006000fd', short: '0x60016000f3', empty: '0x00', long: '0x60406000f3' }
  const contract = (index: number) => `0x${'0'.repeat(38)}a${index}` as const
  for (const [index, code] of Object.values(codes).entries())
    await stage.chain.rpc('anvil_setCode', [contract(index), code])
  for (const index of [0, 1, 2, 3, 4]) assert.equal(await reader.holding(contract(index), stage.at(6), at), null)
  assert.equal(await reader.holding(stage.token, stage.at(6), { ...at, hash: `0x${'1'.repeat(64)}` as Hash }), null)
  assert.equal(await reader.holding(stage.token, stage.at(6), { number: at.number + 5, hash: at.hash }), 5n)
})

test('a holding is null, not zero, when no provider answers', async () => {
  const { rpc, provider } = await stage.behind()
  provider.http = () => ({ status: 503, body: '' })
  const behind = createChainReader(rpc, stage.watched)
  assert.equal(await behind.holding(stage.token, stage.at(6), await stage.head()), null)
})

test('a node’s history has its events only, also if the provider limits ranges', async () => {
  const { at, minter } = stage
  const from = (await stage.head()).number
  const { time } = await stage.head()
  await stage.send(minter, {
    kind: 'openCohorts',
    first: 1,
    openings: [{ tierNo: 1, firstDue: time + 9_999, intervalSec: 60 }],
    validUntil: FOREVER,
  })
  const orders = [5, 6, 7].map((account) => ({
    to: at(account),
    cohort: 1,
    ref: `0x${String(account).repeat(64)}` as Hash,
  }))
  await stage.send(minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
  await stage.act(6, 'transferFrom', [at(6), at(8), 2n])
  await stage.act(7, 'transferFrom', [at(7), at(8), 3n])
  await stage.chain.mine(20)
  const { number } = await stage.head()
  const { rpc, provider } = await stage.behind()
  provider.rule = ({ params }) => {
    const filter = params[0] as { fromBlock?: string; toBlock?: string }
    const tooLong = filter.fromBlock !== undefined && Number(filter.toBlock) - Number(filter.fromBlock) > 4
    return tooLong ? { error: { code: -32005, message: 'query exceeds max block range' } } : undefined
  }
  for (const history of [createNodeHistory(stage.rpc, stage.factory), createNodeHistory(rpc, stage.factory)]) {
    const places = (await history.logsOfNode(2n, from, number)).flat()
    const blocks = places.map(({ blockNumber }) => blockNumber).sort((a, b) => a - b)
    const [mint = 0, , transfer = 0] = blocks
    assert.deepEqual(blocks, [mint, mint, transfer], 'a mint, with its transfer, and a transfer')
    for (const { blockNumber, blockHash } of places) assert.equal(blockHash, (await reader.block(blockNumber))?.hash)
  }
  assert.ok(provider.seen.some(({ params }) => JSON.stringify(params).includes(factoryTopics.NodeMinted)))
})

test('we believe nothing from a provider that contradicts itself, and turn to another one', async () => {
  await stage.pay(5, 1n)
  await stage.chain.mine(2)
  const { number } = await stage.head()
  const { rpc: alone, provider } = await stage.behind()
  let lies = 0
  provider.rule = async ({ method }, forward) => {
    if (method !== 'eth_getTransactionReceipt') return undefined
    lies++
    return { result: { ...((await forward()) as { result: object }).result, blockHash: ZERO_HASH } }
  }
  const read = (rpc: Rpc) => createChainReader(rpc, stage.watched).observe(number - 2, number, null)
  await assert.rejects(read(alone), /is not from block/, 'where there is no other one')
  const rpc = createRpc({ urls: [provider.url, stage.chain.rpcUrl], log: silentLog })
  lies = 0
  for (let i = 0; i < 2; i++) assert.equal((await read(rpc)).transfers.length, 1)
  // Once with the first provider, and twice with two that have to agree.
  assert.equal(lies, 3)
  await rpc.close()
})

test('a range returns what its blocks return one by one', async () => {
  const { number: before } = await stage.head()
  for (let block = 0; block < FEE_BLOCKS + 8; block++) {
    await stage.act(6, 'transferFrom', [stage.at(6), stage.at(7), 1n], stage.at(7))
    if (block % 3 === 0) await stage.pay(5, BigInt(block))
    if (block % 4 === 0) await stage.act(0, block % 8 === 0 ? 'pause' : 'unpause', [])
    await stage.chain.mine()
  }
  const { number: head, hash } = await stage.head()
  const whole = await reader.observe(before + 1, head, null)
  const singles = []
  let parent: Hash | null = null
  for (let number = before + 1; number <= head; number++) {
    const single = await reader.observe(number, number, parent)
    parent = single.blocks[0]?.hash ?? null
    singles.push(single)
  }
  assert.equal(whole.blocks.at(-1)?.hash, hash)
  assert.ok(whole.transfers.length > 5 && whole.events.length > 2 && whole.sent.length > 0)
  for (const part of ['blocks', 'transfers', 'outflows', 'sent', 'events'] as const)
    assert.deepEqual(
      whole[part],
      singles.flatMap((single) => single[part] as unknown[]),
    )
})
