// Compares the ledger with the contract at the followed block: counters and cohorts every time, nodes in a rolling window, and every
// recorded difference. Each difference is reported, and stays on record until the two agree. Then nodes that the ledger lacks are
// inserted from their own events, and so are missing transfers, withdrawals and expulsions.
import { isDeepStrictEqual } from 'node:util'
import { textDigest } from '../chain/digest.ts'
import type { ChainNode } from '../chain/port.ts'
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { passFinished, passStarted, secondsSincePass } from '../db/core/passes.ts'
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged, readState, writeAudit, writeState } from '../db/core/state.ts'
import { countIntoStates, readCohorts, repairCohort, resizeCohort } from '../db/nodes/cohorts.ts'
import * as nodes from '../db/nodes/nodes.ts'
import { forgetSeedBlocks } from '../db/nodes/seed-blocks.ts'
import {
  type Counters,
  compareCohort,
  compareCounters,
  compareNodes,
  type Drift,
  inOrder,
  windowOf,
} from '../domain/drift.ts'
import type { FactoryEvent } from '../domain/observed.ts'
import type { CohortState } from '../domain/schedule.ts'
import { wei } from '../domain/units.ts'
import { messageOf } from '../lib/errors.ts'
import { toJson } from '../lib/json.ts'
import type {
  ChainRead,
  FactoryRead,
  FollowRules,
  LedgerDb,
  Logging,
  NodeHistoryRead,
  RuledBy,
  UpkeepRules,
} from '../passes/context.ts'
import { noteFinalized } from './halt.ts'
import { adopt } from './store.ts'

/** Inserting and completing nodes: from their own events, after what the contract says of them. */
type RepairContext = LedgerDb & FactoryRead & NodeHistoryRead & RuledBy<FollowRules> & Logging
type ReconcileContext = RepairContext & ChainRead

/** Nodes compared in one step, at one block for both sides: four calls to the contract, under way at once. */
const STEP = 2_000
/** A run compares no further node after this long, so that a slow provider makes the sweep slow, and no buyer wait. */
const COMPARING_MS = 5_000
/** A run compares no further node once so much differs: the record is to be read, and repairs are bounded, too. */
const DRIFTS_MAX = 500
/** Missing nodes inserted in one run at most. */
const REPAIRS_MAX = 100
/** Repairs that fail in one run at most: each may have cost a provider many requests. */
const FAILURES_MAX = 3
/** Nodes on record as differing that are compared again in one run at most. */
const NAMED_MAX = 100
/** Cohorts compared in one run at most: ten requests. All there are, unless tiers and intervals have changed often. */
const COHORTS_MAX = 1_000
const DAY_SEC = 86_400
/** Fields of a node that differ where an event of it was not followed. */
const EXPLAINED_BY_EVENTS: readonly string[] = ['owner', 'withdrawnWei', 'cohort']

export interface ReconcileResult {
  inserted: number
  /** The differences; none where something was repaired, which the next run compares again. */
  drifts: Drift[]
}

/** Reconciles, and notes how far the chain is final, when the last time is long enough ago. @returns how many nodes were inserted. */
export async function reconcileWhenDue(ctx: ReconcileContext & RuledBy<UpkeepRules>, cursor: Cursor): Promise<number> {
  const since = await secondsSincePass(ctx.pool, 'reconcile')
  if (since !== null && since < ctx.rules.reconcileEverySec) return 0
  await passStarted(ctx.pool, 'reconcile')
  try {
    await noteFinalized(ctx, cursor)
    await forgetSeedBlocks(ctx.pool)
    const first = ((await readState(ctx.pool, 'reconcileNext')) as number | null) ?? 1
    const { result, next } = await reconcileWindow(ctx, cursor, first)
    await writeState(ctx.pool, 'reconcileNext', next, 'pass')
    await passFinished(ctx.pool, 'reconcile', { outcome: result })
    return result.inserted
  } catch (error) {
    // Comparing must never keep payments from being judged; the next pass compares again.
    ctx.log.warn({ err: error }, 'the ledger could not be compared with the contract')
    await passFinished(ctx.pool, 'reconcile', { error: messageOf(error) })
    return 0
  }
}

