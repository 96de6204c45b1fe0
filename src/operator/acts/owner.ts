// Previews of transactions that the contract's owner may sign: the transaction, the values before and after it, and whether the contract would accept
// it now. Read-only: nothing here signs, sends, or changes the ledger.
import type { OwnerCall, OwnerTransaction } from '../../chain/factory/owner-calls.ts'
import { readCursor } from '../../db/blocks/blocks.ts'
import { readBudgetNeed } from '../../db/nodes/budget.ts'
import { type NodeOfRef, readNodesOfRefs } from '../../db/nodes/grants.ts'
import { readPaymentRefs } from '../../db/payments/rows.ts'
import { readCreditTerms } from '../../db/sale/terms.ts'
import { readTierVersions } from '../../db/sale/tiers.ts'
import { turnRange } from '../../domain/budget.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import type { GovernanceReader, OwnersPowers } from '../../ports/contract.ts'
import { fieldNamed, type OperatorRefusal, refuseAct } from '../act.ts'
import { defineReading } from '../define-act.ts'
import * as field from '../input.ts'

const GWEI = 10n ** 9n
/** The highest values that fit into the contract's fields. */
const NODES_MAX = 2 ** 32 - 1
const COHORTS_MAX = 2 ** 16 - 1
const GWEI_MAX = 2 ** 48 - 1
/** How many refs one call may have. Each costs about 11,000 gas. */
const REFS_MAX = 200

export interface OwnerDeps extends LedgerDb {
  readonly governance: GovernanceReader
}

export interface OwnerPreview {
  /** The wallet that signs. */
  owner: Address
  transaction: OwnerTransaction
  /** The values that the call changes, before and after, by name. */
  before: Readonly<Record<string, string>>
  after: Readonly<Record<string, string>>
  /** Points to consider before signing. */
  notes: readonly string[]
  /** The contract's error if the call were executed now; null if it would succeed. */
  refusal: string | null
}

/** What all previews share. */
const PREVIEW = {
  path: null,
  onChain: true,
  group: 'owner',
  details: `Prints the transaction for the owner's wallet, what it changes, and whether the contract would accept it now. Signs and sends
nothing.`,
} as const
const ACCOUNT = field.address('the account of the new key')
const BOUNDS = {
  floorGwei: field.whole('the least that a node may be credited for a turn', 0, GWEI_MAX, 'gwei'),
  ceilingGwei: field.whole('the most', 0, GWEI_MAX, 'gwei'),
}

export const showPowers = defineReading({
  path: null,
  onChain: true,
  command: 'owner show',
  group: 'owner',
  summary: "show the contract's owner, the two keys and their limits",
  examples: ['owner show', 'owner show --json'],
  fields: {},
  run: ({ governance }: Pick<OwnerDeps, 'governance'>) => governance.powers(),
})

export const previewRefill = defineReading({
  ...PREVIEW,
  command: 'owner refill-minter',
  summary: 'preview the transaction that adds nodes and cohorts to what the minter may still mint and open',
  examples: ['owner refill-minter --nodes 500', 'owner refill-minter --cohorts 100 --json'],
  fields: {
    nodes: field.orElse(field.whole('nodes to add', 0, NODES_MAX), 0),
    cohorts: field.orElse(field.whole('cohorts to add', 0, COHORTS_MAX), 0),
    nodesMost: field.orNull(
      field.whole('the most that may be left afterwards; by default what is left now plus --nodes', 0, NODES_MAX),
    ),
    cohortsMost: field.orNull(
      field.whole(
        'the most cohorts that may be left afterwards; by default what is left now plus --cohorts',
        0,
        COHORTS_MAX,
      ),
    ),
  },
  check: ({ nodes, cohorts }, { complain }) => {
    if (nodes + cohorts === 0)
      complain(null, `${fieldNamed('nodes')} or ${fieldNamed('cohorts')} is required: how many more`)
  },
  run: refill,
})

