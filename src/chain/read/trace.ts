// Reads the internal calls of a transaction, from the provider's call trace (geth's callTracer, which most nodes support). Only used when
// an operator looks for the payer of a residue; not every provider traces.
import { type Address, type Hash, wei } from '../../domain/units.ts'
import type { InnerTransfer } from '../port.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { address20, fields, list, quantity } from '../rpc/wire.ts'

/** Calls read in one trace; a block's worth of gas pays for fewer that carry value. */
const CALLS_MAX = 100_000
/** Calls that move value: a delegated or static call names its caller's or none. */
const MOVES_VALUE = new Set(['CALL', 'SELFDESTRUCT'])

/** True if the provider traces calls: without, value sent by a contract's code is invisible. */
export async function canTrace(rpc: RpcReads, to: Address): Promise<boolean> {
  return (await rpc.call('debug_traceCall', [{ to }, 'latest', { tracer: 'callTracer' }])).ok
}

/** Transfers to `to` by calls within a transaction, in their order; null where the provider cannot trace. */
export async function readInnerTransfers(rpc: RpcReads, txHash: Hash, to: Address): Promise<InnerTransfer[] | null> {
  const reply = await rpc.call('debug_traceTransaction', [txHash, { tracer: 'callTracer' }])
  if (!reply.ok || reply.result === null) return null
  const found: Omit<InnerTransfer, 'index'>[] = []
  const top = readCall(reply.result)
  if (top.failed) return []
  // Depth first, without recursion: the caller of the contract chooses the depth of a trace.
  const waiting = [...top.calls].reverse()
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen >= CALLS_MAX) return null
    const call = readCall(waiting.pop())
    // A failed call is undone, with the calls in it.
    if (call.failed) continue
    if (MOVES_VALUE.has(call.type) && call.to === to && call.valueWei > 0n)
      found.push({ from: call.from, valueWei: wei(call.valueWei) })
    for (let i = call.calls.length - 1; i >= 0; i--) waiting.push(call.calls[i])
  }
  return found.map((transfer, i) => ({ index: i + 1, ...transfer }))
}

function readCall(traced: unknown) {
  const given = fields<'type' | 'from' | 'to' | 'value' | 'error' | 'calls'>(traced, 'call trace')
  return {
    type: String(given.type),
    from: address20(given.from, 'caller'),
    to: given.to == null ? null : address20(given.to, 'callee'),
    valueWei: given.value == null ? 0n : quantity(given.value, 'value of a call'),
    failed: given.error != null,
    calls: given.calls == null ? [] : list(given.calls, 'calls'),
  }
}
