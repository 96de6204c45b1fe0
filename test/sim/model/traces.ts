// Traces of the model's transactions, as anvil answers them: nested by callTracer, and flat by trace_block.
import type { Hex } from 'viem'
import type { MinedTransaction, ModelBlock } from './chain.ts'
import type { Shape } from './shapes.ts'
import type { Call } from './state.ts'

const hex = (value: number | bigint): Hex => `0x${value.toString(16)}`
const FAILED = 'execution reverted'

/** A call with its internal ones, as callTracer shows them. */
export function nestedTrace(
  { type, from, to, value, failed, calls }: Call,
  shape: Shape['call'] = (shown) => shown,
): object {
  return shape({
    type,
    from,
    value: hex(value),
    gas: '0x0',
    gasUsed: '0x0',
    input: '0x',
    ...(to !== null && { to }),
    ...(failed && { error: FAILED }),
    ...(calls.length > 0 && { calls: calls.map((inner) => nestedTrace(inner, shape)) }),
  })
}

/** A transaction's calls one after the other, as trace_block shows them. */
export function flatTraces({ hash, index, trace }: MinedTransaction, block: ModelBlock): object[] {
  const where = {
    blockHash: block.hash,
    blockNumber: block.number,
    transactionHash: hash,
    transactionPosition: index,
  }
  const walk = (call: Call, traceAddress: number[]): object[] => [
    {
      ...where,
      traceAddress,
      subtraces: call.calls.length,
      ...flat(call),
      ...(call.failed && { error: 'Reverted' }),
    },
    ...call.calls.flatMap((inner, place) => walk(inner, [...traceAddress, place])),
  ]
  return walk(trace, [])
}

function flat({ type, from, to, value }: Call): object {
  if (type === 'SELFDESTRUCT')
    return { type: 'suicide', action: { address: from, refundAddress: to, balance: hex(value) } }
  if (type === 'CREATE') return { type: 'create', action: { from, value: hex(value), gas: '0x0', init: '0x' } }
  return { type: 'call', action: { callType: 'call', from, to, value: hex(value), gas: '0x0', input: '0x' } }
}