async function refill(
  deps: OwnerDeps,
  { nodes, cohorts, ...most }: { nodes: number; cohorts: number; nodesMost: number | null; cohortsMost: number | null },
): Promise<OwnerPreview> {
  const powers = await deps.governance.powers()
  const { budget, minter } = powers
  const nodesMost = most.nodesMost ?? Math.min(budget.nodes + nodes, NODES_MAX)
  const cohortsMost = most.cohortsMost ?? Math.min(budget.cohorts + cohorts, COHORTS_MAX)
  const after = {
    nodes: budget.nodes + Math.min(nodes, Math.max(0, nodesMost - budget.nodes)),
    cohorts: budget.cohorts + Math.min(cohorts, Math.max(0, cohortsMost - budget.cohorts)),
  }
  const call = { name: 'refillMinter', minter, ...bigBudget({ nodes, nodesMost, cohorts, cohortsMost }) } as const
  const notes = ['The call sets a maximum. If it is executed late or twice, it leaves no more than that.']
  const cursor = await readCursor(deps.pool)
  if (cursor) {
    const { nodesPerWeek } = await readBudgetNeed(deps.pool, cursor.time)
    notes.push(`${nodesPerWeek} nodes were minted in the last seven days.`)
  }
  return preview(deps, powers, { call, before: budgetShown(budget), after: budgetShown(after), notes })
}

export const previewMinter = defineReading({
  ...PREVIEW,
  command: 'owner set-minter',
  summary: 'preview the transaction that gives the minter’s role to another key, with a budget of its own',
  examples: ['owner set-minter <address> --nodes 500 --cohorts 100'],
  args: ['address'],
  fields: {
    address: ACCOUNT,
    nodes: field.whole('nodes it may mint', 0, NODES_MAX),
    cohorts: field.whole('cohorts it may open', 0, COHORTS_MAX),
  },
  run: async (deps: OwnerDeps, { address: newMinter, nodes, cohorts }) => {
    const powers = await deps.governance.powers()
    if (newMinter === powers.distributor) return sameAccount
    const budget = { nodes: BigInt(nodes), cohorts: BigInt(cohorts) }
    return preview(deps, powers, {
      call: { name: 'setMinter', newMinter, former: powers.minter, ...budget },
      before: { minter: powers.minter, ...budgetShown(powers.budget) },
      after: { minter: newMinter, ...budgetShown({ nodes, cohorts }) },
      notes: ['Transactions that the previous key signed can no longer be executed.'],
    })
  },
})

export const previewDistributor = defineReading({
  ...PREVIEW,
  command: 'owner set-distributor',
  summary: 'preview the transaction that gives the distributor’s role to another key, with bounds of its own',
  examples: ['owner set-distributor <address> --floor-gwei 0 --ceiling-gwei 10000000'],
  args: ['address'],
  fields: { address: ACCOUNT, ...BOUNDS },
  check: checkBounds,
  run: async (deps: OwnerDeps, { address: newDistributor, ...request }) => {
    const powers = await deps.governance.powers()
    if (newDistributor === powers.minter) return sameAccount
    const bounds = boundsIn(request)
    return preview(deps, powers, {
      call: { name: 'setDistributor', newDistributor, former: powers.distributor, ...bounds },
      before: { distributor: powers.distributor, ...boundsShown(gweiOf(powers)) },
      after: { distributor: newDistributor, ...boundsShown(bounds) },
      notes: await notesOnBounds(deps, bounds),
    })
  },
})

/** Previews new bounds for the current distributor. */
export const previewBounds = defineReading({
  ...PREVIEW,
  command: 'owner set-bounds',
  summary: 'preview the transaction that sets the least and the most a node may be credited for a turn',
  examples: ['owner set-bounds --floor-gwei 0 --ceiling-gwei 10000000'],
  fields: BOUNDS,
  check: checkBounds,
  run: async (deps: OwnerDeps, request) => {
    const [powers, bounds] = [await deps.governance.powers(), boundsIn(request)]
    return preview(deps, powers, {
      call: { name: 'setBounds', distributor: powers.distributor, ...bounds },
      before: boundsShown(gweiOf(powers)),
      after: boundsShown(bounds),
      notes: await notesOnBounds(deps, bounds),
    })
  },
})

export const previewPause = defineReading({
  ...PREVIEW,
  summary: 'preview the transaction that pauses or resumes opening, minting and crediting on the contract',
  fields: { paused: field.yesOrNo('true to pause, false to resume') },
  run: async (deps: OwnerDeps, { paused }) => {
    const powers = await deps.governance.powers()
    return preview(deps, powers, {
      call: { name: paused ? 'pause' : 'unpause' },
      before: { paused: String(powers.paused) },
      after: { paused: String(paused) },
      notes: ['Withdrawals and transfers continue either way.'],
    })
  },
})

