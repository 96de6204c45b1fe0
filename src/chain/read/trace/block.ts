// Traces a block: finds the inner transfers to and from wallets, by any method that the provider supports. It never guesses. If a method fails, or
// its answer does not match the block, it tries the next method.
import { VOICES } from '../../../domain/finality.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import type { BlockRef, BlockTransfer } from '../../port.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { count, fields, hash32, list, malformed, toQuantity } from '../../rpc/wire.ts'
import { agreedAnswer } from '../state/agreement.ts'
import { type Frame, flatFrames, innerMovesOf, nestedFrames } from './frames.ts'

/** A transaction of a traced block. */
interface TracedTransaction {
  txHash: Hash
  txIndex: number
  frames: Iterable<Frame>
}

interface TraceMethod {
  /** The JSON-RPC method. */
  name: 'debug_traceBlockByHash' | 'trace_block'
  params(at: BlockRef): readonly unknown[]
  /** Reads an answer. Throws a ChainFault if the answer is malformed, or is not about that block. */
  read(answer: unknown, at: BlockRef): TracedTransaction[]
}
export type TraceMethodName = TraceMethod['name']

/**
 * The methods, the preferred one first: it names the block by its hash. For every kind of frame, all methods must yield the same list, which a test
 * checks against a real node. `eth_simulateV1` is not among them, because it runs the transactions again, under other rules than the block's.
 */
const METHODS: readonly TraceMethod[] = [
  {
    name: 'debug_traceBlockByHash',
    params: ({ hash }) => [hash, { tracer: 'callTracer' }],
    read: (answer) =>
      list(answer, 'block trace').map((given, txIndex) => {
        const { txHash, result } = fields<'txHash' | 'result'>(given, 'trace of a transaction')
        return { txHash: hash32(txHash, 'hash in a trace'), txIndex, frames: nestedFrames(result) }
      }),
  },
  {
    name: 'trace_block',
    params: ({ number }) => [toQuantity(number)],
    read(answer, at) {
      const byPlace = new Map<number, { txHash: Hash; traces: unknown[] }>()
      for (const trace of list(answer, 'block trace')) {
        const given = fields<'blockHash' | 'transactionHash' | 'transactionPosition' | 'type'>(trace, 'trace')
        if (hash32(given.blockHash, 'hash in a trace') !== at.hash) malformed('trace: it is of another block')
        // A reward for the miner is not part of a transaction.
        if (given.type === 'reward') continue
        const place = placeOf(given.transactionPosition)
        const txHash = hash32(given.transactionHash, 'hash in a trace')
        const known = byPlace.get(place)
        if (known && known.txHash !== txHash) malformed('trace: two transactions in one place')
        if (known) known.traces.push(trace)
        else byPlace.set(place, { txHash, traces: [trace] })
      }
      return [...byPlace].map(([txIndex, { txHash, traces }]) => ({ txHash, txIndex, frames: flatFrames(traces) }))
    },
  },
]

/** The methods that a provider supports; tries each of them once on a block. */
export async function probeTraceMethods(rpc: RpcReads, at: BlockRef): Promise<TraceMethodName[]> {
  const usable: TraceMethodName[] = []
  for (const method of METHODS) if ((await readBy(rpc, method, { at, wallets: [] })) !== null) usable.push(method.name)
  return usable
}

interface Question {
  at: BlockRef
  wallets: readonly Address[]
  /** Milliseconds for all methods together. By default, each method gets the usual timeout of a read. */
  timeoutMs?: number
}

/**
 * Inner transfers to and from wallets in one exact block, in order of execution, from one provider. Takes one request if the first method works. Null
 * if no method works.
 */
export async function readBlockTransfers(rpc: RpcReads, asked: Question): Promise<BlockTransfer[] | null> {
  const until = asked.timeoutMs === undefined ? null : performance.now() + asked.timeoutMs
  for (const method of METHODS) {
    const leftMs = until === null ? null : Math.ceil(until - performance.now())
    if (leftMs !== null && leftMs < LEAST_MS) return null
    const found = await readBy(rpc, method, { ...asked, ...(leftMs !== null && { timeoutMs: leftMs }) })
    if (found) return found
  }
  return null
}

async function readBy(
  rpc: RpcReads,
  method: TraceMethod,
  { at, wallets, timeoutMs }: Question,
): Promise<BlockTransfer[] | null> {
  try {
    const limits = timeoutMs === undefined ? {} : { attempts: 1, timeoutMs }
    const reply = await rpc.call(method.name, method.params(at), limits)
    if (!reply.ok) return null
    const transactions = method.read(reply.result, at).sort((a, b) => a.txIndex - b.txIndex)
    return transactions.flatMap(({ txHash, txIndex, frames }) =>
      innerMovesOf(frames, wallets).map((move) => ({ txHash, txIndex, ...move })),
    )
  } catch (error) {
    // There was no answer, or a malformed one. Another method may work, or a later attempt.
    if (error instanceof ChainFault && error.retryable) return null
    throw error
  }
}

/** The timeout for the trace of a block: less than half of a pass's time, so that the same run can still judge and mint payments that wait. */
const TRACE_TIMEOUT_MS = 8_000
/** If less time than this is left, we do not ask, because no answer would arrive in time. */
const LEAST_MS = 50
/** For how long we ask a provider for no traces after it timed out. The pause doubles each time, up to the maximum. */
const REST_MS = 60_000
const REST_MAX_MS = 960_000

/**
 * Creates the read of a block's inner transfers that does not depend on one provider: it returns the list on which enough providers agree. If a
 * provider does not answer a trace in time, we stop asking it for a while. So such a provider delays only one run.
 */
export function createBlockTracer(
  providers: readonly RpcReads[],
  { timeoutMs = TRACE_TIMEOUT_MS }: { timeoutMs?: number } = {},
): (at: BlockRef, wallets: readonly Address[]) => Promise<BlockTransfer[] | null> {
  const rests = new Map<RpcReads, { until: number; ms: number }>()
  const isResting = (provider: RpcReads) => (rests.get(provider)?.until ?? 0) > performance.now()

  async function ask(provider: RpcReads, at: BlockRef, wallets: readonly Address[]): Promise<BlockTransfer[] | null> {
    const began = performance.now()
    const found = await readBlockTransfers(provider, { at, wallets, timeoutMs })
    const now = performance.now()
    if (found !== null || now - began < timeoutMs - LEAST_MS) {
      rests.delete(provider)
      return found
    }
    const ms = Math.min(REST_MAX_MS, (rests.get(provider)?.ms ?? REST_MS / 2) * 2)
    rests.set(provider, { until: now + ms, ms })
    return null
  }

  return async (at, wallets) => {
    const awake = providers.filter((provider) => !isResting(provider))
    if (awake.length < Math.min(VOICES, providers.length)) return null
    const lists = await Promise.all(awake.map((provider) => ask(provider, at, wallets)))
    return agreedAnswer(lists, (found) => found.map((transfer) => Object.values(transfer).join(' ')).join('\n'))
  }
}

/** A position. Most providers return it as a number, some as a hex quantity. */
const placeOf = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : count(value, 'place of a trace')
