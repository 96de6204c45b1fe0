// Repairs what the ledger lacks from the contract: inserts nodes from their own events, and adds missing transfers, withdrawals and expulsions. It
// must never store anything from a block that is not the ledger's own. So it reads state at the followed block's hash, and once everything is read,
// it compares each event's block with the ledger's header.
import type { ChainNode } from '../chain/port.ts'
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeAudit, writeState } from '../db/core/state.ts'
import { countIntoStates, readCohorts, repairCohort, resizeCohort } from '../db/nodes/cohorts.ts'
import * as nodes from '../db/nodes/nodes.ts'
import { compareCohort, type Drift } from '../domain/drift.ts'
import type { FactoryEvent } from '../domain/observed.ts'
import type { NewExpulsion } from '../domain/replay.ts'
import { wei } from '../domain/units.ts'
import type {
  ChainRead,
  FactoryRead,
  FollowRules,
  LedgerDb,
  Logging,
  NodeHistoryRead,
  RuledBy,
} from '../passes/context.ts'
import { areOlderCanonical, areOwnBlocks } from './own-blocks.ts'
import { adopt } from './store.ts'

/** What repairs need to read and write. */
export type RepairContext = LedgerDb & ChainRead & FactoryRead & NodeHistoryRead & RuledBy<FollowRules> & Logging

/** The most missing nodes that one run inserts. */
const REPAIRS_MAX = 100
/** After this many failed repairs a run stops, because each of them may have cost many requests. */
const FAILURES_MAX = 3
/** Fields of a node that differ if the ledger missed one of the node's events. */
const EXPLAINED_BY_EVENTS: readonly string[] = ['owner', 'withdrawnWei', 'cohort']

/**
 * Inserts the nodes that the ledger lacks, completes nodes whose events it lacks, then sets cohorts that still differ. @returns how many entries were
 * repaired.
 */
export async function repair(
  ctx: RepairContext,
  cursor: Cursor,
  drifts: readonly Drift[],
  lastId: bigint,
): Promise<number> {
  const lacksNodes = drifts.some(
    (drift) => drift.kind === 'notInLedger' || (drift.kind === 'counter' && drift.name === 'nodes'),
  )
  const missing = lacksNodes ? await nodes.missingNodeIds(ctx.pool, lastId, REPAIRS_MAX) : []
  const incomplete = drifts.flatMap((drift) =>
    drift.kind === 'node' && EXPLAINED_BY_EVENTS.includes(drift.field) ? [BigInt(drift.nodeId)] : [],
  )
  const inserted = await repairEach(ctx, 'reconcileMissing', missing, (id) => insertMissingNode(ctx, cursor, id))
  const some = [...new Set(incomplete)].slice(0, REPAIRS_MAX)
  const completed = await repairEach(ctx, 'reconcileIncomplete', some, (id) => completeNode(ctx, cursor, id))
  const differing = drifts.flatMap((drift) => (drift.kind === 'cohort' ? [drift.cohort] : []))
  return inserted + completed + (await repairCohorts(ctx, cursor, [...new Set(differing)]))
}

/**
 * Sets cohorts to the contract's values, so that the next round is planned from them. If the ledger missed credits, the counters still differ, and
 * that difference stays on record until a rescan finds the credits. @returns how many cohorts were set.
 */
async function repairCohorts(ctx: RepairContext, cursor: Cursor, numbers: readonly number[]): Promise<number> {
  if (numbers.length === 0) return 0
  const theirs = await ctx.contract.cohorts([...numbers], cursor)
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return 0
    // Inserting and completing nodes may have corrected some cohorts already.
    const wrong = (await readCohorts(sql)).flatMap((ours) => {
      const other = theirs.find(({ cohort }) => cohort === ours.cohort)
      return other && compareCohort(ours, other).length > 0 ? [{ ours, other }] : []
    })
    for (const { ours, other } of wrong) {
      const { perNodeWei, size, nextDue, intervalSec } = other
      const state = { ...ours, perNodeWei, size, nextDue, intervalSec }
      await repairCohort(sql, state, cursor.number)
      const detail = { was: ours, is: state }
      await writeAudit(sql, { actor: 'pass', action: 'cohortReconciled', subject: String(ours.cohort), detail })
      ctx.log.warn({ cohort: ours.cohort, ...detail }, 'a cohort was set to the contract’s values')
    }
    if (wrong.length > 0) await notifyLedgerChanged(sql)
    return wrong.length
  })
}