/** Refs, comma-separated. */
const refs = (help: string) =>
  field.ofForm<Hash[]>(help, {
    schema: { type: 'string' },
    value: 'refs',
    otherwise: [],
    form: `at most ${REFS_MAX} refs (0x and 64 hex digits) separated by commas`,
    parse: (input) => {
      const words = String(input)
        .split(',')
        .map((word) => word.trim().toLowerCase())
      const hashes = words.filter((word): word is Hash => /^0x[0-9a-f]{64}$/.test(word))
      return hashes.length < words.length || words.length > REFS_MAX ? undefined : [...new Set(hashes)]
    },
  })

export const previewCap = defineReading({
  ...PREVIEW,
  command: 'owner cap-tier',
  summary: 'preview the transaction that sets how many nodes a tier may ever have',
  details: `${PREVIEW.details} The cap can never rise again, nor be below the nodes that the tier has.`,
  examples: ['owner cap-tier basic --most 500'],
  args: ['tier'],
  fields: {
    tier: field.text('the tier, by its id'),
    most: field.whole('how many nodes it may ever have', 0, NODES_MAX),
  },
  run: async (deps: OwnerDeps, { tier: tierId, most }) => {
    const tier = (await readTierVersions(deps.pool)).find((version) => version.tierId === tierId)
    if (!tier) return refuseAct('notFound', `There is no tier ${tierId}.`)
    const [powers, supply] = [await deps.governance.powers(), await deps.governance.tierSupply(tier.tierNo)]
    if (most > supply.most)
      return refuseAct('conflict', `The tier may have ${supply.most} nodes at most: that can never be raised.`)
    if (most < supply.minted)
      return refuseAct('conflict', `The tier has ${supply.minted} nodes already: it can have no fewer.`)
    return preview(deps, powers, {
      call: { name: 'capTier', tier: BigInt(tier.tierNo), most: BigInt(most) },
      before: supplyShown(supply.minted, supply.most),
      after: supplyShown(supply.minted, most),
      notes: ['It can be lowered later, and never raised. The service holds payments beyond it, for you to refund.'],
    })
  },
})

const supplyShown = (count: number, most: number) => ({
  minted: String(count),
  most: most === NODES_MAX ? 'no limit' : String(most),
})

/** A credited node may be expelled for this many of its cohort's intervals after its mint, unless the window ends sooner. */
const EXPEL_INTERVALS = 2

/** Refuses refs without a node, and nodes that the contract would skip. */
export const previewExpel = defineReading({
  ...PREVIEW,
  command: 'owner expel',
  summary: 'preview the transaction that takes nodes out of their cohorts',
  details: `${PREVIEW.details} Use it for nodes of a stolen minter. A credited node can be expelled only within the contract's window after
its mint, and keeps its credit. Confirm refs that have a payment or a grant with --again.`,
  examples: ['owner expel <ref>'],
  args: ['refs'],
  fields: {
    refs: refs('the refs of the nodes, separated by commas; "nodes unpaid" lists them'),
    again: field.orElse(refs('repeat the refs that have a payment or a grant, to confirm them'), []),
  },
  run: expel,
})

async function expel(
  deps: OwnerDeps,
  { refs, again: againRefs }: { refs: Hash[]; again: Hash[] },
): Promise<OwnerPreview | OperatorRefusal> {
  const again = new Set(againRefs)
  const nodes = await readNodesOfRefs(deps.pool, refs)
  const paidFor = new Set(await readPaymentRefs(deps.pool, refs))
  const window = { sec: await deps.governance.expulsionPeriodSec(), now: (await readCursor(deps.pool))?.time ?? 0 }
  const objections = refs.flatMap((ref) => {
    const node = nodes.find((candidate) => candidate.ref === ref)
    if (!node) return [`The ledger has no node with the ref ${ref}.`]
    if (node.cohort === null) return [`${ref}: node ${node.nodeId} was expelled already.`]
    if (isPastWindow(node, window)) return [tooOld(node, window)]
    if (again.has(ref)) return []
    if (node.granted)
      return [
        `${ref}: node ${node.nodeId} has a grant. Revoke the grant first, or repeat the ref with ${fieldNamed('again')}.`,
      ]
    if (paidFor.has(ref))
      return [
        `${ref}: node ${node.nodeId} belongs to a payment. To expel it anyway, repeat the ref with ${fieldNamed('again')}.`,
      ]
    return []
  })
  if (objections.length > 0) return refuseAct('conflict', objections.join(' '))
  const listBy = (cohort: (node: (typeof nodes)[number]) => string) =>
    Object.fromEntries(nodes.map((node) => [node.ref, `node ${node.nodeId} of ${node.owner}, ${cohort(node)}`]))
  return preview(deps, await deps.governance.powers(), {
    call: { name: 'expel', refs },
    before: listBy(({ cohort }) => `cohort ${cohort}`),
    after: listBy(({ creditedWei }) => `in no cohort: it keeps ${creditedWei} wei and is never credited again`),
    notes: ['A ref stays used, so its payment can never be minted again: refund or dismiss it.'],
  })
}

