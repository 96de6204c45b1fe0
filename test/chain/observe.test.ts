// Observation of blocks on a real chain: what the follower sees, and what it refuses to believe.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { demoTokenAbi, factoryAbi, factoryTopics } from '../../src/chain/factory/abi.ts'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import type { FactoryEvent, ObservedRange } from '../../src/domain/observed.ts'
import { type Hash, wei, ZERO_ADDRESS, ZERO_HASH } from '../../src/domain/units.ts'
import type { ChainReader } from '../../src/ports/chain.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import { FOREVER, oneTurn } from '../support/factory.ts'
import { forging, type Rule } from './false-provider.ts'
import { type Stage, startStage } from './stage.ts'

let stage: Stage
let reader: ChainReader
before(async () => {
  stage = await startStage()
  reader = createChainReader(stage.rpc, stage.watched)
})
after(() => stage.close())

/** Everything mined by `act`, observed. */
async function observed(act: () => Promise<unknown>): Promise<ObservedRange> {
  const { number } = await stage.head()
  await act()
  await stage.chain.mine()
  return await reader.observe(number + 1, (await stage.head()).number, null)
}

const isRetryable = (error: unknown) => error instanceof ChainFault && error.retryable

/** Observes a range behind a provider that lies by `rule`. */
async function observedBehind(from: number, to: number, rule: Rule): Promise<ObservedRange> {
  const { rpc, provider } = await stage.behind()
  provider.rule = rule
  return await createChainReader(rpc, stage.watched).observe(from, to, null)
}

test('a transfer of nothing is seen, and costs no request', async () => {
  const { number } = await stage.head()
  const [payment, nothing] = [await stage.pay(5, 42n), await stage.pay(6, 0n)]
  await stage.chain.mine()
  const asked: unknown[] = []
  const range = await observedBehind(number + 1, number + 1, ({ method, params }) => {
    if (method === 'eth_getTransactionReceipt') asked.push(params[0])
    return undefined
  })
  assert.deepEqual(asked, [payment])
  assert.deepEqual(
    range.transfers.map(({ txHash, from, valueWei }) => [txHash, from, valueWei]),
    [
      [payment, stage.at(5), 42n],
      [nothing, stage.at(6), 0n],
    ],
  )
})

test('payments are seen with any type of transaction', async () => {
  const account = privateKeyToAccount(stage.keyOf(5))
  const nonce = Number(await stage.chain.rpc('eth_getTransactionCount', [stage.at(5), 'latest']))
  const common = { chainId: stage.chain.chainId, to: stage.at(3), gas: 200_000n }
  const delegation = { address: stage.at(9), chainId: common.chainId, nonce: nonce + 4 }
  const raws = [
    await account.signTransaction({ ...common, type: 'legacy', gasPrice: GWEI_100, nonce, value: 100n }),
    await account.signTransaction({ ...common, type: 'eip2930', gasPrice: GWEI_100, nonce: nonce + 1, value: 101n }),
    await account.signTransaction({ ...common, type: 'eip1559', ...fees, nonce: nonce + 2, value: 102n }),
    await account.signTransaction({
      ...common,
      type: 'eip7702',
      ...fees,
      nonce: nonce + 3,
      value: 103n,
      authorizationList: [await account.signAuthorization(delegation)],
    }),
  ]
  await paymentsAreSeen(raws, 100n, ['0x0', '0x1', '0x2', '0x4'])
})

const GWEI_100 = 10n ** 11n
const fees = { maxFeePerGas: GWEI_100, maxPriorityFeePerGas: 1n }

