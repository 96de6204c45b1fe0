// Rejects answers that fail their proof, once we have seen that this chain's blocks can be proven. All reads through the same providers share this
// state, so what one of them learns applies to all.
import type { FailedProof, ProofStates, ProvenPart } from '../../domain/observed.ts'
import { ProofFault } from '../faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { proveHeader } from './header.ts'
import { type Verdict, wordsOf } from './verdict.ts'

export interface Soundness {
  /** Which parts of blocks must be proven, according to the ledger. */
  states: ProofStates
  /** True if the sender of every transaction must be recovered, even if nothing in it concerns us. It is set after a provider gave a false answer. */
  isDoubted: boolean
  /** The answers that we rejected. The next range reports them. */
  failed: FailedProof[]
  /** All providers, because two of them must agree on what we cannot prove. */
  readonly voices: readonly RpcReads[]
}

/** True if this part must be proven. */
export const isAskedFor = ({ states }: Soundness, part: ProvenPart): boolean => states.get(part) === 'askedFor'

/** Throws a ProofFault if a block's header must be proven and does not match the block's hash. */
export function assertSound(soundness: Soundness, block: unknown, number: number): void {
  if (isAskedFor(soundness, 'header')) isHeaderSound(soundness, block, number)
}

/** True if a block's header matches the block's hash. Throws a ProofFault if the header must be proven and does not match. */
export function isHeaderSound(soundness: Soundness, block: unknown, number: number): boolean {
  const verdict = proveHeader(block)
  if (verdict.kind === 'proven') return true
  if (isAskedFor(soundness, 'header')) throw new ProofFault('header', number, wordsOf(verdict))
  return false
}

/**
 * True if a verdict proves a part of a block. Throws a ProofFault if the part must be proven and the verdict does not prove it. Also throws if the
 * answer contradicts a proven root although no proof of this part was required, unless the part is lowered.
 */
export function isSound(soundness: Soundness, part: ProvenPart, verdict: Verdict, number: number): boolean {
  if (verdict.kind === 'proven') return true
  const state = soundness.states.get(part)
  if (state === 'askedFor' || (state === undefined && verdict.kind === 'contradicted'))
    throw new ProofFault(part, number, wordsOf(verdict))
  return false
}

/** Records an answer that we rejected, for the report. */
export function noteFailed({ failed }: Soundness, fault: ProofFault, host: string): void {
  if (failed.length < FAILED_MAX) failed.push(fault.failedBy(host))
}

/** A few of them are enough for the report; a range may have hundreds. */
const FAILED_MAX = 16
