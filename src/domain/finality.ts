// Decides how far a chain counts as final, from what providers call final, and what backs a fact that follows from several others. Pure.

import type { Proof } from './observed.ts'
import type { Hash } from './units.ts'

/** The oldest of the blocks that providers call final. */
export interface FinalWord {
  number: number
  hash: Hash
  /** The number of providers that named a final block of this chain. */
  voices: number
}

/** The ledger's own hashes of blocks; those that it does not have are left out. */
export type OwnHashes = (numbers: readonly number[]) => Promise<ReadonlyMap<number, Hash>>

/**
 * The oldest block that a provider calls final. `own`: the ledger's hashes. A provider that names another block than the ledger's is passed over
 * while a different one answers, and only a block that the ledger has counts as a voice.
 */
export function leastFinal(said: readonly FinalWord[], own?: ReadonlyMap<number, Hash>): FinalWord | null {
  const isOwn = ({ number, hash }: FinalWord) => own?.get(number) === hash
  const fitting = own ? said.filter((word) => !own.has(word.number) || isOwn(word)) : said
  const [least] = [...(fitting.length > 0 ? fitting : said)].sort((a, b) => a.number - b.number)
  return least ? { ...least, voices: own ? said.filter(isOwn).length : said.length } : null
}

/** How many blocks on top make a block final if the chain calls none final, or only one provider does. */
export const FINAL_DEPTH = 64
/** How many providers must agree before we believe them about money, if that many are configured. */
export const VOICES = 2

/** True if what traces say about senders counts: two providers agree, or the operator trusts the only one. */
export const tracesCount = (providers: number, { trustsProvider }: { trustsProvider: boolean }): boolean =>
  providers >= VOICES || trustsProvider

/** What backs a fact that follows from several: the weakest of theirs. */
export function weakest(proofs: readonly Proof[]): Proof {
  if (proofs.includes('believed')) return 'believed'
  return proofs.includes('agreed') ? 'agreed' : 'proven'
}

/**
 * The height up to which halts and refunds count blocks as final. It is never above the followed block. The word of one provider counts only
 * from 64 blocks below that block.
 */
export function firmHeight({ number, voices }: FinalWord, followed: number): number {
  return Math.min(number, voices < VOICES ? followed - FINAL_DEPTH : followed)
}