/** Payments of account 5: `firstWei`, one wei more, and so on. */
async function paymentsAreSeen(raws: readonly string[], firstWei: bigint, types: readonly string[]): Promise<void> {
  const hashes: unknown[] = []
  const range = await observed(async () => {
    // The first blob makes the chain load its trusted set-up, which takes seconds.
    const patient = { timeoutMs: 120_000, attempts: 1 }
    for (const raw of raws) hashes.push(await stage.rpc.request('eth_sendRawTransaction', [raw], patient))
  })
  assert.deepEqual(
    range.transfers.map(({ txHash, from, valueWei, succeeded }) => ({ txHash, from, valueWei, succeeded })),
    raws.map((_, index) => {
      return { txHash: hashes[index], from: stage.at(5), valueWei: firstWei + BigInt(index), succeeded: true }
    }),
  )
  for (const [index, hash] of hashes.entries()) {
    assert.equal((await stage.chain.rpc<{ type: string }>('eth_getTransactionByHash', [hash])).type, types[index])
  }
}

test('a payment that reverted is seen, and seen to have failed', async () => {
  const range = await observed(async () => {
    await stage.chain.rpc('anvil_setCode', [stage.at(3), '0x60006000fd'])
    await stage.chain.send({ from: stage.at(6), to: stage.at(3), value: '0x64', gas: '0xffff' })
    await stage.chain.mine()
    await stage.chain.rpc('anvil_setCode', [stage.at(3), '0x'])
  })
  assert.deepEqual(
    range.transfers.map(({ valueWei, succeeded }) => ({ valueWei, succeeded })),
    [{ valueWei: 100n, succeeded: false }],
  )
})

test('the last blocks of a range show their base fee and the median of the tips that others paid', async () => {
  const GWEI = 10n ** 9n
  const hex = (value: bigint) => `0x${value.toString(16)}`
  const from = (await stage.chain.block()).number
  const pay = async (account: number, tip: bigint) => {
    const fees = { maxPriorityFeePerGas: hex(tip), maxFeePerGas: hex(tip + 100n * GWEI) }
    const transaction = { from: stage.at(account), to: stage.at(7), value: '0x1', ...fees }
    await stage.chain.rpc('eth_sendTransaction', [transaction])
  }
  const range = await observed(async () => {
    // The minter's own tip says nothing about what others pay.
    await pay(1, 90n * GWEI)
    for (const [i, tip] of [3n, 1n, 50n, 2n].entries()) await pay(6 + i, tip * GWEI)
  })
  const { baseFeePerGas } = (await stage.chain.block()) as unknown as { baseFeePerGas: string }
  const number = Number(from) + 1
  assert.deepEqual(range.fees, [{ number, baseFeeWei: BigInt(baseFeePerGas), tipWei: 2n * GWEI }])

  await stage.chain.mine(30)
  const head = Number((await stage.chain.block()).number)
  const { blocks, fees } = await reader.observe(head - 24, head, null)
  assert.deepEqual([blocks.length, fees.length, fees[0]?.number, fees[0]?.tipWei], [25, 20, head - 19, null])
})

const ref = (digit: string) => `0x${digit.repeat(64)}` as Hash
const ownerActOf = ([event]: readonly FactoryEvent[]) =>
  event?.kind === 'ownerAct' ? event : assert.fail('no act of the owner')
const bare = (event: FactoryEvent) => {
  const { blockNumber, blockHash, blockTime, txHash, txIndex, logIndex, ...words } = event
  return words
}

