// Checks from time to time whether the minter's budget is still large enough, and warns while the contract's owner has time to refill it. It sends
// nothing, and a failure here never stops a pass.

import type { Cursor } from '../../db/blocks/blocks.ts'
import { passFinished, passStarted, secondsSincePass } from '../../db/core/passes.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeAudit, writeState } from '../../db/core/state.ts'
import { readBudgetNeed } from '../../db/nodes/budget.ts'
import { hasOwnerActs } from '../../db/nodes/owner-acts.ts'
import { type BudgetNeed, budgetShortOf, isSoldOut, type KnownBudget } from '../../domain/budget.ts'
import type { CreditBounds, MinterBudget } from '../../domain/observed.ts'
import { messageOf } from '../../lib/errors.ts'
import type { FactoryRead, LedgerDb, Logging } from '../../ports/contexts.ts'
import type { BudgetAnswer } from '../../ports/outcomes.ts'

/** Seconds between two checks. That is often enough: we report a low budget a week before it runs out, and a person must refill it. */
const EVERY_SEC = 300
/** If fewer nodes than this are left, every pass checks: they may be sold before the next check, and then we can mint nothing more. */
const FEW_NODES = 100
/** For this many blocks after an act of the contract's owner, every pass checks too, because the owner may have set a new budget. */
const AFTER_ACT_BLOCKS = 25

/**
 * Checks if the last check is long enough ago. Also checks if a mint found that a budget has run out, or no longer has. `mintAnswer`: which budget
 * ran out; undefined if the pass planned no mint.
 */
export async function watchBudget(
  ctx: LedgerDb & FactoryRead & Logging,
  cursor: Cursor,
  mintAnswer: BudgetAnswer | undefined,
): Promise<void> {
  const before = await readState(ctx.pool, 'budget')
  const spentBudget = mintAnswer === undefined ? (before?.spent ?? null) : mintAnswer
  const isKnown = before !== null && before.nodes >= FEW_NODES && before.spent === spentBudget
  const isFresh = isKnown && (await secondsSincePass(ctx.pool, 'budget')) < EVERY_SEC
  if (isFresh && !(await hasOwnerActs(ctx.pool, cursor.number - AFTER_ACT_BLOCKS))) return
  await passStarted(ctx.pool, 'budget')
  try {
    const [budget, bounds, need] = await Promise.all([
      ctx.contract.budget(cursor.number),
      ctx.contract.bounds(cursor.number),
      readBudgetNeed(ctx.pool, cursor.time),
    ])
    await note(ctx, before, knownBudget({ budget, bounds, need }, spentBudget))
    await passFinished(ctx.pool, 'budget', { outcome: {} })
  } catch (error) {
    ctx.log.warn({ err: error }, 'the minter’s budget and the distributor’s bounds could not be read')
    await passFinished(ctx.pool, 'budget', { error: messageOf(error) })
  }
}

function knownBudget(
  { budget, bounds, need }: { budget: MinterBudget; bounds: CreditBounds; need: BudgetNeed },
  spentBudget: BudgetAnswer,
): KnownBudget {
  const { nodes, cohorts } = budget
  const { floorWei, ceilingWei } = bounds
  const low = budgetShortOf({ nodes, cohorts, ...need })
  const soldOut = isSoldOut({ nodes, spent: spentBudget })
  return {
    nodes,
    cohorts,
    ...need,
    floorWei: String(floorWei),
    ceilingWei: String(ceilingWei),
    low,
    spent: spentBudget,
    soldOut,
  }
}

/** Records the budget. Reports it when it becomes low, when it is spent, and when it is sufficient again. */
async function note(ctx: LedgerDb & Logging, before: KnownBudget | null, now: KnownBudget): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    await writeState(sql, 'budget', now)
    if (now.soldOut !== (before?.soldOut ?? false)) await notifyLedgerChanged(sql)
    const changes = [
      ...(String(now.low) === String(before?.low ?? []) ? [] : [now.low.length > 0 ? 'budgetLow' : 'budgetRestored']),
      ...(now.spent !== null && now.spent !== (before?.spent ?? null) ? ['budgetSpent'] : []),
    ]
    for (const action of changes) {
      await writeAudit(sql, { actor: 'pass', action, detail: now })
      if (action !== 'budgetRestored')
        ctx.log.warn({ action, ...now }, 'the minter’s budget is low or spent: have the contract’s owner refill it')
    }
  })
}
