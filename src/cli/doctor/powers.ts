// Looks at what the contract's owner allows the two keys, and at what a stolen one would leave behind: budget, bounds, transactions of our
// keys that this ledger never stored, payments whose node another wallet has, cohorts of odd intervals.
import type { OwnersPowers } from '../../chain/port.ts'
import { createGovernanceReader } from '../../chain/read/governance.ts'
import type { Rpc } from '../../chain/rpc/rpc.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import type { Pool } from '../../db/core/sql.ts'
import { readBudgetNeed } from '../../db/nodes/budget.ts'
import { readThefts, readUnusualCohorts } from '../../db/reads/doctor.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { budgetShortOf, turnRange } from '../../domain/budget.ts'
import type { Address } from '../../domain/units.ts'
import { inEther } from '../ether.ts'
import { type Finding, fail, look, ok, unknown, warn } from './finding.ts'

/** `pool` is null where there is no ledger to hold the chain's word against. */
export async function lookAtPowers(factory: Address, rpc: Rpc, pool: Pool | null): Promise<Finding[]> {
  const powers = await createGovernanceReader(rpc, factory)
    .powers()
    .catch(() => null)
  if (!powers) return [unknown('owner.budget', 'the factory could not be asked')]
  return [
    ...(await look('owner.budget', () => lookAtBudget(powers, pool))),
    ...(await look('owner.bounds', () => lookAtBounds(powers, pool))),
    ...lookAtOffer(powers),
    ...lookAtContractPause(powers),
  ]
}

async function lookAtBudget({ budget }: OwnersPowers, pool: Pool | null): Promise<Finding> {
  const { nodes, cohorts } = budget
  const cursor = pool && (await readCursor(pool))
  const none = { nodesPerWeek: 0, cohortsPerTier: 0 }
  const need = pool && cursor ? await readBudgetNeed(pool, cursor.time) : none
  const reading = { nodes, cohorts, ...need }
  const says = `the minter may mint ${nodes} nodes and open ${cohorts} cohorts; a week as the last one takes ${need.nodesPerWeek} nodes, one more tier ${need.cohortsPerTier} cohorts`
  const short = budgetShortOf(reading)
  if (short.length === 0) return ok('owner.budget', says, reading)
  const todo = `Have the owner refill it: "node-ledger owner refill-minter ${short.map((what) => `--${what} <n>`).join(' ')}" prints what to sign.`
  const spent = short.some((what) => reading[what] === 0)
  return (spent ? fail : warn)('owner.budget', says, todo, reading)
}

async function lookAtBounds({ bounds }: OwnersPowers, pool: Pool | null): Promise<Finding> {
  const { floorWei, ceilingWei } = bounds
  const says = `the distributor may credit a node ${inEther(floorWei)} to ${inEther(ceilingWei)} ether for a turn`
  const terms = pool && (await readCreditTerms(pool)).at(-1)
  const rates = pool ? (await readTierVersions(pool)).map(({ payoutBps }) => payoutBps) : []
  if (!terms || rates.length === 0) return ok('owner.bounds', says, bounds)
  const { lowWei, highWei } = turnRange(terms, rates)
  const reading = { ...bounds, lowWei, highWei }
  const both = `${says}; the terms come to ${inEther(lowWei)} to ${inEther(highWei)}`
  if (lowWei >= floorWei && highWei <= ceilingWei) return ok('owner.bounds', both, reading)
  const todo =
    'What is outside is not credited. "node-ledger owner set-bounds" prints what the owner signs to make room.'
  return fail('owner.bounds', both, todo, reading)
}

function lookAtOffer({ pendingOwner, owner }: OwnersPowers): Finding[] {
  if (BigInt(pendingOwner) === 0n) return []
  const todo = 'If you did not offer it, the owner’s key is stolen: docs/RUNBOOK.md, "A lost or stolen key".'
  return [warn('owner.offer', `${owner} has offered the ownership to ${pendingOwner}`, todo, { owner, pendingOwner })]
}

function lookAtContractPause({ paused }: OwnersPowers): Finding[] {
  if (!paused) return []
  const todo = '"node-ledger owner unpause" prints what the owner signs to end it.'
  return [warn('owner.pause', 'the contract is paused: nothing is opened, minted or credited', todo)]
}

/** Looks for traces of a stolen key in the ledger. */
export async function lookAtThefts(pool: Pool): Promise<Finding[]> {
  const { foreign, refs } = await readThefts(pool)
  const unusual = await readUnusualCohorts(pool)
  const odd = unusual.filter((cohort) => cohort.odd)
  const runbook = 'docs/RUNBOOK.md, "A lost or stolen key".'
  return [
    foreign.length === 0
      ? ok('keys.foreign', 'no key of ours was used elsewhere within a week')
      : fail(
          'keys.foreign',
          `within a week our keys were used ${foreign.length} times in ways that this ledger never stored, the newest ${foreign[0]}`,
          `Was the ledger restored from a backup? Then they are its own. Did you send them yourself? Never do that with these keys. If neither, the key is stolen: ${runbook}`,
          { transactions: foreign },
        ),
    refs.length === 0
      ? ok('payments.refs', 'no payment’s node belongs to another wallet than the one that paid')
      : fail(
          'payments.refs',
          `${refs.length} payments whose node another wallet has had minted, the newest ${refs[0]}`,
          `The minter’s key is stolen: ${runbook} These payments are refunded or dismissed: their refs stay used.`,
          { refs },
        ),
    unusual.length === 0
      ? ok('cohorts.intervals', 'every cohort has an interval and a phase that the ledger’s terms have had')
      : warn(
          'cohorts.intervals',
          `cohorts ${unusual.map(({ cohort, intervalSec }) => `${cohort} (${intervalSec} s)`).join(', ')} have intervals or phases that the terms never had${odd.length === 0 ? '' : `; not credited: ${odd.map(({ cohort }) => cohort).join(', ')}`}`,
          `Did the owner set them? If not, see whether a key is stolen: ${runbook}`,
          { cohorts: unusual },
        ),
  ]
}