test('every event of the ledger is seen in its own words, in chain order', async () => {
  const { factory, minter, distributor, at } = stage
  const { time } = await stage.head()
  const due = time + 1_000
  const range = await observed(async () => {
    await stage.send(minter, {
      kind: 'openCohorts',
      first: 1,
      openings: [{ tierNo: 2, firstDue: due, intervalSec: 600 }],
      validUntil: FOREVER,
    })
    const { number, hash } = await stage.head()
    const orders = [
      { to: at(5), cohort: 1, ref: ref('a') },
      { to: at(6), cohort: 8, ref: ref('b') },
      { to: at(6), cohort: 1, ref: ref('c') },
    ]
    await stage.send(minter, { kind: 'mint', orders, guard: { number, hash }, validUntil: FOREVER })
    await stage.act(6, 'transferFrom', [at(6), at(7), 2n])
    await stage.act(0, 'setInterval', [1n, 300n])
    await stage.chain.setNextTime(due)
    await stage.chain.mine()
    const credits = [oneTurn(1, due, wei(50n))]
    await stage.send(distributor, {
      kind: 'credit',
      round: 1,
      credits,
      valueWei: wei(100n),
      guard: null,
      validUntil: FOREVER,
    })
    await stage.act(7, 'withdraw', [2n, at(9), 20n])
    await stage.chain.mine()
  })
  assert.deepEqual(range.events.map(bare), [
    { kind: 'cohortOpened', cohort: 1, tierNo: 2, firstDue: due, intervalSec: 600 },
    { kind: 'transfer', nodeId: 1n, from: ZERO_ADDRESS, to: at(5) },
    { kind: 'nodeMinted', nodeId: 1n, owner: at(5), ref: ref('a'), cohort: 1, proof: 'believed' },
    { kind: 'mintSkipped', ref: ref('b'), reason: 2 },
    { kind: 'transfer', nodeId: 2n, from: ZERO_ADDRESS, to: at(6) },
    { kind: 'nodeMinted', nodeId: 2n, owner: at(6), ref: ref('c'), cohort: 1, proof: 'believed' },
    { kind: 'transfer', nodeId: 2n, from: at(6), to: at(7) },
    { kind: 'intervalSet', cohort: 1, intervalSec: 300 },
    { kind: 'credited', round: 1, cohort: 1, due, turns: 1, amountPerNodeWei: 50n, nodeCount: 2 },
    { kind: 'withdrawn', nodeId: 2n, owner: at(7), to: at(9), amountWei: 20n, withdrawnTotalWei: 20n },
  ])
  for (const event of range.events) {
    const block = range.blocks.find(({ number }) => number === event.blockNumber)
    const listed = (await stage.chain.block(event.blockNumber)).transactions
    assert.deepEqual(
      [event.blockHash, event.blockTime, event.txHash],
      [block?.hash, block?.time, listed[event.txIndex]],
    )
  }
  assert.deepEqual(
    range.sent.map(({ sender, succeeded }) => ({ sender, succeeded })),
    [minter.address, minter.address, at(6), at(0), distributor.address, at(7)].map((sender) => ({
      sender,
      succeeded: true,
    })),
    'what anybody sent to the factory, for it may be another instance',
  )
  assert.equal(range.failedWithdrawals.length, 0)
  assert.equal(factory, stage.watched.factory)
})

test('a round that another contract called is seen like any other', async () => {
  const { factory, at } = stage
  const forwarder = '0x00000000000000000000000000000000000f0f0f'
  // CALL(gas, factory, callvalue, 0, calldatasize, 0, 0) with the calldata it was given.
  await stage.chain.rpc('anvil_setCode', [forwarder, `0x366000600037600060003660003473${factory.slice(2)}5af100`])
  const [cohort] = await createContractReader(stage.rpc, factory).cohorts([1], await stage.head())
  const due = cohort?.nextDue ?? 0
  const entry = { cohort: 1n, firstDue: BigInt(due), skipped: 0n, paid: 1n, amountPerNode: 10n }
  const round = [2n, 0n, ZERO_HASH, BigInt(FOREVER), [entry]] as const
  const data = encodeFunctionData({ abi: factoryAbi, functionName: 'credit', args: round })
  const range = await observed(async () => {
    await stage.act(0, 'setDistributor', [forwarder, 0n, 10n ** 9n])
    await stage.chain.setNextTime(due)
    await stage.chain.mine()
    await stage.chain.send({ from: at(8), to: forwarder, data, value: '0x14', gas: '0x80000' })
  })
  const { detail } = ownerActOf(range.events)
  assert.deepEqual([detail.distributor, detail.former], [forwarder, at(2)])
  assert.deepEqual(range.events.map(bare).slice(1), [
    { kind: 'credited', round: 2, cohort: 1, due, turns: 1, amountPerNodeWei: 10n, nodeCount: 2 },
  ])
  await observed(() => stage.act(0, 'setDistributor', [at(2), 0n, 10n ** 9n]))
})

