// Answers of real nodes that are odd in form: a part is absent, null, of another kind or spelt in another way. A read goes
// on wherever something else answers it, and otherwise ends in a ChainFault. Nothing else may ever come of them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Dispatcher } from 'undici'
import { createChainReader } from '../../src/chain/evidence/reader.ts'
import { createContractReader } from '../../src/chain/factory/contract.ts'
import { createNodeHistory } from '../../src/chain/factory/history.ts'
import { lookAtBeginning } from '../../src/chain/factory/start-block.ts'
import { createBuyerReading } from '../../src/chain/pages/buyer.ts'
import { createWalletProver } from '../../src/chain/pages/wallets.ts'
import { createRpc, type Rpc } from '../../src/chain/rpc/rpc.ts'
import { localSigner } from '../../src/chain/send/signer.ts'
import { createSignerAccount } from '../../src/chain/send/signer-account.ts'
import type { EvidenceMode } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import { silentLog } from '../../src/lib/log.ts'
import { ChainFault } from '../../src/ports/faults.ts'
import type { FactoryCall } from '../../src/ports/sending.ts'
import { FOREVER } from '../support/factory.ts'
import { FORWARD, forwardTo } from '../support/forwarder.ts'
import type { Answer, Call } from './false-provider.ts'
import { type Stage, startStage } from './stage.ts'

const FORWARDER = `0x${'f1'.repeat(20)}`
const [REF, OTHER_REF] = [`0x${'ab'.repeat(32)}`, `0x${'cd'.repeat(32)}`] as [Hash, Hash]

/** A provider without a socket. It remembers what the chain answers, because the chain stands still. */
class Provider extends Dispatcher {
  rule: (call: Call, truth: unknown) => unknown = () => undefined
  readonly seen = new Map<string, unknown>()
  readonly #known: Map<string, Promise<Answer>>

  constructor(known: Map<string, Promise<Answer>>) {
    super()
    this.#known = known
  }

