// Measures how the minter's budget is used: recent mints, and the cohorts that one more tier would open.
import type { BudgetNeed } from '../../domain/budget.ts'
import type { Sql } from '../core/sql.ts'
import { readCreditTerms } from '../sale/terms.ts'

/** The window of recent mints, in seconds. In a younger ledger it is the ledger's age, but at least a day. */
const LOOK_BACK_SEC = 7 * 86_400
const LOOK_BACK_LEAST_SEC = 86_400

/** SQL: `soldOut` of the budget as last read (domain/budget.ts). */
export const SOLD_OUT = `coalesce((SELECT (budget -> 'soldOut')::boolean FROM ledger_state), false)`

/** Reads the need as of a block time, unix seconds. */
export async function readBudgetNeed(sql: Sql, time: number): Promise<BudgetNeed> {
  const [row] = await sql<Pick<BudgetNeed, 'nodesPerWeek'>[]>`
    WITH minted AS (SELECT coalesce(max(node_id), 0) -
        -- Ids follow time: read backwards, this ends at the first node that is older.
        coalesce((SELECT node_id FROM nodes WHERE minted_at <= to_timestamp(${time - LOOK_BACK_SEC})
          ORDER BY node_id DESC LIMIT 1), 0) AS nodes FROM nodes),
      span AS (SELECT least(${LOOK_BACK_SEC}, greatest(${LOOK_BACK_LEAST_SEC},
        ${time} - coalesce((SELECT extract(epoch FROM minted_at) FROM nodes ORDER BY node_id LIMIT 1), ${time}))) AS seconds)
    SELECT ceil(minted.nodes * ${LOOK_BACK_SEC}::numeric / span.seconds)::int AS "nodesPerWeek"
    FROM minted, span`
  if (!row) throw new Error('a query that always returns one row returned none')
  const terms = (await readCreditTerms(sql)).at(-1)
  return { ...row, cohortsPerTier: terms ? Math.ceil(terms.intervalSec / terms.slotSec) : 0 }
}