test('effects of budgets, catching up and the owner are seen as events of their own', async () => {
  const { minter, distributor, at } = stage
  const [cohort] = await createContractReader(stage.rpc, stage.factory).cohorts([1], await stage.head())
  const { nextDue, intervalSec } = cohort ?? assert.fail()
  const window = [1n, BigInt(nextDue), BigInt(nextDue + 1)]
  const range = await observed(async () => {
    await stage.act(0, 'setMinter', [at(1), 1n, 0n])
    await stage.act(0, 'setSwapsAllowance', [100n])
    await stage.act(0, 'addNotOwed', window)
    await stage.chain.send({ from: at(8), to: stage.factory, value: '0x64' })
    await stage.act(0, 'capTier', [7n, 1_000n])
    await stage.chain.mine()
    const orders = [
      { to: at(8), cohort: 1, ref: ref('a') },
      { to: at(8), cohort: 1, ref: ref('5') },
      { to: at(8), cohort: 1, ref: ref('6') },
    ]
    await stage.send(minter, { kind: 'mint', orders, guard: null, validUntil: FOREVER })
    await stage.act(0, 'expel', [[ref('5')]])
    await stage.act(0, 'setMinter', [at(1), 10n ** 6n, 0n])
    await stage.chain.setNextTime(nextDue + 2 * intervalSec)
    await stage.chain.mine()
    const credits = [{ cohort: 1, firstDue: nextDue, skipped: 1, paid: 2, amountPerNodeWei: wei(30n) }]
    await stage.send(distributor, {
      ...{ kind: 'credit', round: 3, credits, valueWei: wei(0n) },
      ...{ guard: null, validUntil: FOREVER },
    })
  })
  const due = nextDue + intervalSec
  assert.deepEqual(
    range.events.map(bare).map((event) => (event.kind === 'ownerAct' ? { kind: event.kind, name: event.name } : event)),
    [
      ...['MinterSet', 'SwapsAllowanceSet', 'NotOwedSet', 'EtherReceived', 'TierCapped'].map((name) => ({
        kind: 'ownerAct',
        name,
      })),
      { kind: 'refTaken', ref: ref('a'), nodeId: 1n, to: at(8) },
      { kind: 'transfer', nodeId: 3n, from: ZERO_ADDRESS, to: at(8) },
      { kind: 'nodeMinted', nodeId: 3n, owner: at(8), ref: ref('5'), cohort: 1, proof: 'believed' },
      { kind: 'mintSkipped', ref: ref('6'), reason: 4 },
      { kind: 'nodeExpelled', nodeId: 3n, ref: ref('5'), cohort: 1, creditedWei: 0n },
      { kind: 'ownerAct', name: 'MinterSet' },
      { kind: 'turnsSkipped', round: 3, cohort: 1, due: nextDue, turns: 1 },
      { kind: 'credited', round: 3, cohort: 1, due, turns: 2, amountPerNodeWei: 30n, nodeCount: 2 },
      { kind: 'surplusSpent', round: 3, amountWei: 60n, allowanceWei: 40n },
    ],
  )
  const windowSet = range.events.find((event) => event.kind === 'ownerAct' && event.name === 'NotOwedSet')
  assert.deepEqual(windowSet?.kind === 'ownerAct' && Object.values(windowSet.detail), window.map(String))
})

test('a reorg between two ranges is a retryable fault, and new blocks continue at the fork', async () => {
  await stage.chain.mine(3)
  const { number, hash } = await stage.head()
  const fork = await reader.block(number - 2)
  await stage.chain.reorg(2)
  await stage.chain.mine()
  await assert.rejects(reader.observe(number + 1, number + 1, hash), isRetryable)
  const range = await reader.observe(number - 1, number + 1, fork?.hash ?? null)
  assert.deepEqual(
    range.blocks.map((block) => block.number),
    [number - 1, number, number + 1],
  )
})

