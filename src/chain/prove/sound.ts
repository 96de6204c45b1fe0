// Rejects answers that fail their proof, on a ledger whose blocks must prove themselves. All reads through the same providers share this state.
import type { EvidenceMode, FailedProof, ProvenPart } from '../../domain/observed.ts'
import { ProofFault } from '../../ports/faults.ts'
import type { RpcReads } from '../rpc/rpc.ts'
import { proveHeader } from './header.ts'
import { type Verdict, wordsOf } from './verdict.ts'

export interface Soundness {
  /** The ledger's mode; null before it is known. Then nothing is required. */
  mode: EvidenceMode | null
  /** The chain's id, as JSON-RPC has it, for transactions of which a provider leaves it out; null if we do not know it. */
  chainId: string | null
  /** The answers that we rejected. The next range reports them. */
  failed: FailedProof[]
  /** All providers, because two of them must agree on what we cannot prove. */
  readonly voices: readonly RpcReads[]
}

/** True if blocks must be proven. */
export const mustProve = ({ mode }: Pick<Soundness, 'mode'>): boolean => mode === 'proven'

/** True if a block's header matches the block's hash. Throws a ProofFault if it must and does not. */
export function isHeaderSound(soundness: Soundness, block: unknown, number: number): boolean {
  return isSound(soundness, 'header', proveHeader(block), number)
}

/**
 * Throws a ProofFault if a block's header must be proven and does not match the block's hash. @returns the fields that the hash covers and that this
 * version does not know.
 */
export function assertSound(soundness: Soundness, block: unknown, number: number): readonly string[] {
  if (!mustProve(soundness)) return []
  const verdict = proveHeader(block)
  isSound(soundness, 'header', verdict, number)
  return verdict.added ?? []
}

/** True if a verdict proves a part of a block. Throws a ProofFault if the part must be proven and the verdict does not prove it. */
export function isSound(soundness: Soundness, part: ProvenPart, verdict: Verdict, number: number): boolean {
  if (verdict.kind === 'proven') return true
  if (mustProve(soundness))
    throw new ProofFault(part, number, wordsOf(verdict), { isFalse: verdict.kind === 'contradicted' })
  return false
}

/** Records an answer that we rejected, for the report, if it is false. */
export function noteFailed({ failed }: Soundness, fault: ProofFault, host: string): void {
  if (fault.isFalse && failed.length < FAILED_MAX) failed.push(fault.failedBy(host))
}

/** A few of them are enough for the report; a range may have hundreds. */
const FAILED_MAX = 16
