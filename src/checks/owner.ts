// The checks of what the contract's owner allows the two keys, and of traces that a thief of the owner's key would leave.
import { createGovernanceReader } from '../chain/factory/governance.ts'
import type { Rpc } from '../chain/rpc/rpc.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Pool } from '../db/core/sql.ts'
import { readBudgetNeed } from '../db/nodes/budget.ts'
import { readCreditTerms } from '../db/sale/terms.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { type BudgetUse, budgetShortOf, turnRange } from '../domain/budget.ts'
import { type Address, inEther } from '../domain/units.ts'
import type { OwnersPowers } from '../ports/contract.ts'
import { type Checks, check, type Finding, findingOf, runChecks } from './check.ts'

interface PowersExamined {
  readonly powers: OwnersPowers
  /** The ledger's database; null if there is no ledger to compare with the chain. */
  readonly pool: Pool | null
}

const ofPowers = ({ powers }: PowersExamined) => powers

export const OWNER_CHECKS: Checks<PowersExamined> = {
  'owner.budget': check('NodeLedgerBudgetLow', readBudgetUse, (use) => {
    const { nodes, cohorts, nodesPerWeek, cohortsPerTier } = use
    const short = budgetShortOf(use)
    const isSpent = short.some((what) => use[what] === 0)
    const todo = `Have the owner refill it: "node-ledger owner refill-minter ${short.map((what) => `--${what} <n>`).join(' ')}" prints what to sign.`
    return {
      says: `the minter may mint ${nodes} nodes and open ${cohorts} cohorts; a week like the last one takes ${nodesPerWeek} nodes, one more tier ${cohortsPerTier} cohorts`,
      [isSpent ? 'fail' : 'warn']: short.length > 0 && todo,
    }
  }),

  'owner.bounds': check(null, readBoundsUse, ({ floorWei, ceilingWei, range }) => {
    const noFloor =
      floorWei === 0n &&
      'A stolen distributor key could use up due turns without paying for them. "node-ledger owner set-bounds" prints what the owner signs; half of the smallest turn is a good floor.'
    const says = `the distributor may credit a node ${inEther(floorWei)} to ${inEther(ceilingWei)} ETH for a turn`
    if (!range) return { says, warn: noFloor }
    const { lowWei, highWei } = range
    const todo =
      'Amounts outside are not credited. "node-ledger owner set-bounds" prints what the owner signs to widen the bounds.'
    return {
      says: `${says}; the terms need ${inEther(lowWei)} to ${inEther(highWei)}`,
      ...(lowWei < floorWei || highWei > ceilingWei ? { fail: todo } : { warn: lowWei > 0n && noFloor }),
    }
  }),

  'owner.offer': check(null, ofPowers, ({ pendingOwner, owner }) => {
    if (BigInt(pendingOwner) === 0n) return null
    const todo = 'If you did not offer it, the owner’s key is stolen: docs/RUNBOOK.md, "A lost or stolen key".'
    return { says: `${owner} has offered the ownership to ${pendingOwner}`, warn: todo }
  }),

  'owner.pause': check(null, ofPowers, ({ paused: isPaused }) => {
    if (!isPaused) return null
    const todo = '"node-ledger owner unpause" prints what the owner signs to end the pause.'
    return { says: 'the contract is paused: nothing is opened, minted or credited', warn: todo }
  }),
}

async function readBudgetUse({ powers: { budget }, pool }: PowersExamined): Promise<BudgetUse> {
  const cursor = pool && (await readCursor(pool))
  const need = pool && cursor ? await readBudgetNeed(pool, cursor.time) : { nodesPerWeek: 0, cohortsPerTier: 0 }
  return { nodes: budget.nodes, cohorts: budget.cohorts, ...need }
}

/** The bounds, and the range of turns that the terms need; null if there are no terms, or no tiers. */
async function readBoundsUse({ powers: { bounds }, pool }: PowersExamined) {
  const terms = pool && (await readCreditTerms(pool)).at(-1)
  const rates = pool ? (await readTierVersions(pool)).map(({ payoutBps }) => payoutBps) : []
  return { ...bounds, range: terms && rates.length > 0 ? turnRange(terms, rates) : null }
}

export async function lookAtPowers(factory: Address, rpc: Rpc, pool: Pool | null): Promise<Finding[]> {
  const powers = await createGovernanceReader(rpc, factory)
    .powers()
    .catch(() => null)
  if (!powers) return [findingOf('owner.budget', { unknown: 'the factory did not answer' })]
  return await runChecks(OWNER_CHECKS, { powers, pool })
}