test('a reorganisation between logs and blocks of one range is a retryable fault', async () => {
  await stage.act(5, 'transferFrom', [stage.at(5), stage.at(6), 1n])
  await stage.chain.mine()
  const { number } = await stage.head()
  const answer = observedBehind(number - 1, number, async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return undefined
    const logs = await forward()
    await stage.chain.reorg(1)
    return logs
  })
  await assert.rejects(answer, /from another fork/)
})

test('logs that a lagging node left out are requested again by block hash', async () => {
  const from = (await stage.head()).number + 1
  await stage.act(5, 'transferFrom', [stage.at(5), stage.at(6), 1n])
  await stage.chain.mine(2)
  let byHash = 0
  const range = await observedBehind(from, from + 1, ({ method, params }) => {
    if (method !== 'eth_getLogs') return undefined
    if ('blockHash' in (params[0] as object)) byHash++
    else return { result: [] }
    return undefined
  })
  assert.deepEqual(range.events.map(bare), [{ kind: 'transfer', nodeId: 1n, from: stage.at(5), to: stage.at(6) }])
  assert.equal(byHash, 1)
})

test('logs in a receipt that the provider withholds are a retryable fault', async () => {
  const from = (await stage.head()).number
  const { number, hash } = await stage.head()
  const orders = [{ to: stage.at(9), cohort: 1, ref: ref('d') }]
  await stage.send(stage.minter, { kind: 'mint', orders, guard: { number, hash }, validUntil: FOREVER })
  for (const keep of [0, 1]) {
    const answer = observedBehind(from, from + 1, async ({ method }, forward) => {
      if (method !== 'eth_getLogs') return undefined
      const { result } = (await forward()) as { result: unknown[] }
      return { result: result.slice(0, keep) }
    })
    await assert.rejects(answer, /differ from those of its receipt/)
  }
  const misread = observedBehind(from, from + 1, async ({ method }, forward) => {
    if (method !== 'eth_getLogs') return undefined
    const { result } = (await forward()) as { result: { topics: Hash[] }[] }
    return { result: result.map((log) => ({ ...log, topics: log.topics.with(3, ref('e')) })) }
  })
  await assert.rejects(misread, /differ from those of its receipt/, 'a node of another payment')
})

test('a receipt that calls a mint failed is a retryable fault: what failed leaves no logs', async () => {
  const { number, hash } = await stage.head()
  const orders = [{ to: stage.at(9), cohort: 1, ref: ref('9') }]
  await stage.send(stage.minter, { kind: 'mint', orders, guard: { number, hash }, validUntil: FOREVER })
  const lie = forging('eth_getTransactionReceipt', (found) => ({ ...found, status: '0x0' }))
  await assert.rejects(
    observedBehind(number, number + 1, lie),
    (error) => isRetryable(error) && /reports that the transaction failed/.test(String(error)),
  )
})

test('logs that do not fit their block are a retryable fault, and unordered ones are sorted', async () => {
  const from = (await stage.head()).number + 1
  await stage.pay(8, 1n)
  await stage.act(6, 'transferFrom', [stage.at(6), stage.at(6), 1n])
  await stage.act(6, 'transferFrom', [stage.at(6), stage.at(6), 1n])
  await stage.chain.mine(2)
  type Logs = Record<string, unknown>[]
  const withLogs = (change: (logs: Logs) => Logs) =>
    observedBehind(from, from + 1, async ({ method }, forward) => {
      if (method !== 'eth_getLogs') return undefined
      return { result: change(((await forward()) as { result: Logs }).result) }
    })
  const ordered = await withLogs((logs) => logs.toReversed())
  assert.deepEqual(
    ordered.events.map(({ logIndex }) => logIndex),
    [0, 1],
  )
  const misfits: Record<string, unknown>[] = [
    { address: stage.token },
    { transactionHash: ref('e') },
    { transactionIndex: '0x0' },
    { blockNumber: '0x1' },
  ]
  for (const misfit of misfits) {
    const answer = withLogs((logs) => logs.map((log) => ({ ...log, ...misfit })))
    await assert.rejects(answer, /do not match the block/, JSON.stringify(misfit))
  }
})