  override dispatch({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    void this.#answerAll(JSON.parse(String(body))).then((answer) => {
      const controller = { abort() {} } as never
      handler.onRequestStart?.(controller, {})
      handler.onResponseStart?.(controller, 200, {})
      handler.onResponseData?.(controller, Buffer.from(JSON.stringify(answer)))
      handler.onResponseEnd?.(controller, {})
    })
    return true
  }
  override destroy = (async () => {}) as Dispatcher['destroy']

  async #answerAll(asked: Envelope | Envelope[]): Promise<unknown> {
    return Array.isArray(asked) ? await Promise.all(asked.map((one) => this.#answer(one))) : await this.#answer(asked)
  }

  async #answer({ id, method, params }: Envelope): Promise<object> {
    const key = JSON.stringify([method, params])
    if (!this.#known.has(key)) this.#known.set(key, ask(method, params))
    const truth = (await this.#known.get(key)) as Answer
    const told = 'result' in truth ? truth.result : null
    this.seen.set(method, this.seen.get(method) ?? told)
    const result = this.rule({ method, params }, structuredClone(told))
    return { id, jsonrpc: '2.0', ...(result === undefined ? truth : { result }) }
  }
}
type Envelope = Call & { id: number }

const ask = (method: string, params: unknown[]): Promise<Answer> =>
  stage.chain.rpc(method, params).then(
    (result) => ({ result }),
    () => ({ error: { code: -32_000, message: 'no' } }),
  )

let stage: Stage
let odd: Provider
let honest: Provider
/** A block with a mint, a payment and an inner payment. */
let at: { number: number; hash: Hash }
let minted: Hash
before(async () => {
  stage = await startStage()
  const { time } = await stage.head()
  const openings = [{ tierNo: 1, firstDue: time + 10_000, intervalSec: 3_600 }]
  await stage.send(stage.minter, { kind: 'openCohorts', first: 1, openings, validUntil: FOREVER })
  await stage.chain.rpc('anvil_setCode', [FORWARDER, FORWARD])
  await stage.pay(5, 42n)
  await stage.chain.send({
    ...{ from: stage.at(6), to: FORWARDER, value: '0x7', gas: '0x60000' },
    data: forwardTo(stage.at(3)),
  })
  minted = await stage.send(stage.minter, mint(REF))
  at = await stage.head()
  await stage.chain.mine()
  const known = new Map<string, Promise<Answer>>()
  ;[odd, honest] = [new Provider(known), new Provider(known)]
})
after(() => stage.close())

function mint(ref: Hash): FactoryCall {
  return { kind: 'mint', orders: [{ to: stage.at(5), cohort: 1, ref }], guard: null, validUntil: FOREVER }
}
const reader = (rpc: Rpc, mode: EvidenceMode = 'proven') => {
  const made = createChainReader(rpc, stage.watched)
  made.proofs.require(mode)
  return made
}
const sender = (rpc: Rpc) => {
  const { chain, factory, keyOf } = stage
  return createSignerAccount({ rpc, signer: localSigner(keyOf(1)), chainId: chain.chainId, factory })
}
const observed = async (rpc: Rpc, mode?: EvidenceMode) => {
  const { number, hash } = at
  const { blocks, ...range } = await reader(rpc, mode).observe(number, number, null)
  assert.equal(blocks[0]?.hash, hash)
  return range
}

/** What the service reads, by name. */
const READS: Record<string, (rpc: Rpc) => Promise<unknown>> = {
  'a proven block': (rpc) => observed(rpc),
  'a block that nothing proves': (rpc) => observed(rpc, 'agreed'),
  'a range': async (rpc) => {
    const parent = await stage.chain.block(at.number - 3)
    return reader(rpc).observe(at.number - 2, at.number, parent.hash as Hash)
  },
  'a head': (rpc) => reader(rpc).head(),
  'a final block': (rpc) => reader(rpc).finalized(),
  'a transaction': (rpc) => reader(rpc).minedTransaction(minted),
  'inner transfers': (rpc) => reader(rpc).blockTransfers(at, [stage.at(3)]),
  'a balance': (rpc) => reader(rpc).balanceAt(stage.at(3), at),
  'a code': (rpc) => reader(rpc).payerCode(stage.factory, at),
  'a survey': async (rpc) => {
    const { survey } = reader(rpc)
    await survey.accountsAt([{ number: at.number, accounts: [stage.at(3)] }])
    return [await survey.loggedBlocks(at.number, at.number), await survey.blocksOf([minted])]
  },
  'what can be proven': (rpc) => reader(rpc, 'agreed').proofs.findMode(),
  'the counters of the contract': (rpc) => createContractReader(rpc, stage.factory).counters(at.number),
  'facts of a wallet': (rpc) => createContractReader(rpc, stage.factory).walletFacts(stage.at(3)),
  'a mint’s receipt': (rpc) => createNodeHistory(rpc, stage.factory).mintReceipt(minted),
  'a node’s events': (rpc) => createNodeHistory(rpc, stage.factory).logsOfNode(1n, at.number, at.number),
  'an account’s nonces': async (rpc) => [await sender(rpc).nonce(), await sender(rpc).noncesAt(at.hash)],
  'fees and an estimate': async (rpc) => [await sender(rpc).fees(), await sender(rpc).estimate(mint(OTHER_REF))],
  'a buyer': (rpc) => createBuyerReading(rpc, stage.factory, () => performance.now())(stage.at(5), stage.token),
  'the first block': (rpc) => lookAtBeginning(rpc, stage.factory, at.number + 1),
  'a wallet’s proof': (rpc) => createWalletProver(rpc)(stage.factory, 'words', `0x${'01'.repeat(65)}`),
}

async function through<T>(providers: readonly Provider[], read: (rpc: Rpc) => Promise<T>): Promise<T> {
  const urls = providers.map((_, index) => `http://provider${index}`)
  const dispatcherFor = (url: string) => providers[urls.indexOf(url)] as Provider
  return await read(createRpc({ urls, log: silentLog, retryPauseMs: 0, dispatcherFor }))
}

type Wire = Record<string, unknown>
const isObject = (value: unknown): value is Wire => typeof value === 'object' && value !== null && !Array.isArray(value)
const NOTHING: readonly unknown[] = [null, '', '0x', '0xzz', 0, true, [], {}, [null], [{}], ['0x']]
/** A result, and the same with one of its parts in another form. */
function* forms(result: unknown): Generator<unknown> {
  yield* NOTHING
  const isList = Array.isArray(result)
  const first: unknown = isList ? result[0] : result
  if (!isObject(first)) return
  for (const [name, value] of Object.entries(first))
    for (const part of Array.isArray(value) && isObject(value[0]) ? forms(value) : [undefined, null, '0xzz', {}]) {
      const other = { ...first, [name]: part }
      yield isList ? [other, ...result.slice(1)] : other
    }
}

for (const [name, read] of Object.entries(READS))
  test(`${name}: an odd part of any answer is no answer, and at worst a ChainFault`, async () => {
    odd.seen.clear()
    odd.rule = () => undefined
    await through([odd], read)
    for (const [method, result] of [...odd.seen])
      for (const form of forms(result)) {
        odd.rule = (call) => (call.method === method ? form : undefined)
        const [error] = await through([odd], read).then(
          () => [],
          (thrown: unknown) => [thrown],
        )
        assert.ok(error === undefined || error instanceof ChainFault, `${method}: ${JSON.stringify(form)}: ${error}`)
      }
  })

const inBlock = (change: (tx: Wire) => Wire) => (block: Wire) => ({
  ...block,
  transactions: (block.transactions as Wire[]).map((tx) => (isObject(tx) ? change(tx) : tx)),
})
const without =
  (...names: string[]) =>
  (one: Wire): Wire =>
    Object.fromEntries(Object.entries(one).filter(([name]) => !names.includes(name)))
const QUANTITIES =
  /^(number|timestamp|gas|gasUsed|gasLimit|gasPrice|baseFeePerGas|transactionIndex|blockNumber|value|type|status|logIndex|cumulativeGasUsed|effectiveGasPrice|max.*PerGas|yParity|v|r|s|chainId|balance)$/
/** The same in capitals, and quantities with a leading zero. */
function spelt(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => spelt(one, name))
  if (isObject(value)) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, spelt(one, key)]))
  if (typeof value !== 'string' || !/^0x[0-9a-f]*$/.test(value)) return value
  return (QUANTITIES.test(name) && value.length < 60 ? value.replace('0x', '0x0') : value)
    .toUpperCase()
    .replace('0X', '0x')
}