/** Compares counters and one window of ids, inserts what is missing. `next` is where the following window begins. */
export async function reconcileWindow(
  ctx: ReconcileContext,
  cursor: Cursor,
  first: number,
): Promise<{ result: ReconcileResult; next: number }> {
  const counters = await ctx.contract.counters(cursor.number)
  const chainCounters = { nodes: counters.lastNodeId, round: counters.round, outstandingWei: counters.outstandingWei }
  const [ledgerCounters, named, ofCohorts] = await Promise.all([
    nodes.readLedgerCounters(ctx.pool),
    compareNamed(ctx, cursor),
    compareCohorts(ctx, cursor, chainCounters),
  ])
  // Another run has followed on meanwhile: the two sides were not read at one block, so a difference would prove nothing.
  if (!(await standsAt(ctx, cursor))) return { result: { inserted: 0, drifts: [] }, next: first }
  const { drifts: ofWindow, next } = await compareWindow(ctx, cursor, first, windowOf(Number(counters.lastNodeId)))
  const ofCounters = compareCounters(ledgerCounters, chainCounters)
  const drifts = inOrder(onceEach([...ofCounters, ...ofWindow, ...named, ...ofCohorts]))
  // The contract was asked by the block's number: where the chain has another block there by now, that is no drift.
  if (drifts.length > 0 && (await ctx.chain.block(cursor.number))?.hash !== cursor.hash)
    return { result: { inserted: 0, drifts: [] }, next: first }
  // Reported before any repair: a repair may fail, or never end.
  await report(ctx, drifts)
  const repaired = await repair(ctx, cursor, drifts, counters.lastNodeId)
  // The next run compares repaired entries again; the record stays until then.
  return { result: { inserted: repaired, drifts: repaired > 0 ? [] : drifts }, next }
}

const standsAt = async ({ pool }: LedgerDb, { hash }: Cursor) => (await readCursor(pool))?.hash === hash

/** Removes duplicates: recorded differences within the window are compared twice. */
const onceEach = (drifts: readonly Drift[]) => [
  ...new Map(drifts.map((drift) => [JSON.stringify(drift), drift])).values(),
]

/**
 * Compares a window of ids step by step. If it ends early, the next run continues from there. A step during which the ledger followed on
 * proves nothing; those before it still hold.
 */
async function compareWindow(
  ctx: LedgerDb & FactoryRead,
  cursor: Cursor,
  first: number,
  length: number,
): Promise<{ drifts: Drift[]; next: number }> {
  const deadline = performance.now() + COMPARING_MS
  const drifts: Drift[] = []
  let next = first
  while (next < first + length && drifts.length < DRIFTS_MAX && performance.now() < deadline) {
    const step = Math.min(STEP, first + length - next)
    const { drifts: found, onChain } = await compareFrom(ctx, cursor, next, step)
    if (!(await standsAt(ctx, cursor))) break
    drifts.push(...found)
    if (onChain < step) return { drifts, next: 1 }
    next += step
  }
  return { drifts, next }
}

/** Compares a stretch of node ids. `onChain` is how many of them the contract has. */
async function compareFrom(
  ctx: LedgerDb & FactoryRead,
  cursor: Cursor,
  first: number,
  length: number,
): Promise<{ drifts: Drift[]; onChain: number }> {
  const [theirs, ours] = await Promise.all([
    ctx.contract.nodes(BigInt(first), length, cursor.number),
    nodes.readNodes(ctx.pool, first, length),
  ])
  const known = ours.map((node) => ({ ...node, nodeId: BigInt(node.nodeId) }))
  return { drifts: compareNodes(known, theirs), onChain: theirs.length }
}