const other = ref('e')
const lies: [sentence: string, said: RegExp, rule: () => Rule][] = [
  ['a null block', /has no block/, () => forging('eth_getBlockByNumber', () => null)],
  [
    'a block of another height',
    /asked for block/,
    () => forging('eth_getBlockByNumber', (block) => ({ ...block, number: '0x1' })),
  ],
  [
    'a block with a wrong parent',
    /follow its parent/,
    () => forging('eth_getBlockByNumber', (block) => ({ ...block, parentHash: other })),
  ],
  [
    'a block with part of a bloom',
    /malformed logs bloom/,
    () => forging('eth_getBlockByNumber', (block) => ({ ...block, logsBloom: '0x00' })),
  ],
  [
    'a pending block',
    /malformed block hash/,
    () => forging('eth_getBlockByNumber', (block) => ({ ...block, hash: null })),
  ],
  [
    'a transaction that claims another block',
    /transaction of another block/,
    () =>
      forging('eth_getBlockByNumber', ({ transactions, ...block }) => ({
        ...block,
        transactions: (transactions as object[]).map((tx) => ({ ...tx, blockHash: other })),
      })),
  ],
  ['a null receipt', /no receipt/, () => forging('eth_getTransactionReceipt', () => null)],
  [
    'a receipt from a losing block',
    /is not from block/,
    () => forging('eth_getTransactionReceipt', (found) => ({ ...found, blockHash: other })),
  ],
  [
    'a receipt of another transaction',
    /is not from block/,
    () => forging('eth_getTransactionReceipt', (found) => ({ ...found, transactionHash: other })),
  ],
  [
    'a payment of another sender than its receipt names',
    /a different sender or recipient/,
    () =>
      forging('eth_getBlockByNumber', ({ transactions, ...block }) => ({
        ...block,
        transactions: (transactions as object[]).map((tx) => ({ ...tx, from: stage.at(9) })),
      })),
  ],
  [
    'a receipt of another recipient',
    /a different sender or recipient/,
    () => forging('eth_getTransactionReceipt', (found) => ({ ...found, to: stage.at(9) })),
  ],
  [
    'a receipt without a status',
    /malformed receipt status/,
    () => forging('eth_getTransactionReceipt', ({ status, ...found }) => found),
  ],
  ['a null in place of logs', /malformed list of logs/, () => forging('eth_getLogs', () => null)],
  ['a log that the bloom denies', /rules out a log/, () => forging('eth_getLogs', () => [forgedLog()])],
  [
    'a log of another fork',
    /from another fork/,
    () => forging('eth_getLogs', () => [{ ...forgedLog(), blockHash: other }]),
  ],
  [
    'a log that a reorganisation removed',
    /removed/,
    () => forging('eth_getLogs', () => [{ ...forgedLog(), removed: true }]),
  ],
]
let paid = { number: 0, hash: other }
const forgedLog = () => ({
  address: stage.factory,
  topics: [factoryTopics.NodeMinted, ref('0'), ref('0'), ref('f')],
  data: ref('0'),
  blockHash: paid.hash,
  blockNumber: `0x${paid.number.toString(16)}`,
  transactionHash: ref('0'),
  transactionIndex: '0x0',
  logIndex: '0x0',
  removed: false,
})
for (const [sentence, said, rule] of lies) {
  test(`${sentence} is a retryable fault, never skipped`, async () => {
    await stage.pay(5, 1n)
    // An unrelated log, so the block has a bloom.
    const data = encodeFunctionData({ abi: demoTokenAbi, functionName: 'transfer', args: [stage.at(9), 1n] })
    await stage.chain.send({ from: stage.at(4), to: stage.token, data, gas: '0x80000' })
    await stage.chain.mine(2)
    const { number } = await stage.head()
    paid = { number: number - 1, hash: (await reader.block(number - 1))?.hash ?? other }
    const refused = (error: unknown) => isRetryable(error) && said.test(String(error))
    await assert.rejects(observedBehind(number - 1, number, rule()), refused)
    assert.equal((await observedBehind(number - 1, number, () => undefined)).transfers.length, 1)
  })
}