/**
 * Repairs nodes one by one. If a repair fails, for example because a provider limits the blocks in a query, it continues with the next node. After a
 * few failures it leaves the rest to the next run, which starts after the last failure. @returns how many were repaired.
 */
async function repairEach(
  ctx: LedgerDb & Logging,
  bookmark: 'reconcileMissing' | 'reconcileIncomplete',
  ids: readonly bigint[],
  repairOne: (nodeId: bigint) => Promise<boolean>,
): Promise<number> {
  if (ids.length === 0) return 0
  const after = BigInt(((await readState(ctx.pool, bookmark)) as string | null) ?? '0')
  let repaired = 0
  let failed = 0
  for (const nodeId of [...ids.filter((id) => id > after), ...ids.filter((id) => id <= after)]) {
    try {
      if (await repairOne(nodeId)) repaired++
    } catch (error) {
      ctx.log.warn({ nodeId: nodeId.toString(), err: error }, 'a node could not be repaired; a later run tries again')
      await writeState(ctx.pool, bookmark, nodeId.toString(), 'pass')
      if (++failed === FAILURES_MAX) break
    }
  }
  return repaired
}

/** Inserts a node that the contract has and the ledger lacks, although the ledger has already followed the block of its mint. */
export async function insertMissingNode(ctx: RepairContext, cursor: Cursor, nodeId: bigint): Promise<boolean> {
  const [onChain] = await ctx.contract.nodes(nodeId, 1, cursor)
  if (!onChain) return false
  // Ids are in mint order. So this node was not minted before the ledger's node with the next lower id.
  const from = (await nodes.readMintBlockUpTo(ctx.pool, nodeId)) ?? ctx.rules.startBlock
  const events = await ctx.history.eventsOf(nodeId, from, cursor.number)
  return insertNode(ctx, cursor, onChain, events)
}

/** Inserts one node from its own events. Does nothing if the ledger has moved, or if the events are not from the ledger's own blocks. */
async function insertNode(
  ctx: RepairContext,
  cursor: Cursor,
  node: ChainNode,
  events: FactoryEvent[],
): Promise<boolean> {
  const mint = events.find((event) => event.kind === 'nodeMinted')
  const expulsions = events.filter((event) => event.kind === 'nodeExpelled')
  const [cohort] = mint ? await ctx.contract.cohorts([mint.cohort], cursor) : []
  if (!mint || !cohort) return false
  const credits = await creditsIn(ctx, mint)
  const left = await leavings(ctx, expulsions)
  const read = [...events, ...credits, ...left.credits]
  const transfers = events.filter((event) => event.kind === 'transfer')
  const withdrawals = events.filter((event) => event.kind === 'withdrawn')
  // If the owner or the amount withdrawn does not match, the provider lags and has not returned all events of the node.
  const withdrawnWei = withdrawals.at(-1)?.withdrawnTotalWei ?? 0n
  if (transfers.at(-1)?.to !== node.owner || withdrawnWei !== node.withdrawnWei) return false
  if (!(await areOlderCanonical(ctx, read))) return false
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    if (!(await areOwnBlocks(sql, read))) return false
    // In the meantime, a sync or another repair may have inserted the node.
    if ((await nodes.readMintedTo(sql, [node.nodeId])).size > 0) return false
    const rounds = roundsBefore(credits, mint)
    const known = (await readCohorts(sql)).find((candidate) => candidate.cohort === mint.cohort)
    if (!known) return false
    const before = await nodes.sumCreditsBefore(sql, mint.cohort, { blockNumber: mint.blockNumber, rounds })
    // An expelled node gets no more credits, so its credits do not show what its cohort got since.
    const perNodeAtMintWei = expulsions.length > 0 ? before.perNodeWei : wei(known.perNodeWei - node.creditedWei)
    const row = { ...mint, tierNo: known.tierNo, perNodeAtMintWei, turnsAtMint: before.credits }
    await nodes.insertNodes(sql, [row])
    await nodes.insertOwnershipChanges(sql, transfers)
    await nodes.insertWithdrawals(sql, withdrawals)
    await nodes.insertExpulsions(sql, await left.counted(sql))
    await countIntoStates(sql, { cohort: cohort.cohort, fromBlock: mint.blockNumber, by: 1 })
    await resizeCohort(sql, cohort.cohort, cohort.size)
    await adopt(ctx, sql, [mint.ref])
    const detail = { owner: node.owner, cohort: node.cohort, ref: mint.ref }
    await writeAudit(sql, { actor: 'pass', action: 'nodeReconciled', subject: node.nodeId.toString(), detail })
    await notifyLedgerChanged(sql)
    ctx.log.warn(
      { nodeId: node.nodeId.toString(), ...detail },
      'a node that the ledger lacked was inserted from the chain',
    )
    return true
  })
}

