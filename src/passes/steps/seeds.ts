// The terms and the seed of turns: from stored headers where they suffice, else from the chain by bisection. Used both
// to plan a round and to publish what a followed one was computed from.
import { firstStoredBlockAt } from '../../db/blocks.ts'
import type { TurnTerms } from '../../db/rounds.ts'
import { readCreditTerms, readTierVersions } from '../../db/tiers.ts'
import { type CreditTerms, seedOf, termsAt } from '../../domain/credit.ts'
import type { Block } from '../../domain/observed.ts'
import { payoutBpsAt, type TierVersion } from '../../domain/tiers.ts'
import type { Hash } from '../../domain/units.ts'
import type { PassContext } from '../context.ts'

export interface Seed {
  seedBlock: number
  seed: Hash
}

/** Looks turns' terms up; holds what it has read for the length of one step. */
export interface TermsReader {
  /** Terms of a turn due at `due`; fields are null where the ledger has none, or where the seed block is not there yet. */
  termsOf(tierNo: number, due: number): Promise<TurnTerms>
}

/** `upTo` is the followed height; `fresh` are observed blocks that are not stored yet. */
export function termsReader(ctx: PassContext, upTo: number, fresh: readonly Block[] = []): TermsReader {
  // Read when first asked for: most ranges of blocks hold no turn.
  let entered: Promise<[CreditTerms[], TierVersion[]]> | undefined
  const seeds = new Map<number, Promise<Seed | null>>()
  return {
    async termsOf(tierNo, due) {
      let seed = seeds.get(due)
      if (!seed) {
        seed = findSeed(ctx, due, upTo, fresh)
        seeds.set(due, seed)
      }
      entered ??= Promise.all([readCreditTerms(ctx.pool), readTierVersions(ctx.pool)])
      const [[terms, tiers], found] = await Promise.all([entered, seed])
      return { ...describe(terms, tiers, tierNo, due), ...(found ?? { seedBlock: null, seed: null }) }
    },
  }
}

function describe(
  terms: CreditTerms[],
  tiers: TierVersion[],
  tierNo: number,
  due: number,
): Omit<TurnTerms, keyof Seed> {
  const inForce = termsAt(terms, due)
  return {
    tierId: tiers.find((tier) => tier.tierNo === tierNo)?.tierId ?? null,
    minWei: inForce?.minWei ?? null,
    maxWei: inForce?.maxWei ?? null,
    payoutBps: payoutBpsAt(tiers, tierNo, due),
  }
}

async function findSeed(ctx: PassContext, due: number, upTo: number, fresh: readonly Block[]): Promise<Seed | null> {
  const found =
    (await firstStoredBlockAt(ctx.pool, due)) ?? firstFresh(fresh, due) ?? (await ctx.chain.firstBlockAt(due, upTo))
  if (!found || found.block.number > upTo) return null
  return { seedBlock: found.block.number, seed: seedOf(found.block, found.parent) }
}

/** The first observed block not before `time`; null unless its parent, before `time`, was observed as well. */
function firstFresh(fresh: readonly Block[], time: number): { block: Block; parent: Block } | null {
  const at = fresh.findIndex((block) => block.time >= time)
  const block = fresh[at]
  const parent = fresh[at - 1]
  return block && parent ? { block, parent } : null
}