test('HTML and floods in place of blocks are retryable faults', async () => {
  const { number } = await stage.head()
  for (const body of ['<html></html>', Buffer.alloc(33 * 1024 * 1024, 32)]) {
    const { rpc, provider } = await stage.behind(60_000)
    provider.http = () => ({ body })
    const answer = createChainReader(rpc, stage.watched).observe(number, number, null)
    await assert.rejects(answer, (error) => isRetryable(error) && /not JSON|larger than/.test(String(error)))
  }
})

test('if a provider limits ranges, ranges shrink, skip nothing, and grow again', async () => {
  await stage.chain.mine(60)
  const { number } = await stage.head()
  const from = number - 59
  const { rpc, provider } = await stage.behind()
  let most = 4
  let refusals = 0
  provider.rule = ({ method, params }) => {
    if (method !== 'eth_getLogs') return undefined
    const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string }
    if (Number(toBlock) - Number(fromBlock) + 1 <= most || !fromBlock) return undefined
    refusals++
    return { error: { code: -32602, message: `this plan serves ${most} blocks at a time` } }
  }
  const narrow = createChainReader(rpc, stage.watched)
  const sizes: number[] = []
  let next = from
  let parent: Hash | null = null
  while (next <= number) {
    if (next > from + 20) most = 1_000
    const range: ObservedRange = await narrow.observe(next, number, parent)
    assert.equal(range.blocks[0]?.number, next)
    sizes.push(range.blocks.length)
    next += range.blocks.length
    parent = range.blocks.at(-1)?.hash ?? null
  }
  assert.ok(
    sizes.slice(0, 3).every((size) => size > 0 && size <= 4),
    sizes.join(),
  )
  assert.ok(Math.max(...sizes) >= 16, sizes.join())
  assert.ok(refusals < 20)
})

test('a chain that keeps no blooms is believed by block hash, in a range and block by block', async () => {
  const { number } = await stage.head()
  await stage.act(6, 'transferFrom', [stage.at(6), stage.at(5), 1n])
  await stage.chain.mine(2)
  const bloomless = forging('eth_getBlockByNumber', (block) => ({ ...block, logsBloom: `0x${'00'.repeat(256)}` }))
  for (const to of [number + 1, number + 2]) {
    const range = await observedBehind(number + 1, to, bloomless)
    assert.deepEqual(range.events.map(bare), [{ kind: 'transfer', nodeId: 1n, from: stage.at(6), to: stage.at(5) }])
  }
})

test('a payment that carries a blob is seen like any other', async () => {
  const account = privateKeyToAccount(stage.keyOf(5))
  // A blob of zeros. Its commitment and proof are the point at infinity, so it needs no trusted set-up.
  const infinity = `0xc0${'00'.repeat(47)}` as const
  const digest = createHash('sha256')
    .update(Buffer.from(infinity.slice(2), 'hex'))
    .digest('hex')
  const raw = await account.signTransaction({
    type: 'eip4844',
    chainId: stage.chain.chainId,
    to: stage.at(3),
    gas: 200_000n,
    ...fees,
    maxFeePerBlobGas: GWEI_100,
    nonce: Number(await stage.chain.rpc('eth_getTransactionCount', [stage.at(5), 'latest'])),
    value: 200n,
    blobVersionedHashes: [`0x01${digest.slice(2)}`],
    sidecars: [{ blob: `0x${'00'.repeat(131_072)}`, commitment: infinity, proof: infinity }],
  })
  await paymentsAreSeen([raw], 200n, ['0x3'])
})
