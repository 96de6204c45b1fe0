// The checks of what the contract's owner allows the two keys, and of traces that a thief of the owner's key would leave.

import { createGovernanceReader } from '../../chain/factory/governance.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readBudgetNeed } from '../../db/nodes/budget.ts'
import { countPlaces, type Places } from '../../db/payments/supply.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { budgetShortOf, turnRange } from '../../domain/budget.ts'
import { isNearlySold, type TierVersion } from '../../domain/tiers.ts'
import type { Address } from '../../domain/units.ts'
import type { GovernanceReader, OwnersPowers } from '../../ports/chain.ts'
import { inEther } from '../ether.ts'
import { type Checks, type Finding, findingOf, runChecks } from './check.ts'

interface PowersExamined {
  readonly powers: OwnersPowers
  readonly governance: GovernanceReader
  /** The ledger's database; null if there is no ledger to compare with the chain. */
  readonly pool: Pool | null
}

const CHECKS: Checks<PowersExamined> = {
  'owner.budget': async ({ powers: { budget }, pool }) => {
    const { nodes, cohorts } = budget
    const cursor = pool && (await readCursor(pool))
    const none = { nodesPerWeek: 0, cohortsPerTier: 0 }
    const need = pool && cursor ? await readBudgetNeed(pool, cursor.time) : none
    const reading = { nodes, cohorts, ...need }
    const short = budgetShortOf(reading)
    const isSpent = short.some((what) => reading[what] === 0)
    const todo = `Have the owner refill it: "node-ledger owner refill-minter ${short.map((what) => `--${what} <n>`).join(' ')}" prints what to sign.`
    return {
      says: `the minter may mint ${nodes} nodes and open ${cohorts} cohorts; a week like the last one takes ${need.nodesPerWeek} nodes, one more tier ${need.cohortsPerTier} cohorts`,
      [isSpent ? 'fail' : 'warn']: short.length > 0 && todo,
      reading,
    }
  },

  'owner.bounds': async ({ powers: { bounds }, pool }) => {
    const { floorWei, ceilingWei } = bounds
    const noFloor =
      floorWei === 0n &&
      'A stolen distributor key could use up due turns without paying for them. "node-ledger owner set-bounds" prints what the owner signs; half of the smallest turn is a good floor.'
    const says = `the distributor may credit a node ${inEther(floorWei)} to ${inEther(ceilingWei)} ether for a turn`
    const terms = pool && (await readCreditTerms(pool)).at(-1)
    const rates = pool ? (await readTierVersions(pool)).map(({ payoutBps }) => payoutBps) : []
    if (!terms || rates.length === 0) return { says, warn: noFloor, reading: bounds }
    const { lowWei, highWei } = turnRange(terms, rates)
    const todo =
      'Amounts outside are not credited. "node-ledger owner set-bounds" prints what the owner signs to widen the bounds.'
    return {
      says: `${says}; the terms need ${inEther(lowWei)} to ${inEther(highWei)}`,
      ...(lowWei < floorWei || highWei > ceilingWei ? { fail: todo } : { warn: lowWei > 0n && noFloor }),
      reading: { ...bounds, lowWei, highWei },
    }
  },

  'owner.supply': async ({ pool }) => {
    const places = pool && (await countPlaces(pool))
    return (await readLimited(pool)).map((tier) => saySold(tier, places?.get(tier.tierNo)))
  },

  'owner.cap': async ({ governance, pool }) =>
    await Promise.all((await readLimited(pool)).map((tier) => sayCap(governance, tier))),

  'owner.offer': ({ powers: { pendingOwner, owner } }) => {
    if (BigInt(pendingOwner) === 0n) return null
    const todo = 'If you did not offer it, the owner’s key is stolen: docs/RUNBOOK.md, "A lost or stolen key".'
    return {
      says: `${owner} has offered the ownership to ${pendingOwner}`,
      warn: todo,
      reading: { owner, pendingOwner },
    }
  },

  'owner.pause': ({ powers: { paused } }) => {
    if (!paused) return null
    const todo = '"node-ledger owner unpause" prints what the owner signs to end it.'
    return { says: 'the contract is paused: nothing is opened, minted or credited', warn: todo }
  },
}

type Limited = Pick<TierVersion, 'tierId' | 'tierNo'> & { supply: number }

/** The tiers that are limited now. */
async function readLimited(pool: Pool | null): Promise<Limited[]> {
  const latest = new Map((pool ? await readTierVersions(pool) : []).map((tier) => [tier.tierNo, tier]))
  return [...latest.values()].flatMap(({ supply, ...tier }) => (supply === null ? [] : [{ ...tier, supply }]))
}

function saySold({ tierId, supply }: Limited, { sold = 0, reserved = 0 }: Partial<Places> = {}) {
  const todo = `When all is sold, later payments are held (soldOut): "node-ledger tiers off-sale ${tierId}", or raise its supply.`
  return {
    says: `of tier ${tierId}, ${sold} of ${supply} are sold, and ${reserved} are being paid for`,
    warn: isNearlySold(sold, supply) && todo,
    reading: { tierId, supply, sold, reserved },
  }
}

/** What is wrong with a tier's cap; null if the contract allows at least as many nodes as the ledger sells. */
async function sayCap(governance: GovernanceReader, { tierId, tierNo, supply }: Limited) {
  const { most } = await governance.tierSupply(tierNo)
  if (most >= supply) return null
  return {
    says: `of tier ${tierId}, the contract mints ${most} at most, and its supply is ${supply}`,
    warn: `Sales beyond that are held (soldOut): "node-ledger tiers price ${tierId} --supply ${most}".`,
    reading: { tierId, supply, contractMost: most },
  }
}

export async function lookAtPowers(factory: Address, rpc: Rpc, pool: Pool | null): Promise<Finding[]> {
  const governance = createGovernanceReader(rpc, factory)
  const powers = await governance.powers().catch(() => null)
  if (!powers) return [findingOf('owner.budget', { unknown: 'the factory did not answer' })]
  return await runChecks(CHECKS, { powers, governance, pool })
}
