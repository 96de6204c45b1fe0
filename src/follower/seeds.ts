// The terms and the seeds of turns. We store seeds when we follow their blocks. If a seed is not stored, it comes from the stored headers, or else
// from the chain by bisection. Used to plan a round, and to publish the inputs of a followed round.
import { turnDigest } from '../chain/digest.ts'
import { firstStoredBlockAt, readBlock } from '../db/blocks/blocks.ts'
import { headersProvenFrom, readMode } from '../db/blocks/evidence.ts'
import type { SingleTurn, TurnTerms } from '../db/nodes/rounds.ts'
import { keepAgreedSeedBlock, keepOldSeedBlock, readSeedBlock, type SeedBlock } from '../db/nodes/seed-blocks.ts'
import { readSeedBacking } from '../db/payments/assurance.ts'
import { readCreditTerms } from '../db/sale/terms.ts'
import { readTierPlans, readTierVersions } from '../db/sale/tiers.ts'
import { canAgree, trustsOne, weakest } from '../domain/finality.ts'
import type { Block, Proof } from '../domain/observed.ts'
import type { LedgerCohort, NewTurn } from '../domain/replay.ts'
import { firstBlocksOfTurns } from '../domain/rounds/due-turns.ts'
import { type CreditTerms, seedOf, termsAt, turnAmountWei } from '../domain/rounds/turn-amounts.ts'
import { readChanges } from '../domain/sale/changes.ts'
import { payoutBpsAt, type TierVersion } from '../domain/tiers.ts'
import { type Hash, sumWei, type Wei, wei } from '../domain/units.ts'
import type { ChainRead, LedgerDb, TrustRules } from '../ports/contexts.ts'
import { ChainFault, orNull } from '../ports/faults.ts'

export interface Seed {
  seedBlock: number
  seed: Hash
  proof: Proof
}

interface FoundSeed extends Seed {
  /** Set if we had to look up the seed on the chain. */
  lookedUp?: SeedBlock
}

/** A credit, as the follower read it. */
type PaidCredit = Pick<NewTurn, 'cohort' | 'tierNo' | 'due' | 'turns' | 'intervalSec' | 'amountWei'>

/** Looks up turns' terms, and caches what it reads. Create one for each step. */
export interface TermsReader {
  /**
   * Terms of a turn due at `due`. Fields are null if the ledger has no terms, or if the seed block does not exist yet. For turns due before its first
   * terms, the ledger uses these first terms, because otherwise that turn, and all turns after it, could never be paid. If nothing backs the seed, or
   * the chain cannot be read, the seed is null and `doubt` says why.
   */
  owed(tierNo: number, due: number, rules: TrustRules): Promise<TurnTerms & { doubt: string | null }>
  /**
   * Terms by which a credit's turns were paid: the terms in force when each turn was due. For a turn due before the ledger's first terms, it takes
   * these first terms if they yield the credit's amount. If a credit sums up several turns, each turn in `singles` has its own terms and seed.
   * `notAfter`: a block at which all turns were due already.
   */
  paid(credit: PaidCredit, notAfter?: number): Promise<TurnTerms & { singles: SingleTurn[] }>
  /** The seed blocks that we had to look up on the chain. */
  lookedUp(): Promise<SeedBlock[]>
}

/**
 * A turn's terms in two readings. `inForce`: the terms in force when the turn was due; fields are null if the ledger had no terms yet. `first`: the
 * ledger's first terms take the place of missing ones.
 */
interface TermsReadings {
  inForce: TurnTerms
  first: TurnTerms
}

