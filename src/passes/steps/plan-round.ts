// Plans the due round. For each due cohort, the turns that are not owed are skipped first; then come the turns to pay, each by the terms and the seed
// of its own time. amountBy (follower/seeds.ts) computes the amounts with turnAmountWei (domain/rounds/turn-amounts.ts). The operator's preview shows the same
// plan that the credit pass sends.
import { isDeepStrictEqual } from 'node:util'
import type { Cursor } from '../../db/blocks/blocks.ts'
import type { Sql } from '../../db/core/sql.ts'
import { countUnbackedNodes, readSoundCohorts } from '../../db/nodes/cohorts.ts'
import { readWindows } from '../../db/nodes/owner-acts.ts'
import type { TurnTerms } from '../../db/nodes/rounds.ts'
import type { SeedWait } from '../../db/nodes/seed-waits.ts'
import { readAcceptedPayments } from '../../db/payments/queues.ts'
import { lockTermsForReading, readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import { cohortToSkipFor, pendingTurns } from '../../domain/rounds/due-turns.ts'
import type { NotOwedWindow } from '../../domain/rounds/payouts.ts'
import {
  type DueCohort,
  type PayableCohort,
  planRound,
  type RoundPlan,
  shareTurns,
  type TurnBounds,
} from '../../domain/rounds/round-plan.ts'
import { type CreditTerms, type Turn, termsAt } from '../../domain/rounds/turn-amounts.ts'
import { MINT_BATCH_MAX } from '../../domain/send.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import { amountBy, type TermsReader, termsReader } from '../../follower/seeds.ts'
import type { ChainRead, LedgerDb, RuledBy, TrustRules } from '../../ports/contexts.ts'

/** `doubt`: why its seed is not known. */
type PricedTurn = Turn & TurnTerms & { doubt: string | null }

/** The plan, and every due cohort with the inputs of its turns' amounts. */
export interface DueRound {
  plan: RoundPlan
  /** The ledger's terms at the time of planning, and the contract's bounds for a turn. */
  basis: TermsBasis
  bounds: TurnBounds | null
  cohorts: (Omit<DueCohort, 'turns'> & { turns: PricedTurn[] })[]
  /** The earliest turn that is left out because nothing backs its seed; null if there is none. */
  waits: SeedWait | null
}

/** The operator's entries on which a round's amounts depend. */
export interface TermsBasis {
  terms: CreditTerms[]
  tiers: TierVersion[]
}

async function readBasis(sql: Sql): Promise<TermsBasis> {
  return { terms: await readCreditTerms(sql), tiers: await readTierVersions(sql) }
}

/**
 * Throws if terms or tiers have changed since the round was planned. Call it in the transaction that stores the intent: until that transaction ends,
 * terms and tiers cannot change.
 */
export async function holdToTerms(sql: Sql, basis: TermsBasis): Promise<void> {
  await lockTermsForReading(sql)
  if (!isDeepStrictEqual(await readBasis(sql), basis))
    throw new Error('terms were entered while a round was being signed; the next run plans it again')
}

/** What a plan needs in addition to the ledger. */
export interface RoundBasis {
  cursor: Cursor
  /** Null if we could not read them. */
  bounds: TurnBounds | null
  /** Unix seconds. Turns that are due later wait. */
  upTo: number
}

/** Cohorts, and what decides which of their turns are owed. */
interface Owing {
  cohorts: readonly LedgerCohort[]
  terms: readonly CreditTerms[]
  windows: readonly NotOwedWindow[]
}

/** A cohort that may enter the plan. */
interface Candidate {
  state: LedgerCohort
  dueCohort: DueRound['cohorts'][number]
  payable: PayableCohort
}

/** How often, at most, we share out a round's turns again because some cohorts turned out to be outside the bounds. */
const SHARES_MAX = 10

/** Plans the next round as of the cursor. Cohorts that the service did not open get no credit. */
export async function planDueRound(
  ctx: LedgerDb & ChainRead & RuledBy<TrustRules>,
  { bounds, cursor, upTo }: RoundBasis,
): Promise<DueRound> {
  const cohorts = await readSoundCohorts(ctx.pool)
  const [basis, windows] = await Promise.all([readBasis(ctx.pool), readWindows(ctx.pool)])
  const reader = termsReader(ctx, cursor.number)
  const priceUpTo = (candidate: Candidate, count: number) => price(reader, ctx.rules, candidate, count)
  const candidates = await readCandidates(ctx, { cursor, upTo }, { cohorts, terms: basis.terms, windows })
  // A cohort's first turn shows whether we can compute the amount at all. If we can, the cohort gets a share of the round's turns.
  for (const candidate of candidates) await priceUpTo(candidate, Math.min(1, candidate.payable.payable))
  const plannedCohorts = candidates.map((candidate) => candidate.dueCohort)
  const sharing = candidates.filter(
    ({ dueCohort: { unbackedNodes, turns } }) => unbackedNodes === 0 && turns[0] && turns[0].amountWei !== null,
  )
  const outOfBounds = new Set<number>()
  for (let i = 0; i < SHARES_MAX; i++) {
    const within = sharing.filter(({ state }) => !outOfBounds.has(state.cohort))
    const shares = shareTurns(within.map(({ payable }) => payable))
    for (const candidate of within) await priceUpTo(candidate, shares.get(candidate.state.cohort) ?? 1)
    const before = outOfBounds.size
    for (const cohort of planRound(plannedCohorts, bounds).outOfBounds) outOfBounds.add(cohort)
    if (outOfBounds.size === before) break
  }
  const doubts = plannedCohorts.flatMap(({ turns }) =>
    turns.flatMap(({ due, doubt }) => (doubt ? { due, says: doubt } : [])),
  )
  const [waits = null] = doubts.toSorted((a, b) => a.due - b.due)
  return { plan: planRound(plannedCohorts, bounds), basis, bounds, cohorts: plannedCohorts, waits }
}

async function readCandidates(
  ctx: LedgerDb,
  { cursor, upTo }: Pick<RoundBasis, 'cursor' | 'upTo'>,
  owing: Owing,
): Promise<Candidate[]> {
  const due = owing.cohorts.filter(({ size, nextDue }) => size > 0 && nextDue <= upTo)
  const numbers = due.map(({ cohort }) => cohort)
  const [unbackedCounts, waitedFor] = await Promise.all([
    countUnbackedNodes(ctx.pool, numbers),
    readCohortsToSkip(ctx, cursor, owing),
  ])
  return due.map((state) => {
    const { cohort, size, nextDue, intervalSec } = state
    const { skipped: skippedTurns, payable, firstPayable, isDelayed } = pendingTurns(state, owing, upTo)
    const isSkipNeeded = waitedFor.has(cohort)
    return {
      state,
      dueCohort: {
        cohort,
        size,
        unbackedNodes: unbackedCounts.get(cohort) ?? 0,
        pendingDue: nextDue,
        skipped: skippedTurns,
        isSkipNeeded,
        isDelayed,
        turns: [],
      },
      payable: { cohort, intervalSec, firstPayable, payable },
    }
  })
}

/** Adds turns with their amounts to a cohort until it has `count` turns. */
async function price(
  reader: TermsReader,
  rules: TrustRules,
  { state, dueCohort, payable }: Candidate,
  count: number,
): Promise<void> {
  for (let i = dueCohort.turns.length; i < count; i++) {
    const due = payable.firstPayable + i * payable.intervalSec
    const terms = await reader.owed(state.tierNo, due, rules)
    dueCohort.turns.push({ due, amountWei: amountBy(terms, state.cohort, due), ...terms })
  }
}

/** Cohorts that could take nodes for accepted payments once a round skips the turns that are not owed. Without such turns it reads nothing. */
async function readCohortsToSkip(ctx: LedgerDb, cursor: Cursor, owing: Owing): Promise<Set<number>> {
  const schedule = termsAt(owing.terms, cursor.time)
  if (!schedule || owing.windows.length === 0) return new Set()
  const acceptedPayments = await readAcceptedPayments(ctx.pool, { upToBlock: cursor.number, limit: MINT_BATCH_MAX })
  const tiers = new Set(acceptedPayments.flatMap(({ tierNo }) => (tierNo === null ? [] : [tierNo])))
  const at = { cohorts: owing.cohorts, schedule, now: cursor.time }
  return new Set([...tiers].flatMap((tierNo) => cohortToSkipFor(at, tierNo, owing) ?? []))
}
