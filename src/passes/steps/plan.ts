// Plans the round that is due: every due cohort's pending turn, at the terms and the seed of its own time. The same plan is what the
// credit pass sends and what the operator is shown beforehand.
import type { Cursor } from '../../db/blocks.ts'
import { countUnbackedNodes } from '../../db/cohorts.ts'
import type { TurnTerms } from '../../db/rounds.ts'
import { type DueCohort, planRound, type RoundPlan, type Turn, type TurnBounds } from '../../domain/credit.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import type { ChainRead, LedgerDb } from '../context.ts'
import { amountBy, termsReader } from './seeds.ts'

/** The plan, and every due cohort with what the amounts of its turns came from. */
export interface DueRound {
  plan: RoundPlan
  cohorts: (Omit<DueCohort, 'turns'> & { turns: (Turn & TurnTerms)[] })[]
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
  const cohorts: DueRound['cohorts'] = []
  for (const { cohort, tierNo, nextDue, size } of due) {
    const terms = await reader.owed(tierNo, nextDue)
    const turn = { due: nextDue, amountWei: amountBy(terms, cohort, nextDue), ...terms }
    cohorts.push({ cohort, size, unbackedNodes: unbacked.get(cohort) ?? 0, turns: [turn] })
  }
  return { plan: planRound(cohorts, bounds), cohorts }
}
