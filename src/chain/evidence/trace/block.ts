// Traces a block: finds the inner transfers to and from wallets (geth's callTracer, which most nodes support). It never guesses.
import { voicesNeeded } from '../../../domain/finality.ts'
import type { Address } from '../../../domain/units.ts'
import type { BlockRef, BlockTransfer } from '../../../ports/chain.ts'
import { ChainFault, orNull } from '../../../ports/faults.ts'
import type { Fields } from '../../prove/items.ts'
import type { ReadOptions, Rpc, RpcReads } from '../../rpc/rpc.ts'
import { fields, hash32, header, list, toQuantity } from '../../rpc/wire.ts'
import { agreedAnswer } from '../state/agreement.ts'
import { innerMovesOf } from './frames.ts'

interface Question {
  at: BlockRef
  wallets: readonly Address[]
  /** Milliseconds for the trace. By default, the usual timeout of a read. */
  timeoutMs?: number
}

/**
 * Inner transfers to and from wallets in one exact block, in order of execution, from one provider, in one request. Null if the provider does not
 * trace the block, or none of its transactions. `eth_simulateV1` would be no substitute, because it runs the transactions again, under rules other than the block's.
 */
export async function readBlockTransfers(
  rpc: RpcReads,
  { at, wallets, timeoutMs }: Question,
): Promise<BlockTransfer[] | null> {
  try {
    const limits = timeoutMs === undefined ? {} : { attempts: 1, timeoutMs }
    const reply = await rpc.call('debug_traceBlockByHash', [at.hash, { tracer: 'callTracer' }], limits)
    if (!reply.ok) return null
    const entries = list(reply.result, 'block trace').map((entry): Fields => Object(entry))
    const moves = await Promise.all(entries.map(async ({ result }) => await orNull(movesOf(result, wallets))))
    if (entries.length > 0 && moves.every((txMoves) => txMoves === null)) return null
    const isUnnamed = moves.some((txMoves, index) => txMoves?.length && entries[index]?.txHash == null)
    const hashes = isUnnamed ? await hashesIn(rpc, at, limits) : []
    return moves.flatMap((txMoves, txIndex) =>
      (txMoves ?? []).map((move) => {
        const txHash = hash32(entries[txIndex]?.txHash ?? hashes[txIndex], 'hash in a trace')
        return { txHash, txIndex, ...move }
      }),
    )
  } catch (error) {
    // There was no answer, or a malformed one. A later attempt may work.
    if (error instanceof ChainFault && error.retryable) return null
    throw error
  }
}

/**
 * The inner transfers of one transaction. Throws a ChainFault if it was not traced: a stranger's may have more frames than we read, or end the tracer.
 * That takes nothing from the others, because what they show must add up to a difference, to the wei.
 */
const movesOf = async (result: unknown, wallets: readonly Address[]) => innerMovesOf(result, wallets)

/** The hashes of a block's transactions, for nodes whose traces do not name them. */
async function hashesIn(rpc: RpcReads, at: BlockRef, limits: ReadOptions): Promise<unknown[]> {
  const block = await rpc.request('eth_getBlockByHash', [at.hash, false], limits)
  return list(fields<'transactions'>(block, 'block').transactions, 'transactions')
}

/** How many blocks we search for one that has transactions. */
const FILLED_WITHIN = 20

/** True if the provider traces its newest block that has transactions. We look for one, because any node can trace an empty block. */
export async function tracesBlocks(rpc: RpcReads, limits: ReadOptions = {}): Promise<boolean> {
  const read = (tag: string) => rpc.request('eth_getBlockByNumber', [tag, false], limits)
  let block = await read('latest')
  for (let left = FILLED_WITHIN; left > 0; left--) {
    if (list(fields<'transactions'>(block, 'block').transactions, 'transactions').length > 0) break
    block = await read(toQuantity(Math.max(0, header(block).number - 1)))
  }
  return (await readBlockTransfers(rpc, { at: header(block), wallets: [], ...limits })) !== null
}

/** True if enough providers trace blocks for a trace to count: two, or the only one. Without traces we do not see what contracts send. */
export async function haveTraces({ providers }: Pick<Rpc, 'providers'>, limits?: ReadOptions): Promise<boolean> {
  const tracing = await Promise.all(providers.map((provider) => orNull(tracesBlocks(provider, limits))))
  return tracing.filter(Boolean).length >= voicesNeeded(providers.length)
}

/** The timeout for the trace of a block: less than half of a pass's time, so that the same run can still judge and mint payments that wait. */
const TRACE_TIMEOUT_MS = 8_000
/** A trace that took all its time but this timed out. */
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
    const transfers = await readBlockTransfers(provider, { at, wallets, timeoutMs })
    const now = performance.now()
    if (transfers !== null || now - began < timeoutMs - LEAST_MS) {
      rests.delete(provider)
      return transfers
    }
    const ms = Math.min(REST_MAX_MS, (rests.get(provider)?.ms ?? REST_MS / 2) * 2)
    rests.set(provider, { until: now + ms, ms })
    return null
  }

  return async (at, wallets) => {
    const awake = providers.filter((provider) => !isResting(provider))
    if (awake.length < voicesNeeded(providers.length)) return null
    const lists = await Promise.all(awake.map((provider) => ask(provider, at, wallets)))
    return agreedAnswer(lists, (transfers) => transfers.map((transfer) => Object.values(transfer).join(' ')).join('\n'))
  }
}
