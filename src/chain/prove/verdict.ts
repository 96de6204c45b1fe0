// The result of comparing a provider's answer with the hash that it must match. The result decides nothing: what follows from it depends on what this
// chain could prove before, and the caller decides.
import type { ProvenPart } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'

/** The part of a block, or of an answer about a block, that we compare. */
export type Part = ProvenPart | 'transaction' | 'sender'

/**
 * `proven`: it has the right hash. `contradicted`: it has a different hash; `beside` names fields that we do not know. `unprovable`: we cannot compute
 * a hash, because a field or the form is unknown, missing or malformed; that shows nothing either way.
 */
export type Verdict =
  | { readonly kind: 'proven'; readonly part: Part }
  | {
      readonly kind: 'contradicted'
      readonly part: Part
      readonly given: string
      readonly computed: string
      readonly beside?: string
    }
  | { readonly kind: 'unprovable'; readonly part: Part; readonly why: string }

/** The canonical bytes of a value, or why there are none. */
export type Encoded = { readonly bytes: Uint8Array } | { readonly why: string }

export const unprovable = (part: Part, why: string): Verdict => ({ kind: 'unprovable', part, why })

/** Compares the value that a provider gave with the computed one. Both are hex; upper and lower case are the same. */
export function compared(part: Part, value: unknown, computedHash: Hash | `0x${string}`): Verdict {
  if (typeof value !== 'string' || !value.startsWith('0x')) return unprovable(part, 'there is nothing to compare with')
  return value.toLowerCase() === computedHash.toLowerCase()
    ? { kind: 'proven', part }
    : { kind: 'contradicted', part, given: shortened(value), computed: computedHash }
}

/** A verdict as a few words, for a log and an event. */
export function wordsOf(verdict: Verdict): string {
  if (verdict.kind === 'unprovable') return verdict.why
  if (verdict.kind === 'proven') return 'proven'
  const { beside } = verdict
  return `given ${verdict.given}, computed ${verdict.computed}${beside === undefined ? '' : `, ${beside}`}`
}

/** How many characters of a provider's value a verdict quotes at most: the length of a hash with `0x`. */
const GIVEN_MAX = 66
export const shortened = (value: unknown): string => String(value).slice(0, GIVEN_MAX)
