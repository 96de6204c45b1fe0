// Refuses answers that do not recompute, once the ledger has seen this chain's do so. Shared by all reads through the same providers, so that what one
// read is told holds for the others.
import type { FailedProof, ProofStates, ProvenPart } from '../../domain/observed.ts'
import { ProofFault } from '../faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { proveHeader } from './header.ts'
import { type Verdict, wordsOf } from './verdict.ts'

export interface Soundness {
  /** What the ledger says of each part. */
  states: ProofStates
  /** True while lists of transactions are proven whatever they hold: a provider has told one otherwise than it is. */
  isDoubted: boolean
  /** Answers that were not accepted, until they are told with the next range. */
  failed: FailedProof[]
  /** All providers: what cannot be recomputed rests on two of them. */
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
 * Whether a verdict on a part of a block proves it. Throws a ProofFault if it must and does not, and for a contradiction unless the part was
 * lowered: of a list under a proven root even one that was never asked for.
 */
export function isSound(soundness: Soundness, part: ProvenPart, verdict: Verdict, number: number): boolean {
  if (verdict.kind === 'proven') return true
  const state = soundness.states.get(part)
  if (state === 'askedFor' || (state === undefined && verdict.kind === 'contradicted'))
    throw new ProofFault(part, number, wordsOf(verdict))
  return false
}

/** Keeps an answer that was not accepted, to be told. */
export function noteFailed({ failed }: Soundness, { part, blockNumber, says }: ProofFault, host: string): void {
  if (failed.length < FAILED_MAX) failed.push({ part, blockNumber, host, says })
}

/** Each provider's first is enough to tell people: those of a range may be hundreds. */
const FAILED_MAX = 16
