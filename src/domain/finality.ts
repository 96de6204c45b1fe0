// Decides up to which block a chain is final, from what providers report. Also decides how well a fact is backed that follows from several others.
// Pure.

import type { EvidenceMode, FoundMode, Proof } from './observed.ts'
import type { Hash } from './units.ts'

/** The oldest of the blocks that providers call final. */
export interface FinalWord {
  number: number
  hash: Hash
  /** How many providers call this block or a later one final. */
  voices: number
}

/** The oldest block that a provider calls final. A provider that names another block at that height is no voice for it. */
export function leastFinal(words: readonly FinalWord[]): FinalWord | null {
  const [least] = words.toSorted((a, b) => a.number - b.number)
  if (!least) return null
  return { ...least, voices: words.filter(({ number, hash }) => number > least.number || hash === least.hash).length }
}

/** The depth at which a block counts as final if the chain reports no final block. What only one provider names has to be older, too. */
export const FINAL_DEPTH = 64
/** So many seconds of block time older than the head. A provider can make up 64 blocks of a rollup within seconds. */
export const FINAL_AGE_SEC = 900
/** How many providers must agree before we believe them about money, if that many are configured. */
export const VOICES = 2

interface Providers {
  providers: { length: number }
}

/** True if there are enough providers to agree with each other. If there is only one, its word is all that we can have. */
export const canAgree = ({ providers }: Providers): boolean => providers.length >= VOICES

/** How many of so many providers must agree: two, or the only one. */
export const voicesNeeded = (providerCount: number): number => Math.min(VOICES, providerCount)

/** True if we may believe what traces show about senders: two providers can agree, or the operator trusts the only one. */
export const tracesCount = (chain: Providers, { trustsProvider }: { trustsProvider: boolean }): boolean =>
  canAgree(chain) || trustsProvider

/** True if the only provider's word is enough: this chain's blocks cannot be proven, and the operator trusts the provider. */
export const trustsOne = (
  chain: Providers,
  mode: EvidenceMode | null,
  { trustsProvider }: { trustsProvider: boolean },
): boolean => !canAgree(chain) && mode === 'agreed' && trustsProvider

/** What was found, in words. */
export const foundInWords = (finding: FoundMode): string =>
  finding.mode === 'proven'
    ? `block ${finding.block} proves itself`
    : `the ${finding.part} of block ${finding.block} cannot be proven: ${finding.why}`

/** The proof of a fact that follows from several facts: the weakest of their proofs. */
export function weakest(proofs: readonly Proof[]): Proof {
  if (proofs.includes('believed')) return 'believed'
  return proofs.includes('agreed') ? 'agreed' : 'proven'
}

/**
 * The height up to which blocks count as final, never above the followed block. `aged`: the newest followed block that is both 64 blocks and fifteen
 * minutes older than it. What fewer than two providers name counts up to there only.
 */
export function firmHeight(
  { number, voices }: Pick<FinalWord, 'number' | 'voices'>,
  { followed: followedBlock, aged: agedBlock }: { followed: number; aged: number },
): number {
  return Math.min(number, voices < VOICES ? agedBlock : followedBlock)
}
