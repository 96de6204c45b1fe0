// The model behind JSON-RPC: the methods that the service and the tests use, answered as anvil answers them. If it does
// not have a method, that is a bug of the simulation, and it throws.
import type { Hex } from 'viem'
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../../src/domain/units.ts'
import { type MinedTransaction, type ModelBlock, type ModelChain, Refused } from './chain.ts'
import { proofOf } from './proofs.ts'
import { balanceOf, codeAt, nonceOf, type State, slotKey, wordAt } from './state.ts'
import { nestedTrace } from './traces.ts'
import { MODEL_CHAIN_ID, readRaw, sign, type Transaction, TYPE } from './transactions.ts'

const TIP = 1_000_000_000n
/** Blocks per epoch; two of them on top make a block final. Few, so some blocks become final in a seed. */
export const SLOTS_IN_EPOCH = 5
export const FINAL_AFTER = 2 * SLOTS_IN_EPOCH
const TRANSFER_GAS = 21_000n

/** A JSON-RPC error. */
export class ModelError extends Error {
  readonly code: number
  readonly data: unknown
  constructor(code: number, message: string, data?: unknown) {
    super(message)
    this.code = code
    this.data = data
  }
}

type Tag = string | { blockHash: Hash } | undefined
interface Request {
  from?: string
  to?: string | null
  value?: Hex
  data?: Hex
  input?: Hex
  gas?: Hex
  nonce?: Hex
  maxFeePerGas?: Hex
  maxPriorityFeePerGas?: Hex
}