/** `upTo` is the number of the followed block. `fresh` are blocks that were read and are not stored yet. */
export function termsReader(ctx: LedgerDb & ChainRead, upTo: number, fresh: Fresh = NO_BLOCKS): TermsReader {
  // Read at first use, because most ranges of blocks contain no turn.
  let ledgerTerms: Promise<LedgerTerms> | undefined
  const seeds = new Map<number, Promise<FoundSeed | null>>()

  function seedAt(due: number, notAfter: number): Promise<FoundSeed | null> {
    const seed = seeds.get(due) ?? findSeed(ctx, due, Math.min(upTo, notAfter), fresh)
    seeds.set(due, seed)
    return seed
  }

  async function read(tierNo: number, due: number, notAfter = upTo): Promise<TermsReadings> {
    const pendingSeed = seedAt(due, notAfter)
    ledgerTerms ??= readLedgerTerms(ctx, fresh)
    const [seed, terms] = await Promise.all([pendingSeed, ledgerTerms])
    return readingsOf(terms, { tierNo, due, seed })
  }

  return {
    owed: (tierNo, due, rules) => owedBy(ctx, rules, async () => (await read(tierNo, due)).first),
    async paid({ cohort, tierNo, due, turns, intervalSec, amountWei }, notAfter) {
      if (turns > 1) {
        const readings: (TermsReadings & { due: number })[] = []
        for (let i = 0; i < turns; i++) {
          const at = due + i * intervalSec
          readings.push({ due: at, ...(await read(tierNo, at, notAfter)) })
        }
        const singles = singlesOf(readings, cohort, amountWei)
        return { ...NO_TERMS, tierId: readings[0]?.inForce.tierId ?? null, proof: proofOf(singles), singles }
      }
      const { inForce, first } = await read(tierNo, due, notAfter)
      const hasTerms = inForce.minWei !== null && inForce.payoutBps !== null
      return { ...(hasTerms || amountBy(first, cohort, due) !== amountWei ? inForce : first), singles: [] }
    },
    async lookedUp() {
      const foundSeeds = await Promise.all(seeds.values())
      return foundSeeds.flatMap((seed) => seed?.lookedUp ?? [])
    },
  }
}

/** The ledger's terms, and the rates of all its tiers. */
interface LedgerTerms {
  terms: CreditTerms[]
  tiers: TierRates[]
}

async function readLedgerTerms(ctx: LedgerDb, fresh: Fresh): Promise<LedgerTerms> {
  const [terms, tiers] = await Promise.all([readCreditTerms(ctx.pool), readTierRates(ctx, fresh)])
  return { terms, tiers }
}

function readingsOf(
  { terms, tiers }: LedgerTerms,
  { tierNo, due, seed }: { tierNo: number; due: number; seed: Seed | null },
): TermsReadings {
  const ofTier = tiers.filter((tier) => tier.tierNo === tierNo)
  const at = (termsTime: number, payoutTime: number): TurnTerms => {
    const { minWei = null, maxWei = null } = termsAt(terms, termsTime) ?? {}
    const payoutBps = payoutBpsAt(ofTier, tierNo, payoutTime)
    const { seedBlock = null, seed: seedHash = null, proof = null } = seed ?? {}
    return { tierId: ofTier[0]?.tierId ?? null, minWei, maxWei, payoutBps, seedBlock, seed: seedHash, proof }
  }
  return { inForce: at(due, due), first: at(Math.max(due, firstTime(terms)), Math.max(due, firstTime(ofTier))) }
}

/** The terms of an owed turn, without their seed if it must not be paid by. */
async function owedBy(ctx: LedgerDb & ChainRead, rules: TrustRules, readTerms: () => Promise<TurnTerms>) {
  try {
    const terms = await readTerms()
    const doubt = terms.proof === 'believed' ? await doubtOf(ctx, terms.seedBlock, rules) : null
    return { ...terms, seed: doubt === null ? terms.seed : null, doubt }
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    return { ...NO_TERMS, tierId: null, proof: null, doubt: error.message }
  }
}

/** Why a seed that rests on one provider's word must not be paid by; null if it may. */
async function doubtOf({ pool, chain }: LedgerDb & ChainRead, seedBlock: number | null, rules: TrustRules) {
  if (trustsOne(chain, (await readMode(pool))?.mode ?? null, rules)) return null
  return canAgree(chain)
    ? `no two providers agree on block ${seedBlock}`
    : `only one provider reports block ${seedBlock}, and it is not linked to a followed block`
}

