// Finds the inner transfers in the frames of a trace: the nested calls of geth's callTracer. A transfer's index is defined here, so that it is the
// same for a block and for a transaction.
import { type Address, wei } from '../../../domain/units.ts'
import type { BlockTransfer } from '../../../ports/chain.ts'
import { ChainFault } from '../../../ports/faults.ts'
import { address20, fields, list, quantity } from '../../rpc/wire.ts'

/** The most frames that we read of one transaction. If frames carry value, a block's gas cannot pay for so many. */
const FRAMES_MAX = 100_000
/** Types of frames that move value. A delegated call shows its caller's value without moving it, and a static call has no value. */
const MOVES_VALUE = new Set(['CALL', 'SELFDESTRUCT'])

/** A transfer made by a call within a transaction. */
export type InnerMove = Omit<BlockTransfer, 'txHash' | 'txIndex'>

/** Some nodes return an empty string as the error of a call that succeeded. */
const hasFailed = (error: unknown) => error != null && error !== ''

/**
 * The inner transfers to and from wallets in geth's trace of a transaction, in order of execution. They are the CALL and SELFDESTRUCT frames below
 * the top level that carry value, did not fail, and are not within a call that failed. The index counts per wallet and direction. Throws a ChainFault
 * if the trace is malformed.
 */
export function innerMovesOf(trace: unknown, wallets: readonly Address[]): InnerMove[] {
  const moves: InnerMove[] = []
  const counts = new Map<string, number>()
  const note = (direction: 'in' | 'out', wallet: Address, other: Address, valueWei: bigint) => {
    if (!wallets.includes(wallet)) return
    const index = (counts.get(direction + wallet) ?? 0) + 1
    counts.set(direction + wallet, index)
    moves.push({ direction, wallet, index, other, valueWei: wei(valueWei) })
  }
  // Depth first and without recursion, because the sender of a transaction controls how deep its trace is. A call comes before the calls that it makes.
  const waiting: unknown[] = [trace]
  for (let frameCount = 0; waiting.length > 0; frameCount++) {
    if (frameCount >= FRAMES_MAX) throw new ChainFault('a trace has more calls than are read')
    const frame = fields<'type' | 'from' | 'to' | 'value' | 'error' | 'calls'>(waiting.pop(), 'call trace')
    // A call that failed is reverted, together with all calls that it made.
    if (hasFailed(frame.error)) continue
    const valueWei = frame.value == null ? 0n : quantity(frame.value, 'value of a call')
    // The first frame is the transaction itself. zkSync's nodes write "Call".
    if (frameCount > 0 && valueWei > 0n && frame.to != null && MOVES_VALUE.has(String(frame.type).toUpperCase())) {
      const [from, to] = [address20(frame.from, 'caller'), address20(frame.to, 'callee')]
      note('in', to, from, valueWei)
      note('out', from, to, valueWei)
    }
    const calls = frame.calls == null ? [] : list(frame.calls, 'calls')
    for (const call of calls.toReversed()) waiting.push(call)
  }
  return moves
}