/** The credits of a cohort in exactly the block of a node's mint or expulsion. */
async function creditsIn(
  ctx: LedgerDb & NodeHistoryRead,
  { cohort, blockNumber }: { cohort: number; blockNumber: number },
): Promise<FactoryEvent[]> {
  const wasCredited = await nodes.wasCreditedIn(ctx.pool, cohort, blockNumber)
  return wasCredited ? await ctx.history.creditsIn(cohort, blockNumber) : []
}

/** The rounds whose credits come before a mint or an expulsion in the same block. */
const roundsBefore = (credits: readonly FactoryEvent[], { txIndex, logIndex }: FactoryEvent) =>
  credits.flatMap((event) =>
    event.kind === 'credited' && (event.txIndex - txIndex || event.logIndex - logIndex) < 0 ? [event.round] : [],
  )

type Expulsion = Extract<FactoryEvent, { kind: 'nodeExpelled' }>

/** What we need to store a node's expulsions: the credits in an expulsion's block and, from the ledger, the cohort's credits before it. */
async function leavings(ctx: LedgerDb & NodeHistoryRead, expulsions: readonly Expulsion[]) {
  const credits: FactoryEvent[] = []
  for (const expulsion of expulsions) credits.push(...(await creditsIn(ctx, expulsion)))
  const counted = (sql: Sql): Promise<NewExpulsion[]> =>
    Promise.all(
      expulsions.map(async (expulsion) => {
        const until = { blockNumber: expulsion.blockNumber, rounds: roundsBefore(credits, expulsion) }
        const before = await nodes.sumCreditsBefore(sql, expulsion.cohort, until)
        return { ...expulsion, turnCount: before.credits }
      }),
    )
  return { credits, counted }
}

/** Replaces a node's transfers, withdrawals and expulsion in the ledger with the node's own events, if the chain has more of them than the ledger. */
async function completeNode(ctx: RepairContext, cursor: Cursor, nodeId: bigint): Promise<boolean> {
  const from = (await nodes.readMintBlockUpTo(ctx.pool, nodeId)) ?? ctx.rules.startBlock
  const events = await ctx.history.eventsOf(nodeId, from, cursor.number)
  const transfers = events.filter((event) => event.kind === 'transfer')
  const withdrawals = events.filter((event) => event.kind === 'withdrawn')
  const expulsions = events.filter((event) => event.kind === 'nodeExpelled')
  const numbers = expulsions.map(({ cohort }) => cohort)
  const cohorts = numbers.length > 0 ? await ctx.contract.cohorts(numbers, cursor) : []
  const left = await leavings(ctx, expulsions)
  const read = [...events, ...left.credits]
  if (!(await areOlderCanonical(ctx, read))) return false
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    if (!(await areOwnBlocks(sql, read))) return false
    const known = await nodes.countEvents(sql, nodeId)
    // The ledger already has all events, or more, so missing events are not why the node differs.
    if (transfers.length < known.transfers || withdrawals.length < known.withdrawals) return false
    const isExpelledNow = expulsions.length > known.expulsions
    if (transfers.length + withdrawals.length === known.transfers + known.withdrawals && !isExpelledNow) return false
    if (isExpelledNow) {
      await nodes.insertExpulsions(sql, await left.counted(sql))
      for (const { cohort, blockNumber } of expulsions) {
        await countIntoStates(sql, { cohort, fromBlock: blockNumber, by: -1 })
      }
      for (const { cohort, size } of cohorts) await resizeCohort(sql, cohort, size)
    }
    await nodes.forgetEvents(sql, nodeId)
    await nodes.insertOwnershipChanges(sql, transfers)
    await nodes.insertWithdrawals(sql, withdrawals)
    const detail = {
      transfers: transfers.length - known.transfers,
      withdrawals: withdrawals.length - known.withdrawals,
      expulsions: expulsions.length - known.expulsions,
    }
    await writeAudit(sql, { actor: 'pass', action: 'nodeReconciled', subject: nodeId.toString(), detail })
    await notifyLedgerChanged(sql)
    ctx.log.warn(
      { nodeId: nodeId.toString(), ...detail },
      'events of a node that the ledger lacked were added from the chain',
    )
    return true
  })
}
