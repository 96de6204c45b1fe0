// Traces a block: the inner transfers to and from wallets, by whichever method a provider has. It never answers a guess: a method that fails,
// or whose answer does not fit the block, gives way to the next one.
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import type { BlockRef, BlockTransfer } from '../../port.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { count, fields, hash32, list, malformed, toQuantity } from '../../rpc/wire.ts'
import { type Frame, flatFrames, innerMovesOf, nestedFrames } from './frames.ts'

/** A transaction of a traced block. */
interface TracedTransaction {
  txHash: Hash
  txIndex: number
  frames: Iterable<Frame>
}

interface TraceMethod {
  /** The name by which a provider offers it. */
  name: 'debug_traceBlockByHash' | 'trace_block'
  params(at: BlockRef): readonly unknown[]
  /** Reads an answer; throws a ChainFault where it is malformed, or not about that block. */
  read(answer: unknown, at: BlockRef): TracedTransaction[]
}
export type TraceMethodName = TraceMethod['name']

/**
 * The methods, the first one preferred: it names the block by its hash. Each has to give the same list for every kind of frame, which a test
 * holds against a real node. `eth_simulateV1` is not among them: it runs transactions again, by other rules than the block's own.
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
        // A miner's reward is no transaction.
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

/** The methods that a provider has, by one request each about a block. */
export async function probeTraceMethods(rpc: RpcReads, at: BlockRef): Promise<TraceMethodName[]> {
  const usable: TraceMethodName[] = []
  for (const method of METHODS) if ((await readBy(rpc, method, at, [])) !== null) usable.push(method.name)
  return usable
}

/**
 * Inner transfers to and from wallets in one very block, in order of execution, through one provider: one request where its first method
 * serves. Null where no method does.
 */
export async function readBlockTransfers(
  rpc: RpcReads,
  at: BlockRef,
  wallets: readonly Address[],
): Promise<BlockTransfer[] | null> {
  for (const method of METHODS) {
    const found = await readBy(rpc, method, at, wallets)
    if (found) return found
  }
  return null
}

async function readBy(
  rpc: RpcReads,
  method: TraceMethod,
  at: BlockRef,
  wallets: readonly Address[],
): Promise<BlockTransfer[] | null> {
  try {
    const reply = await rpc.call(method.name, method.params(at))
    if (!reply.ok) return null
    const transactions = method.read(reply.result, at).sort((a, b) => a.txIndex - b.txIndex)
    return transactions.flatMap(({ txHash, txIndex, frames }) =>
      innerMovesOf(frames, wallets).map((move) => ({ txHash, txIndex, ...move })),
    )
  } catch (error) {
    // No answer, or a malformed one: another method, or a later attempt, may do.
    if (error instanceof ChainFault && error.retryable) return null
    throw error
  }
}

/** Providers that must give the same list, where there are so many: a single one must not say who paid. */
const VOICES = 2

/** The list that enough providers give, and more of them than give any other; null where they do not agree. */
export async function agreedBlockTransfers(
  providers: readonly RpcReads[],
  at: BlockRef,
  wallets: readonly Address[],
): Promise<BlockTransfer[] | null> {
  const lists = await Promise.all(providers.map((provider) => readBlockTransfers(provider, at, wallets)))
  const voices = new Map<string, { found: BlockTransfer[]; count: number }>()
  for (const found of lists) {
    if (found === null) continue
    const key = found.map((transfer) => Object.values(transfer).join(' ')).join('\n')
    voices.set(key, { found, count: (voices.get(key)?.count ?? 0) + 1 })
  }
  const [first, second] = [...voices.values()].sort((a, b) => b.count - a.count)
  if (!first || first.count < Math.min(VOICES, providers.length) || first.count === second?.count) return null
  return first.found
}

/** Providers answer a place as a number, some as a hex quantity. */
const placeOf = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : count(value, 'place of a trace')
