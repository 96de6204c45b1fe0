// Reads the inner calls of a transaction that an operator names, from the provider's call trace (geth's callTracer, which most nodes support). Not
// every provider offers traces.
import type { Address, Hash } from '../../../domain/units.ts'
import type { InnerTransfer } from '../../../ports/chain.ts'
import { ChainFault } from '../../../ports/faults.ts'
import { isLimit } from '../../rpc/provider.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { innerMovesOf } from './frames.ts'

/**
 * The transfers to `to` by inner calls of a transaction, in order; null if the provider that answered cannot trace it. Throws if that one is
 * only busy, because a later attempt may work.
 */
export async function readInnerTransfers(rpc: RpcReads, txHash: Hash, to: Address): Promise<InnerTransfer[] | null> {
  const reply = await rpc.call('debug_traceTransaction', [txHash, { tracer: 'callTracer' }])
  if (!reply.ok && isLimit(reply.error)) throw new ChainFault('the provider is too busy for a trace')
  if (!reply.ok || reply.result === null) return null
  const moves = innerMovesOf(reply.result, [to]).filter(({ direction }) => direction === 'in')
  return moves.map(({ index, other: from, valueWei }) => ({ index, from, valueWei }))
}
