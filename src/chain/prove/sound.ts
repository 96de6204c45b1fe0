// Refuses blocks whose header does not recompute to their hash, once the ledger has seen this chain's do so. Shared by all reads through the same
// providers, so that what one read is told holds for the others.
import type { FailedProof } from '../../domain/observed.ts'
import { ProofFault } from '../faults.ts'
import { proveHeader } from './header.ts'
import { wordsOf } from './verdict.ts'

export interface Soundness {
  /** True while headers must recompute. */
  isAskedFor: boolean
  /** Answers that were not accepted, until they are told with the next range. */
  failed: FailedProof[]
}

/** Throws a ProofFault where a block's header must recompute and does not. */
export function assertSound({ isAskedFor }: Soundness, block: unknown, number: number): void {
  if (!isAskedFor) return
  const verdict = proveHeader(block)
  if (verdict.kind !== 'proven') throw new ProofFault(number, wordsOf(verdict))
}

/** Keeps an answer that was not accepted, to be told. */
export function noteFailed({ failed }: Soundness, { blockNumber, says }: ProofFault, host: string): void {
  if (failed.length < FAILED_MAX) failed.push({ part: 'header', blockNumber, host, says })
}

/** Each provider's first is enough to tell people: those of a range may be hundreds. */
const FAILED_MAX = 16
