// The terms and the seed of turns: from stored headers where they suffice, else from the chain by bisection. Used both
// to plan a round and to publish what a followed one was computed from.
import { turnDigest } from '../../chain/digest.ts'
import { firstStoredBlockAt } from '../../db/blocks.ts'
import type { TurnTerms } from '../../db/rounds.ts'
import { readCreditTerms } from '../../db/terms.ts'
import { readTierVersions } from '../../db/tiers.ts'
import { type CreditTerms, seedOf, termsAt, turnAmountWei } from '../../domain/credit.ts'
import type { Block } from '../../domain/observed.ts'
import { payoutBpsAt, type TierVersion } from '../../domain/tiers.ts'
import type { Hash, Wei } from '../../domain/units.ts'
import type { ChainRead, LedgerDb } from '../context.ts'

export interface Seed {
  seedBlock: number
  seed: Hash
}

/** Looks turns' terms up; holds what it has read for the length of one step. */
export interface TermsReader {
  /**
   * Terms of a turn that is owed since `due`; fields are null where the ledger has none, or where the seed block is not there yet. A
   * ledger begun anew knows none from before it was: then the first it knows, or the turn, and all after it, could never be paid.
   */
  owed(tierNo: number, due: number): Promise<TurnTerms>
  /**
   * Terms by which a turn was paid: those in force at its time. From before any were known: the first, if they come to its amount. Several
   * turns in one sum have terms and seeds of their own: null.
   */
  paid(credit: { cohort: number; tierNo: number; due: number; turns: number; amountWei: bigint }): Promise<TurnTerms>
}

/** `upTo` is the followed height; `fresh` are observed blocks that are not stored yet. */
export function termsReader(ctx: LedgerDb & ChainRead, upTo: number, fresh: readonly Block[] = []): TermsReader {
  // Read when first asked for: most ranges of blocks hold no turn.
  let entered: Promise<[CreditTerms[], TierVersion[]]> | undefined
  const seeds = new Map<number, Promise<Seed | null>>()
  async function look(tierNo: number, due: number): Promise<{ inForce: TurnTerms; first: TurnTerms }> {
    let seed = seeds.get(due)
    if (!seed) {
      seed = findSeed(ctx, due, upTo, fresh)
      seeds.set(due, seed)
    }
    entered ??= Promise.all([readCreditTerms(ctx.pool), readTierVersions(ctx.pool)])
    const [[terms, tiers], found] = await Promise.all([entered, seed])
    const ofTier = tiers.filter((tier) => tier.tierNo === tierNo)
    const describe = (termsTime: number, payoutTime: number): TurnTerms => {
      const { minWei = null, maxWei = null } = termsAt(terms, termsTime) ?? {}
      const payoutBps = payoutBpsAt(ofTier, tierNo, payoutTime)
      return {
        tierId: ofTier[0]?.tierId ?? null,
        minWei,
        maxWei,
        payoutBps,
        ...(found ?? { seedBlock: null, seed: null }),
      }
    }
    return {
      inForce: describe(due, due),
      first: describe(Math.max(due, firstTime(terms)), Math.max(due, firstTime(ofTier))),
    }
  }
  return {
    owed: async (tierNo, due) => (await look(tierNo, due)).first,
    async paid({ cohort, tierNo, due, turns, amountWei }) {
      const { inForce, first } = await look(tierNo, due)
      if (turns > 1) return { ...NO_TERMS, tierId: inForce.tierId }
      const known = inForce.minWei !== null && inForce.payoutBps !== null
      return known || amountBy(first, cohort, due) !== amountWei ? inForce : first
    },
  }
}

const NO_TERMS = { seedBlock: null, seed: null, minWei: null, maxWei: null, payoutBps: null }

/** What terms come to for a cohort's turn; null where one of them is missing. */
export function amountBy({ seed, minWei, maxWei, payoutBps }: TurnTerms, cohort: number, due: number): Wei | null {
  if (seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  return turnAmountWei(turnDigest(seed, cohort, due), { minWei, maxWei }, payoutBps)
}

const firstTime = (known: readonly { fromTime: number }[]) => Math.min(...known.map(({ fromTime }) => fromTime))

async function findSeed(
  ctx: LedgerDb & ChainRead,
  due: number,
  upTo: number,
  fresh: readonly Block[],
): Promise<Seed | null> {
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
