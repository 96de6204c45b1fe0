// The result of comparing a provider's answer with what it must hash to. It never says why a provider would lie, and decides nothing; the caller
// decides by what the chain could prove before.
import type { ProvenPart } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'

/** The compared part of a block, or of an answer about it. */
export type Part = ProvenPart | 'transaction' | 'sender'

/**
 * `proven`: it recomputes. `contradicted`: it is of a known form and recomputes to something else. `unprovable`: it cannot be recomputed here,
 * because a field or a form is unknown, missing or malformed, so nothing follows from it.
 */
export type Verdict =
  | { readonly kind: 'proven'; readonly part: Part }
  | { readonly kind: 'contradicted'; readonly part: Part; readonly given: string; readonly computed: string }
  | { readonly kind: 'unprovable'; readonly part: Part; readonly why: string }

/** The canonical bytes of something, or why there are none. */
export type Encoded = { readonly bytes: Uint8Array } | { readonly why: string }

export const unprovable = (part: Part, why: string): Verdict => ({ kind: 'unprovable', part, why })

/** The verdict on a provider's value and the computed one, both hex; case does not matter. */
export function compared(part: Part, given: unknown, computed: Hash | `0x${string}`): Verdict {
  if (typeof given !== 'string') return unprovable(part, 'there is nothing to compare with')
  return given.toLowerCase() === computed.toLowerCase()
    ? { kind: 'proven', part }
    : { kind: 'contradicted', part, given: given.slice(0, GIVEN_MAX), computed }
}

/** A verdict in a few words, for a log and an event. */
export function wordsOf(verdict: Verdict): string {
  if (verdict.kind === 'unprovable') return verdict.why
  return verdict.kind === 'proven' ? 'proven' : `given ${verdict.given}, computed ${verdict.computed}`
}

/** How many hex digits of a provider's answer a verdict carries: a hash, and no more of anything else. */
const GIVEN_MAX = 66
