// Previews of what the contract's owner may sign: the transaction, what stands before and after it, and whether the contract would take
// it now. Readings alone: nothing here signs, sends, or changes the ledger.
import { type OwnerCall, type OwnerTransaction, ownerTransaction } from '../chain/factory/owner-calls.ts'
import type { GovernanceReader, OwnersPowers } from '../chain/port.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import { readBudgetNeed } from '../db/nodes/budget.ts'
import { readNodesOfRefs } from '../db/nodes/grants.ts'
import { readPaymentRefs } from '../db/payments/rows.ts'
import { readCreditTerms } from '../db/sale/terms.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { turnRange } from '../domain/budget.ts'
import type { Address, Hash } from '../domain/units.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Fields, type OperatorRefusal, refuseAct } from './act.ts'
import { readFields } from './input.ts'

const GWEI = 10n ** 9n
/** The highest values that fit the contract's fields. */
const NODES_MAX = 2 ** 32 - 1
const COHORTS_MAX = 2 ** 16 - 1
const GWEI_MAX = 2 ** 48 - 1
/** Refs in one call: some 11,000 gas each. */
const REFS_MAX = 200

/** The sources that a preview reads. */
export interface OwnerDeps extends LedgerDb {
  readonly governance: GovernanceReader
}

export interface OwnerPreview {
  /** Whose wallet signs. */
  owner: Address
  transaction: OwnerTransaction
  /** The values that the call changes, before and after, by name. */
  before: Readonly<Record<string, string>>
  after: Readonly<Record<string, string>>
  /** Points to consider before it is signed. */
  notes: readonly string[]
  /** The contract's error if it were carried out now; null where it would go through. */
  refusal: string | null
}

/** The owner's decisions in force. */
export async function showPowers({ governance }: Pick<OwnerDeps, 'governance'>): Promise<OwnersPowers> {
  return governance.powers()
}

/** `refillMinter`: `nodes` and `cohorts` are added, up to `nodesMost` and `cohortsMost`; left out, these are what that makes as of now. */
export async function previewRefill(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const nodes = fields.wholeOrNull('nodes', 0, NODES_MAX) ?? 0
  const cohorts = fields.wholeOrNull('cohorts', 0, COHORTS_MAX) ?? 0
  const most = {
    nodes: fields.wholeOrNull('nodesMost', 0, NODES_MAX),
    cohorts: fields.wholeOrNull('cohortsMost', 0, COHORTS_MAX),
  }
  if (nodes + cohorts === 0) fields.complain('nodes or cohorts is required: how many more')
  if (fields.refusal) return fields.refusal
  const powers = await deps.governance.powers()
  const { budget, minter } = powers
  const nodesMost = most.nodes ?? Math.min(budget.nodes + nodes, NODES_MAX)
  const cohortsMost = most.cohorts ?? Math.min(budget.cohorts + cohorts, COHORTS_MAX)
  const after = {
    nodes: budget.nodes + Math.min(nodes, Math.max(0, nodesMost - budget.nodes)),
    cohorts: budget.cohorts + Math.min(cohorts, Math.max(0, cohortsMost - budget.cohorts)),
  }
  const call = { name: 'refillMinter', minter, ...bigBudget({ nodes, nodesMost, cohorts, cohortsMost }) } as const
  const notes = ['It adds, up to the most that it names: carried out late or twice, it leaves no more than that.']
  const cursor = await readCursor(deps.pool)
  if (cursor) {
    const { nodesPerWeek } = await readBudgetNeed(deps.pool, cursor.time)
    notes.push(`${nodesPerWeek} nodes are minted in a week, as of late.`)
  }
  return preview(deps, powers, { call, before: budgetShown(budget), after: budgetShown(after), notes })
}

