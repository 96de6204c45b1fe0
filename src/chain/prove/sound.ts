// Rejects answers that do not recompute, once we have seen that this chain's blocks do. All reads through the same providers share it, so what one
// learns applies to all.
import type { FailedProof, ProofStates, ProvenPart } from '../../domain/observed.ts'
import { ProofFault } from '../faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { proveHeader } from './header.ts'
import { type Verdict, wordsOf } from './verdict.ts'

export interface Soundness {
  /** The ledger's proof state of each part. */
  states: ProofStates
  /** True while every transaction list must be proven, even if nothing in it concerns us, because a provider returned a wrong one. */
  isDoubted: boolean
  /** Answers that we rejected, until the next range reports them. */
  failed: FailedProof[]
  /** All providers, because two of them must agree on what we cannot recompute. */
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
 * Whether a verdict proves a part of a block. Throws a ProofFault if the part must be proven and is not. Also throws for a contradiction, unless the
 * part was lowered; under a proven root that holds for a list even if we never required proof.
 */
export function isSound(soundness: Soundness, part: ProvenPart, verdict: Verdict, number: number): boolean {
  if (verdict.kind === 'proven') return true
  const state = soundness.states.get(part)
  if (state === 'askedFor' || (state === undefined && verdict.kind === 'contradicted'))
    throw new ProofFault(part, number, wordsOf(verdict))
  return false
}

/** Records an answer that we rejected, for the report. */
export function noteFailed({ failed }: Soundness, { part, blockNumber, says }: ProofFault, host: string): void {
  if (failed.length < FAILED_MAX) failed.push({ part, blockNumber, host, says })
}

/** A few are enough for the report; a range may have hundreds. */
const FAILED_MAX = 16