/** Compares again the nodes that are on record as differing, wherever the window is: the operator's own comparison looks at everything. */
async function compareNamed(ctx: LedgerDb & FactoryRead, cursor: Cursor): Promise<Drift[]> {
  const recorded = ((await readState(ctx.pool, 'drift')) as Drift[] | null) ?? []
  const ids = recorded.flatMap((drift) => ('nodeId' in drift ? [Number(drift.nodeId)] : []))
  const some = [...new Set(ids)].slice(0, NAMED_MAX)
  const ofNodes = await Promise.all(some.map((id) => compareFrom(ctx, cursor, id, 1)))
  return ofNodes.flatMap(({ drifts }) => drifts)
}

/**
 * Compares cohorts: those whose turn has come or will be next, which a round is planned from, as many as one run holds. Where neither the
 * contract's storage nor the ledger's cohorts have changed since the two agreed, they are not asked for again that day: it is a call for each. The
 * counters stand beside the storage's root, which is a provider's word alone.
 */
async function compareCohorts(ctx: LedgerDb & FactoryRead, cursor: Cursor, counters: Counters): Promise<Drift[]> {
  const byTurn = (a: CohortState, b: CohortState) => Number(b.size > 0) - Number(a.size > 0) || a.nextDue - b.nextDue
  const ours = (await readCohorts(ctx.pool)).sort(byTurn).slice(0, COHORTS_MAX)
  if (ours.length === 0) return []
  const root = await ctx.contract.storageRoot(cursor.hash)
  const day = Math.floor(cursor.time / DAY_SEC)
  const sides = { root, cohorts: textDigest(toJson(ours)), counters: textDigest(toJson(counters)), day }
  if (root !== null && isDeepStrictEqual(await readState(ctx.pool, 'cohortsAgreed'), sides)) return []
  const theirs = await ctx.contract.cohorts(
    ours.map(({ cohort }) => cohort),
    cursor.number,
  )
  const drifts = ours.flatMap((cohort, i) => {
    const other = theirs[i]
    return other ? compareCohort(cohort, other) : []
  })
  if (root !== null && drifts.length === 0) await writeState(ctx.pool, 'cohortsAgreed', sides, 'pass')
  return drifts
}

/** Inserts the nodes that the ledger lacks, then completes those whose events it lacks. @returns how many. */
async function repair(ctx: RepairContext, cursor: Cursor, drifts: readonly Drift[], lastId: bigint): Promise<number> {
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
 * Sets cohorts to what the contract says of them, so that the next round is planned from that. What was credited meanwhile and is not in the
 * ledger stays on record as a difference of the counters: a rescan finds it. @returns how many were set.
 */
async function repairCohorts(ctx: RepairContext, cursor: Cursor, numbers: readonly number[]): Promise<number> {
  if (numbers.length === 0) return 0
  const theirs = await ctx.contract.cohorts([...numbers], cursor.number)
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return 0
    // Nodes that were inserted or completed have mended some.
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
      ctx.log.warn({ cohort: ours.cohort, ...detail }, 'a cohort was set to what the contract says')
    }
    if (wrong.length > 0) await notifyLedgerChanged(sql)
    return wrong.length
  })
}

/**
 * Repairs node by node: one that cannot be repaired, as where a provider limits the blocks of a question, keeps no other from it. After
 * a few that failed the rest has its turn at the next run, which begins with them. @returns how many were repaired.
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

/** Inserts a node that the contract has and the ledger, although it followed past its mint, has not. */
export async function insertMissingNode(ctx: RepairContext, cursor: Cursor, nodeId: bigint): Promise<boolean> {
  const [onChain] = await ctx.contract.nodes(nodeId, 1, cursor.number)
  if (!onChain) return false
  // Ids are given in the order of mints: it was minted no earlier than the one before it that the ledger has.
  const from = (await nodes.readMintBlockUpTo(ctx.pool, nodeId)) ?? ctx.rules.startBlock
  const events = await ctx.history.eventsOf(nodeId, from, cursor.number)
  return insertNode(ctx, cursor, onChain, events)
}