/** Blocks of a range that is being stored, and what backs the seeds from these blocks. */
interface Fresh {
  blocks: readonly Block[]
  proof: Proof
}

type TierRates = Omit<TierVersion, 'fromBlock'>

/** All stored versions, and the planned ones that take effect in fresh blocks. */
async function readTierRates({ pool }: LedgerDb, { blocks }: Fresh): Promise<TierRates[]> {
  const [versions, plans] = await Promise.all([readTierVersions(pool), readTierPlans(pool)])
  const upTo = blocks.at(-1)?.time ?? 0
  const due = plans.filter(({ fromTime }) => fromTime <= upTo)
  return [...versions, ...readChanges(versions, due).fit.map(({ version }) => version)]
}

const NO_BLOCKS: Fresh = { blocks: [], proof: 'believed' }

const NO_TERMS = { seedBlock: null, seed: null, minWei: null, maxWei: null, payoutBps: null }

/** What backs the seeds of several turns: the weakest proof; null if a seed is unknown. */
function proofOf(turns: readonly SingleTurn[]): Proof | null {
  const proofs = turns.flatMap(({ proof }) => proof ?? [])
  return proofs.length < turns.length ? null : weakest(proofs)
}

/** Paid turns with what backs their seeds. Without a fork guard, the contract confirms no block hash, so a header's proof does not suffice. */
export async function withBacking<Turn extends TurnTerms & { singles: SingleTurn[] }>(
  { pool }: LedgerDb,
  turns: readonly Turn[],
): Promise<Turn[]> {
  if (turns.length === 0) return []
  const backing = await readSeedBacking(pool)
  const withProof = <Of extends Pick<SingleTurn, 'seedBlock' | 'proof'>>(of: Of): Of =>
    of.proof === 'proven' && of.seedBlock !== null ? { ...of, proof: backing(of.seedBlock) } : of
  return turns.map((turn) => {
    if (turn.singles.length === 0) return withProof(turn)
    const singles = turn.singles.map(withProof)
    return { ...turn, singles, proof: proofOf(singles) }
  })
}

/** The turns of one credit, with the terms that yield the credit's amount. */
function singlesOf(
  readings: readonly (TermsReadings & { due: number })[],
  cohort: number,
  amountWei: Wei,
): SingleTurn[] {
  const by = (terms: 'inForce' | 'first'): SingleTurn[] =>
    readings.map(({ due, [terms]: { tierId: _, ...turnTerms } }) => ({
      due,
      ...turnTerms,
      amountWei: amountBy({ tierId: null, ...turnTerms }, cohort, due),
    }))
  const first = by('first')
  return sumWei(first.map((turn) => turn.amountWei ?? wei(0n))) === amountWei ? first : by('inForce')
}

