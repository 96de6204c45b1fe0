// How far the followed chain is final: what the providers call final, checked against the ledger's own blocks. It must never treat a block as final
// that the ledger has not followed, or in whose place any provider has another one.

import { type Cursor, readBlock, readBlockUpTo } from '../db/blocks/blocks.ts'
import { readParted } from '../db/blocks/parted.ts'
import { FINAL_AGE_SEC, FINAL_DEPTH, firmHeight, VOICES, voicesNeeded } from '../domain/finality.ts'
import type { Block } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { ChainRead, FinalityRules, FollowRules, Ground, LedgerDb, RuledBy } from '../ports/contexts.ts'
import { ChainFault, ProofFault } from '../ports/faults.ts'

export interface FollowedFinality {
  /** The highest block that counts as final, with its hash and its time in unix seconds; -1 if a lone voice calls too young a block final. */
  firm: number
  hash: Hash
  time: number
  /** The providers that have this block, and how many there are. */
  hosts: readonly string[]
  asked: number
  /** True if two providers have it. The embedded chain's own node counts as two. */
  isNamed: boolean
}

/** A provider has another block where the ledger's would be final, so nothing is final. */
export interface Contradiction {
  /** Null if the provider calls that other block final, but does not return it. */
  host: string | null
  number: number
  theirs: Hash
  ours: Hash
}

type FinalityContext = LedgerDb & ChainRead & RuledBy<Pick<FollowRules, 'rewindsToShorterChain'>>

export const isContradiction = (finality: FollowedFinality | Contradiction | null): finality is Contradiction =>
  finality !== null && 'theirs' in finality

/** True if the block is final enough to pay for what is in it: two providers have it, or the only one. */
export const isSettled = (finality: FollowedFinality | Contradiction | null): finality is FollowedFinality =>
  finality !== null && 'firm' in finality && finality.firm >= 0 && finality.hosts.length >= voicesNeeded(finality.asked)

/** Which provider contradicts the ledger, and what to do. */
export function contradictionInWords({ host, number, theirs, ours }: Contradiction): { says: string; todo: string } {
  const says = `${host ?? 'a provider'} has ${theirs} as block ${number}, and the ledger has ${ours}`
  return { says, todo: 'Compare both with an explorer, and remove the provider that is wrong from RPC_URL.' }
}

/** What keeps a block from being settled, or is weak about it, and what to do. Null if there is nothing to report. */
export function finalityInWords(
  finality: FollowedFinality | Contradiction | null,
): { says: string; todo: string } | null {
  if (isContradiction(finality)) return contradictionInWords(finality)
  if (!finality || finality.isNamed) return null
  const { firm, hash, hosts, asked: askedCount } = finality
  if (isSettled(finality))
    return {
      says: 'Only one provider reports it',
      todo: `Compare block ${firm}, hash ${hash}, with an explorer first.`,
    }
  if (askedCount < VOICES) return null
  const says = `only ${hosts} of ${askedCount} providers answers`
  return { says, todo: 'Wait until another one answers, or remove providers that are gone for good from RPC_URL.' }
}

/** As `lookAtFinality`, but null if a provider contradicts the ledger. */
export async function readFinality(ctx: FinalityContext, cursor: Cursor): Promise<FollowedFinality | null> {
  const finality = await lookAtFinality(ctx, cursor)
  return isContradiction(finality) ? null : finality
}

/** The height up to which blocks count as settled (`FINALITY`), never above the last common block of histories that differ. */
export async function settledHeight(
  ctx: LedgerDb & ChainRead & RuledBy<FinalityRules & FollowRules>,
  cursor: Cursor,
  { guardUsable, agreed: agreedBlock }: Ground,
): Promise<number> {
  const { finality } = ctx.rules
  const most = agreedBlock?.number ?? cursor.number
  if (typeof finality === 'number') return Math.min(most, cursor.number - finality)
  if (finality === 'guarded' && guardUsable) return most
  return Math.min(most, (await readFinality(ctx, cursor))?.firm ?? -1)
}

/**
 * Asks every provider for its block at the final height. `depth`: how far that is below the followed block if the chain has no final block.
 * @returns null if no block is final yet.
 * @throws a ChainFault if no provider answers.
 */
export async function lookAtFinality(
  { pool, chain, rules }: FinalityContext,
  cursor: Cursor,
  depth: number | null = null,
): Promise<FollowedFinality | Contradiction | null> {
  const word = (await chain.finalized()) ?? (depth === null ? null : ofDepth(cursor.number - depth))
  if (!word) return null
  const old = await readBlockUpTo(pool, { number: cursor.number - FINAL_DEPTH, time: cursor.time - FINAL_AGE_SEC })
  const heights = { followed: cursor.number, aged: old?.number ?? -1 }
  const voicesOf = (voices: number) => (rules.rewindsToShorterChain ? VOICES : voices)
  const number = firmHeight({ ...word, voices: voicesOf(word.voices) }, heights)
  const blocks = number < 0 ? [] : await blocksAt(chain, number)
  const answers = blocks.flatMap(({ host, block }) => (block ? [{ host, block }] : []))
  const ours = (number === cursor.number ? cursor : await readBlock(pool, number)) ?? answers[0]?.block
  if (!ours || answers.length === 0) return null
  const other = answers.find(({ block }) => block.hash !== ours.hash)
  if (other) return { host: other.host, number, theirs: other.block.hash, ours: ours.hash }
  const own = await readBlock(pool, word.number)
  if (own && word.hash !== null && own.hash !== word.hash)
    return { host: null, number: word.number, theirs: word.hash, ours: own.hash }
  const voices = voicesOf(answers.length)
  const firm = firmHeight({ number, voices }, heights)
  const parting = await readParted(pool)
  // It may answer no longer, but nothing has shown yet that its history was wrong.
  if (parting?.stops && firm > parting.agreed.number) return parting
  const { hash, time } = firm === number || !old ? ours : old
  const [hosts, providerCount] = [answers.map(({ host }) => host), Math.max(1, chain.providers.length)]
  return { firm, hash, time, hosts, asked: providerCount, isNamed: voices >= VOICES }
}

const ofDepth = (number: number) => ({ number, hash: null, voices: VOICES })

/** What each provider answers for the block at a height: the block, or the fault of a header that is not that of its hash. */
export async function blocksAt(
  chain: ChainRead['chain'],
  number: number,
): Promise<{ host: string; block: Block | null; fault: ProofFault | null }[]> {
  const readers = chain.providers.length > 0 ? chain.providers : [{ host: 'the only provider', block: chain.block }]
  return await Promise.all(
    readers.map(async ({ host, block }) => {
      try {
        return { host, block: await block(number), fault: null }
      } catch (error) {
        if (!(error instanceof ChainFault)) throw error
        return { host, block: null, fault: error instanceof ProofFault ? error : null }
      }
    }),
  )
}
