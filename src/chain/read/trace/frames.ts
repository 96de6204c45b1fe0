// Derives inner transfers from the frames of a trace, so that a transfer's index has one definition for every method of tracing. Reads frames in both
// forms that providers return: nested calls (callTracer) and flat traces (trace_block).
import { type Address, type Wei, wei } from '../../../domain/units.ts'
import { ChainFault } from '../../faults.ts'
import { address20, fields, list, malformed, quantity } from '../../rpc/wire.ts'

/** The most frames that we read in one transaction. A block's gas cannot pay for that many that carry value. */
const FRAMES_MAX = 100_000
/** Frames that move value. A delegated call shows its caller's value, and a static call has none. */
const MOVES_VALUE = new Set(['CALL', 'SELFDESTRUCT'])

/** A frame of a transaction. Frames are listed in order of execution: a call comes before the calls in it. */
export interface Frame {
  /** The EVM operation: CALL, DELEGATECALL, CREATE, SELFDESTRUCT, … */
  type: string
  from: Address
  /** Null for a failed creation. */
  to: Address | null
  valueWei: bigint
  /** A failed call is reverted, with all calls in it. */
  failed: boolean
  /** 0 is the transaction itself. */
  depth: number
}

/** A transfer made by a call within a transaction. */
export interface InnerMove {
  direction: 'in' | 'out'
  wallet: Address
  /** Position among the transaction's inner transfers to that wallet, or from it, from 1. */
  index: number
  /** The address at the other end. */
  other: Address
  valueWei: Wei
}

/**
 * The inner transfers to and from wallets, in order of execution. These are the CALL and SELFDESTRUCT frames below the top level that succeeded,
 * carry value and have no failed ancestor. An index counts the transfers of one wallet and direction.
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
  /** The depth of the failed frame that we are inside of; null outside of one. */
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

/** Some nodes return an empty string as the error of a successful call. */
const hasFailed = (error: unknown) => error != null && error !== ''

/** The frames of a transaction, from geth's callTracer. Throws a ChainFault if they are malformed. */
export function* nestedFrames(traced: unknown): Generator<Frame> {
  // Depth first, without recursion, because the sender of a transaction controls the depth of its trace.
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

/** The frames of a transaction, from trace_block's traces, in order of execution. Throws a ChainFault if they are malformed. */
export function* flatFrames(traces: readonly unknown[]): Generator<Frame> {
  if (traces.length > FRAMES_MAX) throw tooMany()
  let before = -1
  for (const trace of traces) {
    const given = fields<'type' | 'action' | 'error' | 'traceAddress'>(trace, 'trace')
    const depth = list(given.traceAddress, 'place of a trace').length
    // The first trace must be the transaction itself, and no later one may lack its caller.
    if (depth > before + 1 || (depth === 0) !== (before === -1)) malformed('order of traces')
    before = depth
    yield { ...flatAction(given.type, given.action), failed: hasFailed(given.error), depth }
  }
}

function flatAction(type: unknown, given: unknown): Pick<Frame, 'type' | 'from' | 'to' | 'valueWei'> {
  const action = fields<'callType' | 'from' | 'to' | 'value' | 'address' | 'refundAddress' | 'balance'>(given, 'action')
  const kind = String(type).toLowerCase()
  if (kind === 'suicide' || kind === 'selfdestruct')
    return {
      type: 'SELFDESTRUCT',
      from: address20(action.address, 'contract that ends'),
      to: address20(action.refundAddress, 'heir'),
      valueWei: quantity(action.balance, 'balance of a contract that ends'),
    }
  const isCall = kind === 'call'
  if (!isCall && !kind.startsWith('create')) malformed('type of a trace')
  return {
    type: isCall ? String(action.callType).toUpperCase() : 'CREATE',
    from: address20(action.from, 'caller'),
    to: isCall ? address20(action.to, 'callee') : null,
    valueWei: quantity(action.value, 'value of a call'),
  }
}

const tooMany = () => new ChainFault('a trace has more calls than are read', { retryable: true })