const HASH_LENGTH = 66
const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`
const lower = (text: string): Address => text.toLowerCase() as Address

/** Answers one call. Throws ModelError for an error of the protocol. */
export async function answer(chain: ModelChain, method: string, params: readonly unknown[]): Promise<unknown> {
  const act = METHODS[method]
  if (!act) throw new Error(`the model chain has no ${method}`)
  try {
    return await act(chain, params as never)
  } catch (error) {
    if (error instanceof Refused) throw new ModelError(-32003, error.message)
    throw error
  }
}

/** The block of a tag; null if there is none. */
function find(chain: ModelChain, tag: Tag): ModelBlock | null {
  if (typeof tag === 'string' && tag.length === HASH_LENGTH) return find(chain, { blockHash: tag as Hash })
  if (typeof tag === 'object') return chain.blocks.find((block) => block.hash === tag.blockHash) ?? null
  if (tag === undefined || tag === 'latest' || tag === 'pending') return chain.head
  if (tag === 'earliest') return chain.blocks[0] ?? null
  if (tag === 'finalized' || tag === 'safe') return chain.blocks[Math.max(0, chain.head.number - FINAL_AFTER)] ?? null
  return chain.blocks[Number(tag)] ?? null
}

/** The block whose state a call reads. */
function at(chain: ModelChain, tag: Tag): ModelBlock {
  const block = find(chain, tag)
  if (block) return block
  if (typeof tag === 'object') throw new ModelError(-32001, 'Resource not found')
  const text = `BlockOutOfRangeError: block height is ${chain.head.number} but requested was ${Number(tag)}`
  throw new ModelError(-32602, text)
}

/** The state that a call reads. By number or hash it is what the block's header commits to; `latest` includes a test's changes since. */
function stateAt(chain: ModelChain, tag: Tag): State {
  return tag === undefined || tag === 'latest' || tag === 'pending' ? chain.state : at(chain, tag).state
}

function findTransaction(chain: ModelChain, hash: Hash): { block: ModelBlock; mined: MinedTransaction } | null {
  for (let i = chain.blocks.length - 1; i >= 0; i--) {
    const block = chain.blocks[i] as ModelBlock
    const mined = block.transactions.find((transaction) => transaction.hash === hash)
    if (mined) return { block, mined }
  }
  return null
}

function showTransaction(transaction: Transaction, block: ModelBlock | null, index: number | null) {
  const { hash, from, to, value, data, nonce, gas, maxFee, tip, signature } = transaction
  const { r, s, yParity } = signature
  const shown = {
    type: hex(TYPE),
    chainId: hex(MODEL_CHAIN_ID),
    hash,
    from,
    to,
    input: data,
    value: hex(value),
    nonce: hex(nonce),
    gas: hex(gas),
    maxFeePerGas: hex(maxFee),
    maxPriorityFeePerGas: hex(tip),
    accessList: [],
    r,
    s,
    yParity: hex(yParity),
    v: hex(yParity),
    blockHash: block?.hash ?? null,
    blockNumber: block ? hex(block.number) : null,
    transactionIndex: index === null ? null : hex(index),
  }
  return block ? block.shape.transaction(shown) : shown
}

function showLog(block: ModelBlock, mined: MinedTransaction, log: MinedTransaction['logs'][number]) {
  const shown = {
    address: log.address,
    topics: log.topics,
    data: log.data,
    removed: false,
    blockHash: block.hash,
    blockNumber: hex(block.number),
    transactionHash: mined.hash,
    transactionIndex: hex(mined.index),
    logIndex: hex(log.index),
  }
  return block.shape.log(shown, mined.logs.indexOf(log))
}

interface Own {
  shown: Record<string, unknown>
  receipt: Record<string, unknown>
}

/** The chain's own transactions of a block, beside those of its accounts: first and last. */
function ownOf(block: ModelBlock): { first: Own[]; last: Own[] } {
  const { system, tail } = block.shape
  const place = (index: number) => ({
    blockHash: block.hash,
    blockNumber: hex(block.number),
    transactionIndex: hex(index),
  })
  const [first, last] = [system?.(block.number), tail?.(block.number)]
  const lastAt = block.transactions.length + (first ? 1 : 0)
  return {
    first: first ? [{ shown: { ...first.shown, ...place(0) }, receipt: { ...first.receipt, ...place(0) } }] : [],
    last: last ? [{ shown: { ...last.shown, ...place(lastAt) }, receipt: { ...last.receipt, ...place(lastAt) } }] : [],
  }
}

function showBlock(block: ModelBlock | null, full: boolean) {
  if (!block) return null
  const { first, last } = ownOf(block)
  const own = (all: readonly Own[]) => all.map(({ shown }) => (full ? shown : shown.hash))
  return block.shape.block({
    hash: block.hash,
    ...block.header,
    uncles: [],
    withdrawals: [],
    transactions: [
      ...own(first),
      ...block.transactions.map((mined) => (full ? showTransaction(mined, block, mined.index) : mined.hash)),
      ...own(last),
    ],
  })
}

function showReceipt({ block, mined }: { block: ModelBlock; mined: MinedTransaction }) {
  return block.shape.receipt({
    transactionHash: mined.hash,
    transactionIndex: hex(mined.index),
    blockHash: block.hash,
    blockNumber: hex(block.number),
    from: mined.from,
    to: mined.to,
    contractAddress: mined.created,
    type: hex(TYPE),
    status: mined.succeeded ? '0x1' : '0x0',
    logsBloom: mined.bloom,
    gasUsed: hex(mined.gasUsed),
    cumulativeGasUsed: hex(mined.cumulativeGas),
    effectiveGasPrice: hex(mined.price),
    logs: mined.logs.map((log) => showLog(block, mined, log)),
  })
}

/** The chain's own transaction of this hash, in the last blocks. */
function findOwn(chain: ModelChain, hash: Hash) {
  for (const block of chain.blocks.toReversed()) {
    const { first, last } = ownOf(block)
    const found = [...first, ...last].find(({ shown }) => shown.hash === hash)
    if (found) return { shown: found.shown, receipt: block.shape.receipt(found.receipt) }
  }
  return null
}

interface Filter {
  address?: string
  topics?: (null | Hash | Hash[])[]
  fromBlock?: string
  toBlock?: string
  blockHash?: Hash
}

function logsOf(chain: ModelChain, filter: Filter) {
  const { blockHash } = filter
  const single = blockHash === undefined ? null : find(chain, { blockHash })
  if (blockHash !== undefined && !single) throw new ModelError(-32000, 'unknown block')
  const from = find(chain, filter.fromBlock ?? 'latest')?.number ?? Number(filter.fromBlock)
  const to = Math.min(find(chain, filter.toBlock ?? 'latest')?.number ?? Number(filter.toBlock), chain.head.number)
  const blocks = single ? [single] : chain.blocks.slice(from, to + 1)
  const fits = (topics: readonly Hash[]) =>
    (filter.topics ?? []).every((wanted, i) => wanted === null || [wanted].flat().includes(topics[i] as Hash))
  return blocks.flatMap((block) =>
    block.transactions.flatMap((mined) =>
      mined.logs
        .filter((log) => (!filter.address || lower(filter.address) === log.address) && fits(log.topics))
        .map((log) => showLog(block, mined, log)),
    ),
  )
}

/** Runs a call; throws its revert as anvil does. */
function run(chain: ModelChain, request: Request, tag: Tag) {
  const [block, state] = [at(chain, tag), stateAt(chain, tag)]
  const from = lower(request.from ?? ZERO_ADDRESS)
  const value = BigInt(request.value ?? 0)
  if (value > 0n && balanceOf(state, from) < value)
    throw new ModelError(-32003, 'Insufficient funds for gas * price + value')
  const to = request.to ? lower(request.to) : null
  const result = chain.call(block, state, { from, to, value, data: request.data ?? request.input ?? '0x' })
  if (result.succeeded) return result
  const { output } = result
  const words = output === '0x' ? 'execution reverted' : `execution reverted: custom error ${output}`
  throw new ModelError(3, words, output)
}

/** A request's transaction, signed, with missing fields filled in as anvil does. */
function complete(chain: ModelChain, request: Request): Transaction {
  const from = lower(request.from ?? ZERO_ADDRESS)
  const data = request.data ?? request.input ?? '0x'
  const transaction = sign({
    from,
    to: request.to ? lower(request.to) : null,
    value: BigInt(request.value ?? 0),
    data,
    nonce: request.nonce === undefined ? chain.nextNonce(from) : Number(request.nonce),
    gas: BigInt(request.gas ?? TRANSFER_GAS),
    maxFee: BigInt(request.maxFeePerGas ?? chain.head.baseFee * 2n + TIP),
    tip: BigInt(request.maxPriorityFeePerGas ?? TIP),
  })
  if (!transaction) throw new ModelError(-32602, 'No Signer available')
  return transaction
}

type Method = (chain: ModelChain, params: readonly [never, never, never?]) => unknown

const READING: Record<string, Method> = {
  web3_clientVersion: () => 'model/1',
  eth_chainId: () => hex(MODEL_CHAIN_ID),
  eth_blockNumber: (chain) => hex(chain.head.number),
  eth_maxPriorityFeePerGas: () => hex(TIP),
  eth_getBlockByNumber: (chain, [tag, full]) => showBlock(find(chain, tag), full),
  eth_getBlockByHash: (chain, [blockHash, full]) => showBlock(find(chain, { blockHash }), full),
  eth_getLogs: (chain, [filter]) => logsOf(chain, filter),
  eth_getBalance: (chain, [of, tag]) => hex(balanceOf(stateAt(chain, tag), lower(of))),
  eth_getTransactionCount: (chain, [of, tag]) =>
    hex(tag === 'pending' ? chain.nextNonce(lower(of)) : nonceOf(stateAt(chain, tag), lower(of))),
  eth_getCode: (chain, [of, tag]) => codeAt(stateAt(chain, tag), lower(of)),
  eth_getStorageAt: (chain, [of, slot, tag]) => wordAt(stateAt(chain, tag), lower(of), slot),
  eth_getProof: (chain, [of, slots, tag]) => proofOf(at(chain, tag), lower(of), slots),
  eth_call: (chain, [request, tag]) => run(chain, request, tag).output,
  eth_estimateGas: (chain, [request, tag]) => hex(run(chain, request, tag).gas),
  eth_getTransactionReceipt(chain, [hash]) {
    const found = findTransaction(chain, hash)
    return found ? showReceipt(found) : (findOwn(chain, hash)?.receipt ?? null)
  },
  eth_getBlockReceipts(chain, [tag]) {
    const block = find(chain, tag)
    if (!block) return null
    const { first, last } = ownOf(block)
    const own = (all: readonly Own[]) => all.map(({ receipt }) => block.shape.receipt(receipt))
    return [...own(first), ...block.transactions.map((mined) => showReceipt({ block, mined })), ...own(last)]
  },
  eth_getTransactionByHash(chain, [hash]) {
    const found = findTransaction(chain, hash)
    if (found) return showTransaction(found.mined, found.block, found.mined.index)
    const waiting = chain.pool.find((transaction) => transaction.hash === hash)
    return waiting ? showTransaction(waiting, null, null) : (findOwn(chain, hash)?.shown ?? null)
  },
  debug_traceBlockByHash(chain, [blockHash]) {
    const block = find(chain, { blockHash })
    if (!block) throw new ModelError(-32603, 'block not found')
    const { first, last } = ownOf(block)
    const own = (all: readonly Own[]) =>
      all.map(({ shown: { hash, from, to } }) => ({
        txHash: hash,
        result: block.shape.call({ type: 'CALL', from, to, value: '0x0', gas: '0x0', gasUsed: '0x0', input: '0x' }),
      }))
    return [
      ...own(first),
      ...block.transactions.map(({ hash, trace }) => ({ txHash: hash, result: nestedTrace(trace, block.shape.call) })),
      ...own(last),
    ]
  },
  debug_traceTransaction(chain, [hash]) {
    const found = findTransaction(chain, hash)
    return found && nestedTrace(found.mined.trace, found.block.shape.call)
  },
  eth_getRawTransactionByHash(chain, [hash]) {
    const waiting = chain.pool.find((transaction) => transaction.hash === hash)
    return waiting?.raw ?? findTransaction(chain, hash)?.mined.raw ?? null
  },
  eth_getRawTransactionByBlockHashAndIndex(chain, [blockHash, index]) {
    return find(chain, { blockHash })?.transactions.find((mined) => mined.index === Number(index))?.raw ?? null
  },
}

const ACTING: Record<string, Method> = {
  eth_sendTransaction(chain, [request]) {
    const transaction = complete(chain, request)
    chain.add(transaction)
    return transaction.hash
  },
  async eth_sendRawTransaction(chain, [raw]) {
    const transaction = await readRaw(raw)
    chain.add(transaction)
    return transaction.hash
  },
  anvil_mine(chain, [count, intervalSec]) {
    for (let i = 0; i < Number(count ?? 1); i++) chain.mine(intervalSec === undefined ? 1 : Number(intervalSec))
    return null
  },
  evm_increaseTime: (chain, [seconds]) => chain.increaseTime(Number(seconds)),
  evm_setNextBlockTimestamp: (chain, [time]) => chain.setNextTime(Number(time)),
  anvil_setNextBlockBaseFeePerGas: (chain, [wei]) => chain.setNextBaseFee(BigInt(wei)),
  anvil_setBalance: (chain, [of, wei]) => void chain.amend().balances.set(lower(of), BigInt(wei)),
  anvil_setCode(chain, [of, code]) {
    if ((code as string) === '0x') chain.amend().codes.delete(lower(of))
    else chain.amend().codes.set(lower(of), code)
  },
  anvil_setStorageAt: (chain, [of, slot, word]) =>
    void chain.amend().slots.set(slotKey(lower(of), slot), word ?? ZERO_HASH),
  anvil_dropAllTransactions(chain) {
    chain.pool = []
  },
  async anvil_reorg(chain, [depth, entries]) {
    const given: [Transaction, number][] = []
    for (const [entry, place] of entries as [Hex | Request, number][])
      given.push([typeof entry === 'string' ? await readRaw(entry) : complete(chain, entry), place])
    chain.reorganise(Number(depth), given)
    return null
  },
}

const METHODS: Record<string, Method> = { ...READING, ...ACTING }
