// Refuses answers that do not recompute, once the ledger has seen that this chain's do. All reads through the same providers share it, so what one
// learns applies to the others.
import type { FailedProof, ProofStates, ProvenPart } from '../../domain/observed.ts'
import { ProofFault } from '../faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { proveHeader } from './header.ts'
import { type Verdict, wordsOf } from './verdict.ts'

export interface Soundness {
  /** What the ledger says about each part. */
  states: ProofStates
  /** True while lists of transactions must be proven whatever they hold, because a provider has given a wrong one. */
  isDoubted: boolean
  /** Answers that we did not accept, until the next range reports them. */
  failed: FailedProof[]
  /** All providers, because what cannot be recomputed rests on two of them. */
  readonly voices: readonly RpcReads[]
}

/** True while a part must recompute. */
export const isAskedFor = ({ states }: Soundness, part: ProvenPart): boolean => states.get(part) === 'askedFor'

/** Throws a ProofFault if a block's header must recompute and does not. */
export function assertSound(soundness: Soundness, block: unknown, number: number): void {
  if (isAskedFor(soundness, 'header')) isHeaderSound(soundness, block, number)
}

/** Whether a block's header recomputes. Throws a ProofFault if it must and does not. */
export function isHeaderSound(soundness: Soundness, block: unknown, number: number): boolean {
  const verdict = proveHeader(block)
  if (verdict.kind === 'proven') return true
  if (isAskedFor(soundness, 'header')) throw new ProofFault('header', number, wordsOf(verdict))
  return false
}

/**
 * Whether a verdict on a part of a block proves it. Throws a ProofFault if it must and does not. Also throws for a contradiction unless the part was
 * lowered; for a list under a proven root even if we never required that.
 */
export function isSound(soundness: Soundness, part: ProvenPart, verdict: Verdict, number: number): boolean {
  if (verdict.kind === 'proven') return true
  const state = soundness.states.get(part)
  if (state === 'askedFor' || (state === undefined && verdict.kind === 'contradicted'))
    throw new ProofFault(part, number, wordsOf(verdict))
  return false
}

/** Keeps an answer that we did not accept, to report it. */
export function noteFailed({ failed }: Soundness, { part, blockNumber, says }: ProofFault, host: string): void {
  if (failed.length < FAILED_MAX) failed.push({ part, blockNumber, host, says })
}

/** A few are enough to report; those of a range may be hundreds. */
const FAILED_MAX = 16