/** Within the contract's period only the interval of the node's cohort closed the window, and the owner can lengthen it. */
const tooOld = ({ ref, nodeId, mintedAt, cohort }: NodeOfRef, { sec, now }: { sec: number; now: number }) =>
  now < mintedAt + sec
    ? `${ref}: node ${nodeId} was credited and is too old: two intervals of its cohort are over. A longer interval opens the window again: setInterval(${cohort}, <seconds>).`
    : `${ref}: node ${nodeId} was credited and is too old, so it can never be expelled.`

const isPastWindow = ({ creditedWei, mintedAt, intervalSec }: NodeOfRef, { sec, now }: { sec: number; now: number }) =>
  creditedWei > 0n && now >= mintedAt + Math.min(sec, EXPEL_INTERVALS * (intervalSec ?? 0))

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
  // Loaded only if there is a call to encode, because the commands' help encodes none.
  const { ownerTransaction } = await import('../../chain/factory/owner-calls.ts')
  const transaction = ownerTransaction(governance.factory, call)
  return { owner, transaction, ...change, refusal: await governance.refusalOf(transaction, owner) }
}

const sameAccount = refuseAct('conflict', 'That account has the other role: each role needs its own account.')

const bigBudget = (figures: { nodes: number; nodesMost: number; cohorts: number; cohortsMost: number }) => ({
  nodes: BigInt(figures.nodes),
  nodesMost: BigInt(figures.nodesMost),
  cohorts: BigInt(figures.cohorts),
  cohortsMost: BigInt(figures.cohortsMost),
})

const budgetShown = ({ nodes, cohorts }: { nodes: number; cohorts: number }) => ({
  nodesLeft: String(nodes),
  cohortsLeft: String(cohorts),
})

interface GweiBounds {
  floorGwei: bigint
  ceilingGwei: bigint
}

const boundsShown = ({ floorGwei, ceilingGwei }: GweiBounds) => ({
  floorGwei: String(floorGwei),
  ceilingGwei: String(ceilingGwei),
})

const gweiOf = ({ bounds }: OwnersPowers): GweiBounds => ({
  floorGwei: bounds.floorWei / GWEI,
  ceilingGwei: bounds.ceilingWei / GWEI,
})

function checkBounds(
  { floorGwei, ceilingGwei }: field.Read<typeof BOUNDS>,
  { complain }: Parameters<field.Check<typeof BOUNDS>>[1],
): void {
  if (floorGwei > ceilingGwei) complain('ceilingGwei', 'must be no less than the floor')
}

const boundsIn = ({ floorGwei, ceilingGwei }: field.Read<typeof BOUNDS>): GweiBounds => ({
  floorGwei: BigInt(floorGwei),
  ceilingGwei: BigInt(ceilingGwei),
})

/** Notes on turns that would have to wait because, under the terms in force, their amounts do not fit the new bounds. */
async function notesOnBounds({ pool }: LedgerDb, { floorGwei, ceilingGwei }: GweiBounds): Promise<string[]> {
  const terms = (await readCreditTerms(pool)).at(-1)
  const rates = (await readTierVersions(pool)).map(({ payoutBps }) => payoutBps)
  if (!terms || rates.length === 0) return []
  const { lowWei, highWei } = turnRange(terms, rates)
  if (lowWei >= floorGwei * GWEI && highWei <= ceilingGwei * GWEI) return []
  return [
    `At the terms in force a node is credited ${lowWei} to ${highWei} wei for a turn: amounts outside these bounds would wait.`,
  ]
}