type Odd = [name: string, read: keyof typeof READS, method: string, change: (truth: never) => unknown]
const [PROOF, TOLD] = ['a proven block', 'a block that nothing proves']
const GO_ON: Odd[] = [
  ['receipts in capitals', TOLD, 'eth_getTransactionReceipt', spelt],
  ['logs in capitals', TOLD, 'eth_getLogs', spelt],
  ['a list of receipts in capitals', PROOF, 'eth_getBlockReceipts', spelt],
  ['an empty list of receipts', PROOF, 'eth_getBlockReceipts', () => []],
  ['a list that lacks a receipt', PROOF, 'eth_getBlockReceipts', (all: Wire[]) => all.slice(1)],
  ['receipts in another order', PROOF, 'eth_getBlockReceipts', (all: Wire[]) => all.toReversed()],
  ['a list with a null', PROOF, 'eth_getBlockReceipts', (all: Wire[]) => [null, ...all.slice(1)]],
  ['no list of receipts', PROOF, 'eth_getBlockReceipts', () => null],
  ['null for no logs', PROOF, 'eth_getBlockReceipts', (all: Wire[]) => all.map(nullForNoLogs)],
  ['no bloom', TOLD, 'eth_getBlockByNumber', without('logsBloom')],
  ['receipts without sender and price', TOLD, 'eth_getTransactionReceipt', without('from', 'effectiveGasPrice')],
  ['logs of receipts without a place', TOLD, 'eth_getTransactionReceipt', withoutPlaces],
  ['logs without a number', TOLD, 'eth_getLogs', (all: Wire[]) => all.map(without('logIndex'))],
  ['no proof of an account', 'a code', 'eth_getProof', () => ({ accountProof: [], storageProof: null })],
  ['an error in a stranger’s trace', 'inner transfers', 'debug_traceBlockByHash', aboutOthers(() => ({ error: 'x' }))],
  ['null for a stranger’s trace', 'inner transfers', 'debug_traceBlockByHash', aboutOthers(() => null)],
  ['a stranger’s frame without a caller', 'inner transfers', 'debug_traceBlockByHash', aboutOthers(withoutCaller)],
  ['traces without hashes', 'inner transfers', 'debug_traceBlockByHash', (all: Wire[]) => all.map(without('txHash'))],
  ['no gas limit', 'fees and an estimate', 'eth_getBlockByNumber', without('gasLimit')],
]
for (const read of [PROOF, TOLD]) {
  const places = without('transactionIndex', 'blockHash', 'blockNumber')
  GO_ON.push(
    ['data in place of input', read, 'eth_getBlockByNumber', inBlock(({ input, ...tx }) => ({ ...tx, data: input }))],
    [
      'no input where there is none',
      read,
      'eth_getBlockByNumber',
      inBlock(({ input, ...tx }) => (input === '0x' ? tx : { ...tx, input })),
    ],
    ['transactions without a place', read, 'eth_getBlockByNumber', inBlock(places)],
    ['capitals and leading zeros', read, 'eth_getBlockByNumber', spelt],
  )
}

