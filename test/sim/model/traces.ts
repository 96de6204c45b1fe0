// Traces of the model's transactions, as anvil answers them: nested, by callTracer.
import type { Hex } from 'viem'
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
