// Finds the inner transfers in the frames of a trace: the nested calls of geth's callTracer. A transfer's index is defined here, so that it is the
// same for a block and for a transaction.
import { type Address, wei } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import type { BlockTransfer } from '../../port.ts'
import { address20, fields, list, quantity } from '../../rpc/wire.ts'

/** The most frames that we read of one transaction. If frames carry value, a block's gas cannot pay for so many. */
const FRAMES_MAX = 100_000
/** Types of frames that move value. A delegated call shows its caller's value without moving it, and a static call has no value. */
const MOVES_VALUE = new Set(['CALL', 'SELFDESTRUCT'])

/** A frame of a transaction. Frames come in order of execution: a call comes before the calls that it makes. */
export interface Frame {
  /** The EVM operation: CALL, DELEGATECALL, CREATE, SELFDESTRUCT, … */
  type: string
  from: Address
  /** Null if a creation failed. */
  to: Address | null
  valueWei: bigint
  /** True if the call failed. It is then reverted, together with all calls that it made. */
  failed: boolean
  /** How deep the call is nested; 0 is the transaction itself. */
  depth: number
}

/** A transfer made by a call within a transaction. */
export type InnerMove = Omit<BlockTransfer, 'txHash' | 'txIndex'>

/**
 * The inner transfers to and from wallets, in order of execution. They are the CALL and SELFDESTRUCT frames below the top level that carry value, did
 * not fail, and are not within a call that failed. The index counts per wallet and direction.
 */
export function innerMovesOf(frames: Iterable<Frame>, wallets: readonly Address[]): InnerMove[] {
  const found: InnerMove[] = []
  const counts = new Map<string, number>()
  const note = (direction: 'in' | 'out', wallet: Address | null, other: Address | null, valueWei: bigint) => {
    if (wallet === null || other === null || !wallets.includes(wallet)) return
    const index = (counts.get(direction + wallet) ?? 0) + 1
    counts.set(direction + wallet, index)
    found.push({ direction, wallet, index, other, valueWei: wei(valueWei) })
  }
  /** The depth of the failed frame within which we are; null if we are not within one. */
  let failedAt: number | null = null
  for (const { type, from, to, valueWei, failed, depth } of frames) {
    if (failedAt !== null && depth > failedAt) continue
    failedAt = failed ? depth : null
    if (failed || depth === 0 || !MOVES_VALUE.has(type) || valueWei === 0n) continue
    note('in', to, from, valueWei)
    note('out', from, to, valueWei)
  }
  return found
}

/** Some nodes return an empty string as the error of a call that succeeded. */
const hasFailed = (error: unknown) => error != null && error !== ''

/** The frames of a transaction from geth's callTracer. Throws a ChainFault if they are malformed. */
export function* framesOf(traced: unknown): Generator<Frame> {
  // Depth first and without recursion, because the sender of a transaction controls how deep its trace is.
  const waiting: { call: unknown; depth: number }[] = [{ call: traced, depth: 0 }]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen >= FRAMES_MAX) throw tooMany()
    const { call, depth } = waiting.pop() as (typeof waiting)[number]
    const given = fields<'type' | 'from' | 'to' | 'value' | 'error' | 'calls'>(call, 'call trace')
    yield {
      // zkSync's nodes write "Call".
      type: String(given.type).toUpperCase(),
      from: address20(given.from, 'caller'),
      to: given.to == null ? null : address20(given.to, 'callee'),
      valueWei: given.value == null ? 0n : quantity(given.value, 'value of a call'),
      failed: hasFailed(given.error),
      depth,
    }
    const calls = given.calls == null ? [] : list(given.calls, 'calls')
    for (let i = calls.length - 1; i >= 0; i--) waiting.push({ call: calls[i], depth: depth + 1 })
  }
}

const tooMany = () => new ChainFault('a trace has more calls than are read', { retryable: true })
