// Plans the round that is due: every due cohort's pending turn, at the terms and the seed of its own time. The same plan is what the
// credit pass sends and what the operator is shown beforehand.
import { isDeepStrictEqual } from 'node:util'
import type { Cursor } from '../../db/blocks.ts'
import { countUnbackedNodes } from '../../db/cohorts.ts'
import { readWindows } from '../../db/owner-acts.ts'
import type { TurnTerms } from '../../db/rounds.ts'
import type { Sql } from '../../db/sql.ts'
import { lockTermsForReading, readCreditTerms } from '../../db/terms.ts'
import { readTierVersions } from '../../db/tiers.ts'
import {
  type CreditTerms,
  type DueCohort,
  planRound,
  type RoundPlan,
  type Turn,
  type TurnBounds,
} from '../../domain/credit.ts'
import { turnFate } from '../../domain/payouts.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import type { TierVersion } from '../../domain/tiers.ts'
import type { ChainRead, LedgerDb } from '../context.ts'
import { amountBy, termsReader } from './seeds.ts'

/** The plan, and every due cohort with what the amounts of its turns came from. */
export interface DueRound {
  plan: RoundPlan
  /** What the ledger said when it was planned. */
  basis: TermsBasis
  cohorts: (Omit<DueCohort, 'turns'> & { turns: (Turn & TurnTerms)[] })[]
}

/** Everything that somebody enters and a round's amounts depend on. */
export interface TermsBasis {
  terms: CreditTerms[]
  tiers: TierVersion[]
}

async function readBasis(sql: Sql): Promise<TermsBasis> {
  return { terms: await readCreditTerms(sql), tiers: await readTierVersions(sql) }
}

/**
 * Throws where terms or tiers are others than a round was planned by. Run in the transaction that stores its intent: whoever enters some waits
 * for its end.
 */
export async function holdToTerms(sql: Sql, basis: TermsBasis): Promise<void> {
  await lockTermsForReading(sql)
  if (!isDeepStrictEqual(await readBasis(sql), basis))
    throw new Error('terms were entered while a round was being signed; the next run plans it again')
}

/** What a round is planned from besides the ledger. */
export interface RoundBasis {
  cursor: Cursor
  /** Null: not known. */
  bounds: TurnBounds | null
}

/** Plans the next round as of the cursor. `due` are the cohorts whose turn has come by then. */
export async function planDueRound(
  ctx: LedgerDb & ChainRead,
  { cursor, bounds }: RoundBasis,
  due: readonly LedgerCohort[],
): Promise<DueRound> {
  const reader = termsReader(ctx, cursor.number)
  const unbacked = await countUnbackedNodes(
    ctx.pool,
    due.map((cohort) => cohort.cohort),
  )
  const [basis, windows] = await Promise.all([readBasis(ctx.pool), readWindows(ctx.pool)])
  const cohorts: DueRound['cohorts'] = []
  for (const { cohort, tierNo, nextDue, size } of due) {
    const terms = await reader.owed(tierNo, nextDue)
    const turn = { due: nextDue, amountWei: amountBy(terms, cohort, nextDue), ...terms }
    const fate = turnFate(basis.terms, windows, nextDue)
    cohorts.push({ cohort, size, fate, unbackedNodes: unbacked.get(cohort) ?? 0, turns: [turn] })
  }
  return { plan: planRound(cohorts, bounds), basis, cohorts }
}
