// Batches reads of single nodes: one request in each short interval, however many callers there are. It must never keep a caller waiting beyond its
// budget (the caller's own timeout ensures that), and never queue without limit.
import { type Address, address, wei } from '../../domain/units.ts'
import type { NodeReading } from '../../ports/contract.ts'
import { ChainFault } from '../../ports/faults.ts'
import { readView, viewCall } from '../factory/calls.ts'
import { isRevert } from '../rpc/provider.ts'
import { type Rpc, type RpcReply, resultOf } from '../rpc/rpc.ts'

/** The outcome of a read: its answer, which may be null for "there is none"; or null for "we could not read it". */
export type Outcome<T> = { answer: T } | null

interface Waiting {
  nodeId: bigint
  atBlock: number
  settle: (outcome: Outcome<NodeReading | null>) => void
}

export interface NodeQueueOptions {
  rpc: Rpc
  factory: Address
  clock: () => number
  coalesceMs: number
  nodesPerRequest: number
  waitingMax: number
  /** Runs one request within the budget and under the breaker that all readings share. */
  attempt: <T>(read: (timeoutMs: number) => Promise<T>) => Promise<Outcome<T>>
}

/** Creates the queue. `answer` is null if the contract has no such node at that block. */
export function createNodeQueue(
  options: NodeQueueOptions,
): (nodeId: bigint, atBlock: number) => Promise<Outcome<NodeReading | null>> {
  let waiting: Waiting[] = []
  let timer: NodeJS.Timeout | null = null
  let lastFlush = Number.NEGATIVE_INFINITY

  function flush(): void {
    timer = null
    lastFlush = options.clock()
    const batch = waiting.slice(0, options.nodesPerRequest)
    waiting = waiting.slice(options.nodesPerRequest)
    if (waiting.length > 0) schedule()
    void ask(options, batch)
  }

  function schedule(): void {
    // After a pause, the first read goes out immediately, together with all others from the same turn of the event loop.
    const delay = Math.max(0, lastFlush + options.coalesceMs - options.clock())
    timer ??= setTimeout(flush, delay)
    timer.unref()
  }

  return (nodeId, atBlock) =>
    new Promise((settle) => {
      if (waiting.length >= options.waitingMax) return settle(null)
      waiting.push({ nodeId, atBlock, settle })
      schedule()
    })
}

async function ask(options: NodeQueueOptions, batch: readonly Waiting[]): Promise<void> {
  const outcome = await options.attempt(async (timeoutMs) => {
    const calls = batch.map(({ nodeId, atBlock }) => viewCall(options.factory, atBlock, 'nodeInfo', [nodeId]))
    const replies = await options.rpc.batch(calls, { timeoutMs, attempts: 1 })
    const outcomes = replies.map((reply, index) => read(reply, (batch[index] as Waiting).atBlock))
    // If one node cannot be read, its caller handles that. If no node can be read, the provider is at fault.
    if (outcomes.every((one) => one === null)) throw new ChainFault('no node could be read')
    return outcomes
  })
  for (const [index, { settle }] of batch.entries()) settle(outcome?.answer[index] ?? null)
}

function read(reply: RpcReply, atBlock: number): Outcome<NodeReading | null> {
  if (!reply.ok && isRevert(reply.error)) return { answer: null }
  try {
    const [owner, balance, credited, withdrawn] = readView('nodeInfo', resultOf('nodeInfo', reply))
    return {
      answer: {
        owner: address(owner),
        balanceWei: wei(balance),
        creditedWei: wei(credited),
        withdrawnWei: wei(withdrawn),
        blockNumber: atBlock,
      },
    }
  } catch {
    return null
  }
}
