// Faults that change one call's answer. Each returns null if it would change nothing (for example if there were no logs
// to leave out), so we count only faults that really happened.
import { keccak256 } from 'viem'
import type { Dice } from './dice.ts'
import type { Answer, Call, CallFault } from './names.ts'

type Forward = (call: Call) => Promise<Answer>
type Alter = (call: Call, forward: Forward, dice: Dice) => Promise<Answer | null>

interface Block {
  number: string
  hash: string
  parentHash: string
}

const hex = (value: number) => `0x${value.toString(16)}`
/** A hash that no block has, as long as the true one. */
const otherHash = (hash: string) => keccak256(hash as `0x${string}`)
/** Lag of a balancer's slowest node, in blocks. */
const LAG_MAX = 3

const RATE_LIMITS = [
  { code: -32005, message: 'rate limit exceeded' },
  { code: 429, message: 'Your app has exceeded its compute units per second capacity.' },
  { code: -32007, message: '25/second request limit reached - reduce calls per second' },
]
const RANGE_LIMITS = [
  { code: -32005, message: 'query returned more than 10000 results' },
  { code: -32600, message: 'Under the Free tier plan, you can make eth_getLogs requests with up to a 1 block range.' },
  { code: -32602, message: 'query exceeds max block range 1' },
  { code: -32614, message: 'eth_getLogs is limited to a 1 range' },
]

const NONCES_AHEAD = 5_000
const HIGH_TIP_WEI = 300 * 10 ** 9

function resultOf<T>(answer: Answer): T | null {
  return 'result' in answer ? (answer.result as T) : null
}

async function headNumber(forward: Forward): Promise<number> {
  return Number(resultOf<string>(await forward({ method: 'eth_blockNumber', params: [] })) ?? 0)
}

/** Replaces the tag `latest` with an older block, wherever a call contains it. */
const staleHead: Alter = async (call, forward, dice) => {
  const at = Math.max(0, (await headNumber(forward)) - dice.between('staleHead', 1, LAG_MAX))
  if (call.method === 'eth_blockNumber') return { result: hex(at) }
  const place = call.params.indexOf('latest')
  if (place < 0) return null
  return forward({ ...call, params: call.params.with(place, hex(at)) })
}

/** Returns `instead` unless the true answer is empty. */
const nothing =
  (instead: null | []): Alter =>
  async (call, forward) => {
    const found = resultOf<unknown[] | object>(await forward(call))
    if (found === null || (Array.isArray(found) && found.length === 0)) return null
    return { result: instead }
  }

/** One call in a trace, in either method's format. */
interface TracedCall {
  type?: unknown
  from?: unknown
  value?: unknown
  calls?: TracedCall[]
}

/** The calls with value in a trace's transactions, so that a fault can change them. */
export function callsInside(traced: unknown): TracedCall[] {
  const all = (Array.isArray(traced) ? traced : [traced]) as {
    result?: TracedCall
    type?: string
    traceAddress?: number[]
    action?: TracedCall
  }[]
  const below = (call: TracedCall | undefined): TracedCall[] =>
    call?.calls?.flatMap((inner) => [inner, ...below(inner)]) ?? []
  return all
    .flatMap(({ result, type, traceAddress = [], action }) =>
      action ? (type === 'call' && traceAddress.length > 0 ? [action] : []) : below(result).filter(isPlainCall),
    )
    .filter(({ value }) => typeof value === 'string' && BigInt(value) > 0n)
}
const isPlainCall = ({ type }: TracedCall) => type === 'CALL'

