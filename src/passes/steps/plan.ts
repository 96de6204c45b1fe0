// Plans the round that is due: every due cohort's owed turn, at the terms and the seed of its own time. The same plan is what the
// credit pass sends and what the operator is shown beforehand.
import type { Cursor } from '../../db/blocks.ts'
import { countUnbackedNodes } from '../../db/cohorts.ts'
import type { TurnTerms } from '../../db/rounds.ts'
import { type DueTurn, planRound, type RoundPlan } from '../../domain/credit.ts'
import type { LedgerCohort } from '../../domain/replay.ts'
import type { ChainRead, LedgerDb } from '../context.ts'
import { amountBy, termsReader } from './seeds.ts'

/** The plan, and every due turn with what its amount came from. */
export interface DueRound {
  plan: RoundPlan
  turns: (DueTurn & TurnTerms)[]
}

/** Plans the next round as of the cursor. `due` are the cohorts whose turn has come by then. */
export async function planDueRound(
  ctx: LedgerDb & ChainRead,
  cursor: Cursor,
  due: readonly LedgerCohort[],
): Promise<DueRound> {
  const reader = termsReader(ctx, cursor.number)
  const unbacked = await countUnbackedNodes(
    ctx.pool,
    due.map((cohort) => cohort.cohort),
  )
  const turns: DueRound['turns'] = []
  for (const cohort of due) {
    const terms = await reader.owed(cohort.tierNo, cohort.nextDue)
    turns.push({
      ...terms,
      cohort: cohort.cohort,
      due: cohort.nextDue,
      size: cohort.size,
      unbackedNodes: unbacked.get(cohort.cohort) ?? 0,
      amountWei: amountBy(terms, cohort.cohort, cohort.nextDue),
    })
  }
  return { plan: planRound(turns), turns }
}