function nullForNoLogs(receipt: Wire): Wire {
  return (receipt.logs as unknown[]).length === 0 ? { ...receipt, logs: null } : receipt
}
function withoutPlaces({ logs, ...receipt }: Wire): Wire {
  return { ...receipt, logs: (logs as Wire[]).map(without('blockHash', 'blockNumber', 'transactionHash', 'logIndex')) }
}
/** Changes the traces of transactions without an inner payment. */
function aboutOthers(change: (entry: Wire) => unknown) {
  return (all: Wire[]) => all.map((entry) => ((entry.result as Wire).calls ? entry : change(entry)))
}
function withoutCaller(entry: Wire): Wire {
  return { ...entry, result: { ...(entry.result as Wire), calls: [{ type: 'CALL', value: '0x1', to: stage.at(9) }] } }
}

for (const [name, read, method, change] of GO_ON)
  test(`${name} (${method}): ${read} is read all the same`, async () => {
    odd.rule = () => undefined
    const expected = await through([odd], READS[read] as Read)
    let changed = 0
    odd.rule = (call, truth) => {
      if (call.method !== method || truth === null) return undefined
      changed++
      return change(truth as never)
    }
    assert.deepEqual(await through([odd], READS[read] as Read), expected)
    assert.ok(changed > 0)
  })
type Read = (rpc: Rpc) => Promise<unknown>

test('another provider answers what the first one answers oddly', async () => {
  const ODD: [read: string, method: string, change: (truth: never) => unknown][] = [
    ['a mint’s receipt', 'eth_getTransactionReceipt', () => []],
    ['fees and an estimate', 'eth_maxPriorityFeePerGas', () => null],
    ['fees and an estimate', 'eth_getBlockByNumber', without('baseFeePerGas')],
    ['a balance', 'eth_getProof', () => ({ accountProof: ['0x'] })],
    ['the counters of the contract', 'eth_call', () => null],
    ['facts of a wallet', 'eth_chainId', () => 31_337],
  ]
  for (const [read, method, change] of ODD) {
    const expected = await through([honest], READS[read] as Read)
    odd.rule = (call, truth) => (call.method === method && truth !== null ? change(truth as never) : undefined)
    assert.deepEqual(await through([odd, honest], READS[read] as Read), expected, method)
  }
  odd.rule = ({ method }, truth) =>
    method === 'eth_getTransactionReceipt' ? without('status')(truth as Wire) : undefined
  const { transfers } = await through([odd, honest], (rpc) => observed(rpc, 'agreed'))
  assert.equal(transfers.length, 1)
})

test('a second provider’s odd answer is no vote, and no fault of the first one', async () => {
  for (const method of ['eth_getTransactionByHash', 'eth_getTransactionReceipt'])
    for (const form of [null, {}, [], { hash: '0x' }, 7]) {
      odd.rule = (call) => (call.method === method ? form : undefined)
      const { transfers } = await through([honest, odd], (rpc) => observed(rpc, 'agreed'))
      assert.deepEqual(
        transfers.map(({ valueWei, proof }) => [valueWei, proof]),
        [[42n, 'believed']],
        method,
      )
    }
})