const ALTER: Record<CallFault, Alter> = {
  staleHead,
  missingBlock: nothing(null),
  nullTransaction: nothing(null),
  nullReceipt: nothing(null),
  emptyLogs: nothing([]),
  async otherFork(call, forward) {
    const block = resultOf<Block>(await forward(call))
    return block && { result: { ...block, parentHash: otherHash(block.parentHash) } }
  },
  async partialLogs(call, forward) {
    const logs = resultOf<unknown[]>(await forward(call))
    return logs && logs.length > 0 ? { result: logs.slice(0, -1) } : null
  },
  async foreignReceipt(call, forward) {
    const receipts = resultOf<Receipt | Receipt[]>(await forward(call))
    if (!receipts) return null
    return { result: Array.isArray(receipts) ? receipts.map(foreignOf) : foreignOf(receipts) }
  },
  async wrongChainId() {
    return { result: '0x1' }
  },
  async highNonce(call, forward) {
    if (call.params[1] !== 'latest') return null
    const nonce = resultOf<string>(await forward(call))
    return nonce === null ? null : { result: hex(Number(nonce) + NONCES_AHEAD) }
  },
  async highTip() {
    return { result: hex(HIGH_TIP_WEI) }
  },
  async rateLimit(_call, _forward, dice) {
    return { error: dice.pick('rateLimit', RATE_LIMITS) }
  },
  async rangeLimit({ params }, _forward, dice) {
    const { fromBlock, toBlock } = params[0] as { fromBlock?: string; toBlock?: string }
    return fromBlock === toBlock ? null : { error: dice.pick('rangeLimit', RANGE_LIMITS) }
  },
  async internalError() {
    return { error: { code: -32603, message: 'Internal error' } }
  },
  async swallowed({ params }) {
    return { result: keccak256(params[0] as `0x${string}`) }
  },
  async sendRefused(call, forward) {
    await forward(call)
    return { error: { code: -32000, message: 'the sequencer is taking a nap' } }
  },
  async noTraces({ method }) {
    return { error: { code: -32601, message: `the method ${method} does not exist/is not available` } }
  },
  async shortTrace(call, forward) {
    const traced = resultOf<unknown[]>(await forward(call))
    const last = callsInside(traced).at(-1)
    if (!last) return null
    last.value = '0x0'
    return { result: traced }
  },
}

interface Receipt {
  blockHash: string
  status: string
}

const foreignOf = (receipt: Receipt): Receipt => ({
  ...receipt,
  blockHash: otherHash(receipt.blockHash),
  status: receipt.status === '0x1' ? '0x0' : '0x1',
})

const BLOCKS = ['eth_getBlockByNumber']
const LOGS = ['eth_getLogs']
const RECEIPTS = ['eth_getTransactionReceipt', 'eth_getBlockReceipts']
const SENDS = ['eth_sendRawTransaction']
const TRACES = ['debug_traceBlockByHash']

/** The methods that a fault can affect; null means all but sends. */
const BEFALLS: Record<CallFault, readonly string[] | null> = {
  staleHead: ['eth_blockNumber', 'eth_getBlockByNumber', 'eth_getTransactionCount', 'eth_getBalance'],
  missingBlock: BLOCKS,
  otherFork: BLOCKS,
  emptyLogs: LOGS,
  partialLogs: LOGS,
  rangeLimit: LOGS,
  nullReceipt: RECEIPTS,
  foreignReceipt: RECEIPTS,
  nullTransaction: ['eth_getTransactionByHash'],
  wrongChainId: ['eth_chainId'],
  highNonce: ['eth_getTransactionCount'],
  highTip: ['eth_maxPriorityFeePerGas'],
  rateLimit: null,
  internalError: null,
  swallowed: SENDS,
  sendRefused: SENDS,
  noTraces: TRACES,
  shortTrace: TRACES,
}

/** True if a fault can affect this method at all. */
export function befalls(fault: CallFault, method: string): boolean {
  const methods = BEFALLS[fault]
  return methods ? methods.includes(method) : !SENDS.includes(method)
}

/** The answer as changed by the fault; null if it changes nothing. */
export function alter(fault: CallFault, call: Call, forward: Forward, dice: Dice): Promise<Answer | null> {
  return ALTER[fault](call, forward, dice)
}
