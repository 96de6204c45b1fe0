// Judges whether the allowances that the contract's owner set for our keys are still large enough: the minter's budget for a week, and the
// distributor's bounds for the amounts of turns. Pure.
import { BPS_BASE } from './units.ts'

/** How much of the budget a week like the last one uses. */
export interface BudgetNeed {
  /** Nodes minted in a week; 0 if none was minted recently. */
  nodesPerWeek: number
  /** Cohorts that one more tier needs: one for each phase of the interval. */
  cohortsPerTier: number
}

/** What is left of the minter's budget, and how much of it is needed. */
export interface BudgetUse extends BudgetNeed {
  nodes: number
  cohorts: number
}

/** The budget and the bounds when we last read them, stored in the ledger's state. */
export interface KnownBudget extends BudgetUse {
  floorWei: string
  ceilingWei: string
  /** Which budgets are low: `nodes` if it is too low for another week like the last one, `cohorts` if it is too low for one more tier. */
  low: ('nodes' | 'cohorts')[]
  /** Which budget ran out while work was waiting; null if neither did. */
  spent: 'nodes' | 'cohorts' | null
  soldOut: boolean
}

/** Which parts of the budget run low: nodes for a week, cohorts for one more tier. An empty budget is always low. */
export function budgetShortOf({ nodes, cohorts, nodesPerWeek, cohortsPerTier }: BudgetUse): ('nodes' | 'cohorts')[] {
  const short: ('nodes' | 'cohorts')[] = []
  if (nodes === 0 || nodes < nodesPerWeek) short.push('nodes')
  if (cohorts === 0 || cohorts < cohortsPerTier) short.push('cohorts')
  return short
}

/**
 * True if anything paid now must wait for the contract's owner: the minter's budget, as last read, has no node left, or a payment waits for the part
 * in `spent`.
 */
export const isSoldOut = (budget: { nodes: number; spent: string | null }): boolean =>
  budget.nodes === 0 || budget.spent !== null

/** The smallest and the largest credit of a node for one turn: the ends of the range, at the lowest and the highest of these rates. */
export function turnRange(
  { minWei, maxWei }: { minWei: bigint; maxWei: bigint },
  payoutBps: readonly number[],
): { lowWei: bigint; highWei: bigint } {
  const rates = payoutBps.toSorted((a, b) => a - b)
  const [low, high] = [BigInt(rates[0] ?? 0), BigInt(rates.at(-1) ?? 0)]
  return { lowWei: (minWei * low) / BPS_BASE, highWei: (maxWei * high) / BPS_BASE }
}