/** `setMinter`: another key, with a budget of its own. */
export async function previewMinter(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const newMinter = fields.address('address')
  const nodes = fields.whole('nodes', 0, NODES_MAX)
  const cohorts = fields.whole('cohorts', 0, COHORTS_MAX)
  if (fields.refusal) return fields.refusal
  const powers = await deps.governance.powers()
  if (newMinter === powers.distributor) return sameAccount
  const call = { name: 'setMinter', newMinter, nodes: BigInt(nodes), cohorts: BigInt(cohorts) } as const
  return preview(deps, powers, {
    call,
    before: { minter: powers.minter, ...budgetShown(powers.budget) },
    after: { minter: newMinter, ...budgetShown({ nodes, cohorts }) },
    notes: ['What the former key had signed can no longer be carried out.'],
  })
}

/** `setDistributor`: another key, with bounds of its own. */
export async function previewDistributor(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const newDistributor = fields.address('address')
  const bounds = readBounds(fields)
  if (fields.refusal) return fields.refusal
  const powers = await deps.governance.powers()
  if (newDistributor === powers.minter) return sameAccount
  return preview(deps, powers, {
    call: { name: 'setDistributor', newDistributor, ...bounds },
    before: { distributor: powers.distributor, ...boundsShown(gweiOf(powers)) },
    after: { distributor: newDistributor, ...boundsShown(bounds) },
    notes: await notesOnBounds(deps, bounds),
  })
}

/** `setBounds` of the distributor there is. */
export async function previewBounds(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const bounds = readBounds(fields)
  if (fields.refusal) return fields.refusal
  const powers = await deps.governance.powers()
  return preview(deps, powers, {
    call: { name: 'setBounds', distributor: powers.distributor, ...bounds },
    before: boundsShown(gweiOf(powers)),
    after: boundsShown(bounds),
    notes: await notesOnBounds(deps, bounds),
  })
}

/** `pause` and `unpause`. */
export async function previewPause(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const paused = fields.flag('paused')
  if (fields.refusal) return fields.refusal
  const powers = await deps.governance.powers()
  return preview(deps, powers, {
    call: { name: paused ? 'pause' : 'unpause' },
    before: { paused: String(powers.paused) },
    after: { paused: String(paused) },
    notes: ['Withdrawals and transfers go on either way.'],
  })
}

/**
 * `expel`: `refs` with commas between them; `again` those of them that have a payment or a grant, named a second time, as expelling such a
 * node takes what somebody paid for, or was given. Refuses refs without a node, and nodes that were credited, which the contract passes over.
 */
export async function previewExpel(deps: OwnerDeps, input: Fields): Promise<OwnerPreview | OperatorRefusal> {
  const fields = readFields(input)
  const refs = readRefs(fields, 'refs')
  const again = new Set(fields.textOrNull('again', REFS_TEXT) === null ? [] : readRefs(fields, 'again'))
  if (fields.refusal) return fields.refusal
  const nodes = await readNodesOfRefs(deps.pool, refs)
  const paidFor = new Set(await readPaymentRefs(deps.pool, refs))
  const objections = refs.flatMap((ref) => {
    const node = nodes.find((candidate) => candidate.ref === ref)
    if (!node) return [`${ref} has no node that the ledger knows.`]
    if (node.cohort === null) return [`${ref}: node ${node.nodeId} was expelled already.`]
    if (node.credited) return [`${ref}: node ${node.nodeId} was credited, so it can never be expelled.`]
    if (again.has(ref)) return []
    if (node.granted)
      return [`${ref}: node ${node.nodeId} has a grant. Name it a second time with again, or revoke it.`]
    if (paidFor.has(ref))
      return [
        `${ref}: node ${node.nodeId} is that of a payment. If it is to go all the same, name it a second time with again.`,
      ]
    return []
  })
  if (objections.length > 0) return refuseAct('conflict', objections.join(' '))
  const shown = (cohort: (node: (typeof nodes)[number]) => string) =>
    Object.fromEntries(nodes.map((node) => [`node ${node.nodeId} of ${node.owner}`, cohort(node)]))
  return preview(deps, await deps.governance.powers(), {
    call: { name: 'expel', refs },
    before: shown(({ cohort }) => `cohort ${cohort}`),
    after: shown(() => 'no cohort: it earns nothing, for good'),
    notes: ['A ref stays used: what was paid under it is refunded or dismissed, and never minted.'],
  })
}

