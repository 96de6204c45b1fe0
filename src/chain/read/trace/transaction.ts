// Reads the internal calls of a transaction that an operator names, from the provider's call trace (geth's callTracer, which most nodes
// support); not every provider traces.
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import type { InnerTransfer } from '../../port.ts'
import { isLimit } from '../../rpc/provider.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { innerMovesOf, nestedFrames } from './frames.ts'

/** True if the provider traces calls: without, value sent by a contract's code is invisible. */
export async function canTrace(rpc: RpcReads, to: Address): Promise<boolean> {
  return (await rpc.call('debug_traceCall', [{ to }, 'latest', { tracer: 'callTracer' }])).ok
}

/** Transfers to `to` by calls within a transaction, in their order; null where no provider can trace it. One that is too busy for now may yet. */
export async function readInnerTransfers(rpc: RpcReads, txHash: Hash, to: Address): Promise<InnerTransfer[] | null> {
  const reply = await rpc.call('debug_traceTransaction', [txHash, { tracer: 'callTracer' }])
  if (!reply.ok && isLimit(reply.error))
    throw new ChainFault('the provider is too busy for a trace', { retryable: true })
  if (!reply.ok || reply.result === null) return null
  const moves = innerMovesOf(nestedFrames(reply.result), [to]).filter(({ direction }) => direction === 'in')
  return moves.map(({ index, other: from, valueWei }) => ({ index, from, valueWei }))
}