/** The amount of a cohort's turn by its terms; null if the seed or a term is missing. */
export function amountBy({ seed, minWei, maxWei, payoutBps }: TurnTerms, cohort: number, due: number): Wei | null {
  if (seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  return turnAmountWei(turnDigest(seed, cohort, due), { minWei, maxWei }, payoutBps)
}

const firstTime = (versions: readonly { fromTime: number }[]) => Math.min(...versions.map(({ fromTime }) => fromTime))

async function findSeed(ctx: LedgerDb & ChainRead, due: number, upTo: number, fresh: Fresh): Promise<FoundSeed | null> {
  const freshBlock = firstFresh(fresh.blocks, due)
  const keptSeed = freshBlock ? null : await readSeedBlock(ctx.pool, due)
  if (keptSeed) return keptSeed.seedBlock > upTo ? null : await confirmSeed(ctx, keptSeed, due, upTo)
  const ownBlock = freshBlock ?? (await firstStoredBlockAt(ctx.pool, due))
  const candidate = ownBlock ?? (await ctx.chain.firstBlockAt(due, upTo))
  if (!candidate || candidate.block.number > upTo) return null
  const { block, parent } = candidate
  const { number, time } = block
  // That a header matches its own hash proves nothing about the chain. We know that it belongs to this chain only if we followed it.
  const isFollowed = !freshBlock && ownBlock !== null
  const isProven = isFollowed && number - 1 > ((await headersProvenFrom(ctx.pool)) ?? Number.POSITIVE_INFINITY)
  const proof = freshBlock ? fresh.proof : isProven ? 'proven' : 'believed'
  const sound = await confirmSeed(ctx, { seedBlock: number, seed: seedOf(block, parent), proof }, due, upTo)
  if (ownBlock) return sound
  const lookedUp = { number, time, parentTime: parent?.time ?? null, seed: sound.seed, proof: sound.proof }
  await keepOldSeedBlock(ctx.pool, lookedUp)
  return { ...sound, lookedUp }
}

/** Replaces a seed that rests on one provider's word by the seed of a confirmed block, and stores it. Without such a block the seed stays as it is. */
async function confirmSeed(ctx: LedgerDb & ChainRead, oldSeed: Seed, due: number, upTo: number): Promise<Seed> {
  if (oldSeed.proof !== 'believed') return oldSeed
  const { pool, chain } = ctx
  const areHeadersProven = (await headersProvenFrom(pool)) !== null
  // No other provider can agree with an only one. So we must have followed the block, and must be proving headers now.
  if (!canAgree(chain) && !(areHeadersProven && (await readBlock(pool, oldSeed.seedBlock)))) return oldSeed
  const agreedUpTo = (block: number) => orNull(chain.agreedFirstBlockAt(due, block))
  const answer = (await agreedUpTo(oldSeed.seedBlock)) ?? (await agreedUpTo(upTo))
  if (!answer || !(await fitsLedger(ctx, answer.block))) return oldSeed
  const { block, parent } = answer
  const { number, time } = block
  const seed = seedOf(block, parent)
  const proof = areHeadersProven ? 'proven' : 'agreed'
  await keepAgreedSeedBlock(pool, { number, time, parentTime: parent?.time ?? null, seed, proof })
  return { seedBlock: number, seed, proof }
}

/** True if the ledger has this block or, unless an only provider reports it, none at its height. */
async function fitsLedger({ pool, chain }: LedgerDb & ChainRead, block: Block): Promise<boolean> {
  const ownBlock = await readBlock(pool, block.number)
  return ownBlock ? ownBlock.hash === block.hash : canAgree(chain)
}

/** The first block of `fresh` at or after `time`. Null unless its parent is in `fresh` too, so that we know the parent is from before `time`. */
function firstFresh(fresh: readonly Block[], time: number): { block: Block; parent: Block } | null {
  const at = fresh.findIndex((block) => block.time >= time)
  const block = fresh[at]
  const parent = fresh[at - 1]
  return block && parent?.number === block.number - 1 ? { block, parent } : null
}

/**
 * The blocks of a range that give turns their seeds. We store them while following, so that a turn paid years later needs no search. `cohorts` are
 * the states before the range and after each change in it; `before` is the header before the range, null if not stored.
 */
export function seedBlocksOf(
  blocks: readonly Block[],
  before: Block | null,
  cohorts: Iterable<Pick<LedgerCohort, 'nextDue' | 'intervalSec'>>,
): Omit<SeedBlock, 'proof'>[] {
  const [first] = blocks
  const afterTime = before?.time ?? first?.time ?? 0
  const times = blocks.map(({ time }) => time)
  return firstBlocksOfTurns(times, afterTime, cohorts).flatMap((place) => {
    const block = blocks[place]
    const parent = place === 0 ? before : (blocks[place - 1] ?? null)
    // In a surveyed range we did not read most parents, so we look up a turn's seed block when the turn is paid.
    if (!block || parent?.number !== block.number - 1) return []
    return [{ number: block.number, time: block.time, parentTime: parent.time, seed: seedOf(block, parent) }]
  })
}