interface Change {
  call: OwnerCall
  before: Readonly<Record<string, string>>
  after: Readonly<Record<string, string>>
  notes: readonly string[]
}

async function preview(
  { governance }: OwnerDeps,
  { owner }: OwnersPowers,
  { call, ...change }: Change,
): Promise<OwnerPreview> {
  const transaction = ownerTransaction(governance.factory, call)
  return { owner, transaction, ...change, refusal: await governance.refusalOf(transaction, owner) }
}

const sameAccount = refuseAct(
  'conflict',
  'That account holds the other role: both send on their own, so use two accounts.',
)

const bigBudget = (figures: { nodes: number; nodesMost: number; cohorts: number; cohortsMost: number }) => ({
  nodes: BigInt(figures.nodes),
  nodesMost: BigInt(figures.nodesMost),
  cohorts: BigInt(figures.cohorts),
  cohortsMost: BigInt(figures.cohortsMost),
})

const budgetShown = ({ nodes, cohorts }: { nodes: number; cohorts: number }) => ({
  'nodes left': String(nodes),
  'cohorts left': String(cohorts),
})

interface GweiBounds {
  floorGwei: bigint
  ceilingGwei: bigint
}

const boundsShown = ({ floorGwei, ceilingGwei }: GweiBounds) => ({
  'floor, gwei for each node and turn': String(floorGwei),
  'ceiling, gwei for each node and turn': String(ceilingGwei),
})

const gweiOf = ({ bounds }: OwnersPowers): GweiBounds => ({
  floorGwei: bounds.floorWei / GWEI,
  ceilingGwei: bounds.ceilingWei / GWEI,
})

function readBounds(fields: ReturnType<typeof readFields>): GweiBounds {
  const floorGwei = fields.whole('floorGwei', 0, GWEI_MAX)
  const ceilingGwei = fields.whole('ceilingGwei', 0, GWEI_MAX)
  if (floorGwei > ceilingGwei) fields.complain('ceilingGwei must be no less than the floor')
  return { floorGwei: BigInt(floorGwei), ceilingGwei: BigInt(ceilingGwei) }
}

/** Notes on turns at the terms in force that do not fit the bounds: they would wait. */
async function notesOnBounds({ pool }: LedgerDb, { floorGwei, ceilingGwei }: GweiBounds): Promise<string[]> {
  const terms = (await readCreditTerms(pool)).at(-1)
  const rates = (await readTierVersions(pool)).map(({ payoutBps }) => payoutBps)
  if (!terms || rates.length === 0) return []
  const { lowWei, highWei } = turnRange(terms, rates)
  if (lowWei >= floorGwei * GWEI && highWei <= ceilingGwei * GWEI) return []
  return [
    `At the terms in force a node is credited ${lowWei} to ${highWei} wei for a turn: what is outside these bounds would wait.`,
  ]
}

const REFS_TEXT = {
  max: REFS_MAX * 67,
  form: `at most ${REFS_MAX} refs (0x and 64 hex digits) with commas between them`,
}

function readRefs(fields: ReturnType<typeof readFields>, name: 'refs' | 'again'): Hash[] {
  const words = fields
    .text(name, REFS_TEXT)
    .split(',')
    .map((word) => word.trim().toLowerCase())
  const refs = words.filter((word): word is Hash => /^0x[0-9a-f]{64}$/.test(word))
  if (refs.length < words.length || words.length > REFS_MAX) fields.complain(`${name} must be ${REFS_TEXT.form}`)
  return [...new Set(refs)]
}
