// How far the followed chain is final: what the providers report, checked against the ledger's own blocks. It must never treat a block as final that
// the ledger has not followed.
import { type Cursor, readHashes } from '../db/blocks/blocks.ts'
import { firmHeight, VOICES } from '../domain/finality.ts'
import type { ChainRead, LedgerDb } from '../passes/context.ts'

export interface FollowedFinality {
  /** The highest block that the providers call final, but not above the followed one. It decides about payments that wait for finality. */
  said: number
  /** The highest block that halts and refunds may treat as final. */
  firm: number
  /** True if two providers name the final block. */
  isNamed: boolean
}

/** Null if the chain has no final block, or if the ledger has a different block there. Throws a ChainFault if no provider answers. */
export async function readFinality(
  { pool, chain }: LedgerDb & ChainRead,
  cursor: Cursor,
): Promise<FollowedFinality | null> {
  const word = await chain.finalized((numbers) => readHashes(pool, numbers))
  if (!word) return null
  const own = (await readHashes(pool, [word.number])).get(word.number)
  if (own !== undefined && own !== word.hash) return null
  const firm = firmHeight(word, cursor.number)
  return { said: Math.min(word.number, cursor.number), firm, isNamed: word.voices >= VOICES }
}