/** Inserts one node from its own events, unless the ledger has moved on meanwhile. */
async function insertNode(
  ctx: LedgerDb & FactoryRead & NodeHistoryRead & Logging,
  cursor: Cursor,
  node: ChainNode,
  events: FactoryEvent[],
): Promise<boolean> {
  const mint = events.find((event) => event.kind === 'nodeMinted')
  const expulsions = events.filter((event) => event.kind === 'nodeExpelled')
  const [cohort] = mint ? await ctx.contract.cohorts([mint.cohort], cursor.number) : []
  if (!mint || !cohort) return false
  const rounds = await roundsBefore(ctx, mint)
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    const known = (await readCohorts(sql)).find((candidate) => candidate.cohort === mint.cohort)
    if (!known) return false
    const before = await nodes.sumCreditsBefore(sql, mint.cohort, { blockNumber: mint.blockNumber, rounds })
    // The credits of an expelled node prove nothing about the cohort that it left.
    const perNodeAtMintWei = expulsions.length > 0 ? before.perNodeWei : wei(known.perNodeWei - node.creditedWei)
    const row = { ...mint, tierNo: known.tierNo, perNodeAtMintWei, turnsAtMint: before.credits }
    await nodes.insertNodes(sql, [row])
    await nodes.insertOwnershipChanges(
      sql,
      events.filter((event) => event.kind === 'transfer'),
    )
    await nodes.insertWithdrawals(
      sql,
      events.filter((event) => event.kind === 'withdrawn'),
    )
    await nodes.insertExpulsions(sql, expulsions)
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

/** The rounds that credited a node's cohort in the very block of its mint, before it. */
async function roundsBefore(
  ctx: LedgerDb & NodeHistoryRead,
  { cohort, blockNumber, logIndex }: { cohort: number; blockNumber: number; logIndex: number },
): Promise<number[]> {
  if (!(await nodes.wasCreditedIn(ctx.pool, cohort, blockNumber))) return []
  const credits = await ctx.history.creditsIn(cohort, blockNumber)
  return credits.flatMap((event) => (event.kind === 'credited' && event.logIndex < logIndex ? [event.round] : []))
}

/** Replaces what the ledger has of a node's transfers, withdrawals and expulsion by the node's own events, unless these are no more. */
async function completeNode(ctx: RepairContext, cursor: Cursor, nodeId: bigint): Promise<boolean> {
  const from = (await nodes.readMintBlockUpTo(ctx.pool, nodeId)) ?? ctx.rules.startBlock
  const events = await ctx.history.eventsOf(nodeId, from, cursor.number)
  const transfers = events.filter((event) => event.kind === 'transfer')
  const withdrawals = events.filter((event) => event.kind === 'withdrawn')
  const expulsions = events.filter((event) => event.kind === 'nodeExpelled')
  const left = expulsions.map(({ cohort }) => cohort)
  const cohorts = left.length > 0 ? await ctx.contract.cohorts(left, cursor.number) : []
  return inTransaction(ctx.pool, async (sql) => {
    if ((await readCursor(sql, { lock: true }))?.hash !== cursor.hash) return false
    const known = await nodes.countEvents(sql, nodeId)
    // All that there is, or more, is known: then it is not for want of events that the two differ.
    if (transfers.length < known.transfers || withdrawals.length < known.withdrawals) return false
    const isExpelledNow = expulsions.length > known.expulsions
    if (transfers.length + withdrawals.length === known.transfers + known.withdrawals && !isExpelledNow) return false
    if (isExpelledNow) {
      await nodes.insertExpulsions(sql, expulsions)
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

/** Alerts the operator, once for each new state of affairs. */
async function report(ctx: LedgerDb & Logging, drifts: Drift[]): Promise<void> {
  const changed = await writeState(ctx.pool, 'drift', drifts, 'pass')
  if (!changed || drifts.length === 0) return
  ctx.log.error({ drifts: drifts.slice(0, 20) }, 'the ledger differs from the contract')
  await writeAudit(ctx.pool, { actor: 'pass', action: 'drift', detail: { drifts: drifts.slice(0, 100) } })
}
