// Decides up to which block a chain is final, from what providers report. Also decides how well a fact is backed that follows from several others.
// Pure.

import type { Proof, ProofStates, ProvenPart } from './observed.ts'
import type { Hash } from './units.ts'

/** The oldest of the blocks that providers report as final. */
export interface FinalWord {
  number: number
  hash: Hash
  /** How many providers named a final block of this chain. */
  voices: number
}

/** Reads the ledger's own hashes of blocks; leaves out blocks that it does not have. */
export type OwnHashes = (numbers: readonly number[]) => Promise<ReadonlyMap<number, Hash>>

/**
 * The oldest block that a provider reports as final. `own`: the ledger's hashes. A provider whose block differs from the ledger's is skipped if
 * another provider remains. Only a block that the ledger has counts as a voice.
 */
export function leastFinal(said: readonly FinalWord[], own?: ReadonlyMap<number, Hash>): FinalWord | null {
  if (!own) return lowest(said, said.length)
  const isOwn = ({ number, hash }: FinalWord) => own.get(number) === hash
  const fitting = said.filter((word) => !own.has(word.number) || isOwn(word))
  return lowest(fitting.length > 0 ? fitting : said, said.filter(isOwn).length)
}

function lowest(said: readonly FinalWord[], voices: number): FinalWord | null {
  const [least] = said.toSorted((a, b) => a.number - b.number)
  return least ? { ...least, voices } : null
}

/** The depth at which a block counts as final if the chain reports no final block, or if only one provider does. */
export const FINAL_DEPTH = 64
/** How many providers must agree before we believe them about money, if that many are configured. */
export const VOICES = 2

/** True if we may believe what traces show about senders: two providers agree, or the operator trusts the only one. */
export const tracesCount = (providers: number, { trustsProvider }: { trustsProvider: boolean }): boolean =>
  providers >= VOICES || trustsProvider

/**
 * True if we may believe an only provider about a part of blocks: two providers or a person gave up its proof, or it was never proven and the operator
 * trusts the provider.
 */
export const isBelievedAlone = (
  states: ProofStates,
  part: ProvenPart,
  { trustsProvider }: { trustsProvider: boolean },
): boolean => states.get(part) === 'lowered' || (!states.has(part) && trustsProvider)

/** The proof of a fact that follows from several facts: the weakest of their proofs. */
export function weakest(proofs: readonly Proof[]): Proof {
  if (proofs.includes('believed')) return 'believed'
  return proofs.includes('agreed') ? 'agreed' : 'proven'
}

/**
 * The height up to which halts and refunds treat blocks as final, never above the followed block. If only one provider reports a final block, we stay
 * at least 64 blocks below the followed block.
 */
export function firmHeight({ number, voices }: FinalWord, followed: number): number {
  return Math.min(number, voices < VOICES ? followed - FINAL_DEPTH : followed)
}
