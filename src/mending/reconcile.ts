// Compares the ledger with the contract at the followed block: the counters and the cohorts every time, the nodes in a rolling window, and all nodes
// with a recorded difference. It reports each difference, keeps it on record until the two agree, and looks for blocks that explain it (seek.ts).
import { isDeepStrictEqual } from 'node:util'
import { textDigest } from '../chain/digest.ts'
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { passFinished, passStarted, secondsSincePass } from '../db/core/passes.ts'
import { inTransaction } from '../db/core/sql.ts'
import { readState, writeAudit, writeDrift, writeState } from '../db/core/state.ts'
import { readCohorts } from '../db/nodes/cohorts.ts'
import * as nodes from '../db/nodes/nodes.ts'
import { forgetSeedBlocks } from '../db/nodes/seed-blocks.ts'
import { readAcceptedPayments } from '../db/payments/queues.ts'
import {
  type Counters,
  compareCohort,
  compareCounters,
  compareNodes,
  type Drift,
  inOrder,
  windowOf,
} from '../domain/drift.ts'
import type { CohortState } from '../domain/schedule.ts'
import { noteFinalized } from '../follower/halt.ts'
import { messageOf } from '../lib/errors.ts'
import { toJson } from '../lib/json.ts'
import type { FactoryRead, LedgerDb, Logging, RuledBy, UpkeepRules } from '../ports/contexts.ts'
import { type RepairContext, repair } from './seek.ts'

/** Nodes compared in one step, with both sides read at the same block: four concurrent calls to the contract. */
const STEP = 2_000
/** After this long a run compares no more nodes. So a slow provider delays the comparison and not the buyers. */
const COMPARING_MS = 5_000
/** After this many differences a run compares no more nodes: a person must read the record, and the number of repairs is limited too. */
const DRIFTS_MAX = 500
/** The most nodes with recorded differences that one run compares again. */
const NAMED_MAX = 100
/** The most cohorts that one run compares, in ten requests. That is all of them, unless tiers and intervals have changed often. */
const COHORTS_MAX = 1_000
/** The most payments without a node that one run asks the contract about, each in one request. */
const REFS_MAX = 20
const DAY_SEC = 86_400

export interface ReconcileResult {
  inserted: number
  /** The differences; empty if the run repaired anything, because then the next run compares again. */
  drifts: Drift[]
}

/** Reconciles if it is due, and records up to which block the chain is final. @returns how many entries were repaired. */
export async function reconcileWhenDue(ctx: RepairContext & RuledBy<UpkeepRules>, cursor: Cursor): Promise<number> {
  if ((await secondsSincePass(ctx.pool, 'reconcile')) < ctx.rules.reconcileEverySec) return 0
  await passStarted(ctx.pool, 'reconcile')
  try {
    await noteFinalized(ctx, cursor)
    await forgetSeedBlocks(ctx.pool)
    const first = await readState(ctx.pool, 'reconcile_next')
    const { result, next } = await reconcileWindow(ctx, cursor, first)
    await writeState(ctx.pool, 'reconcile_next', next)
    await passFinished(ctx.pool, 'reconcile', { outcome: result })
    return result.inserted
  } catch (error) {
    // A failed comparison must never stop payments from being judged. A later pass compares again.
    ctx.log.warn({ err: error }, 'the ledger could not be compared with the contract')
    await passFinished(ctx.pool, 'reconcile', { error: messageOf(error) })
    return 0
  }
}

/** Compares the counters and one window of node ids with the contract, and repairs what differs. `next` is the first id of the next window. */
export async function reconcileWindow(
  ctx: RepairContext,
  cursor: Cursor,
  first: number,
): Promise<{ result: ReconcileResult; next: number }> {
  const counters = await ctx.contract.counters(cursor.number)
  const chainCounters = { nodes: counters.lastNodeId, round: counters.round, outstandingWei: counters.outstandingWei }
  const [ledgerCounters, ofRecord, ofCohorts, ofRefs] = await Promise.all([
    nodes.readLedgerCounters(ctx.pool),
    compareNamed(ctx, cursor),
    compareCohorts(ctx, cursor, chainCounters),
    compareRefs(ctx, cursor),
  ])
  // Another run has moved the cursor, so the two sides were not read at one block, and a difference would prove nothing.
  if (!(await standsAt(ctx, cursor))) return { result: { inserted: 0, drifts: [] }, next: first }
  const { drifts: ofWindow, next } = await compareWindow(ctx, cursor, first, windowOf(Number(counters.lastNodeId)))
  const ofCounters = compareCounters(ledgerCounters, chainCounters)
  const drifts = inOrder(onceEach([...ofCounters, ...ofWindow, ...ofRecord, ...ofCohorts, ...ofRefs]))
  // We read the counters by block number. If the chain has replaced that block since, the differences mean nothing.
  if (drifts.length > 0 && (await ctx.chain.block(cursor.number))?.hash !== cursor.hash)
    return { result: { inserted: 0, drifts: [] }, next: first }
  // Report first, because a repair may fail or never end.
  await report(ctx, drifts)
  const repairCount = await repair(ctx, cursor, drifts, counters.lastNodeId)
  // The next run compares the repaired entries again; until then they stay on record.
  return { result: { inserted: repairCount, drifts: repairCount > 0 ? [] : drifts }, next }
}

const standsAt = async ({ pool }: LedgerDb, { hash }: Cursor) => (await readCursor(pool))?.hash === hash

/** Removes duplicates: a node in the window that also has a recorded difference is compared twice. */
const onceEach = (drifts: readonly Drift[]) => [
  ...new Map(drifts.map((drift) => [JSON.stringify(drift), drift])).values(),
]

/**
 * Compares a window of ids step by step. If it ends early, the next run continues from there. If the cursor moved during a step, that step proves
 * nothing; the steps before it remain valid.
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
    const { drifts: stepDrifts, onChain } = await compareFrom(ctx, cursor, next, step)
    if (!(await standsAt(ctx, cursor))) break
    drifts.push(...stepDrifts)
    if (onChain < step) return { drifts, next: 1 }
    next += step
  }
  return { drifts, next }
}

/** Compares a range of node ids. `onChain` is how many of them the contract has. */
async function compareFrom(
  ctx: LedgerDb & FactoryRead,
  cursor: Cursor,
  first: number,
  length: number,
): Promise<{ drifts: Drift[]; onChain: number }> {
  const [theirs, ours] = await Promise.all([
    ctx.contract.nodes(BigInt(first), length, cursor),
    nodes.readNodes(ctx.pool, first, length),
  ])
  const ledgerNodes = ours.map((node) => ({ ...node, nodeId: BigInt(node.nodeId) }))
  return { drifts: compareNodes(ledgerNodes, theirs), onChain: theirs.length }
}

/** Compares the nodes with a recorded difference again, whether or not they are in the window. The operator's own comparison covers all nodes. */
async function compareNamed(ctx: LedgerDb & FactoryRead, cursor: Cursor): Promise<Drift[]> {
  const priorDrifts = (await readState(ctx.pool, 'drift')) ?? []
  const ids = priorDrifts.flatMap((drift) => ('nodeId' in drift ? [Number(drift.nodeId)] : []))
  const some = [...new Set(ids)].slice(0, NAMED_MAX)
  const ofNodes = await Promise.all(some.map((id) => compareFrom(ctx, cursor, id, 1)))
  return ofNodes.flatMap(({ drifts }) => drifts)
}

/** Asks whether the contract has a node for a payment that waits for its mint. The contract would skip each further mint of it. */
async function compareRefs(ctx: LedgerDb & FactoryRead, cursor: Cursor): Promise<Drift[]> {
  const waiting = await readAcceptedPayments(ctx.pool, { upToBlock: cursor.number, limit: REFS_MAX })
  const drifts = await Promise.all(
    waiting.map(async ({ ref }): Promise<Drift[]> => {
      const nodeId = await ctx.contract.nodeOfRef(ref, cursor.number)
      const ledger = nodeId === null ? null : await nodes.readRef(ctx.pool, nodeId)
      // The counters show a node that the ledger lacks.
      if (ledger === null || ledger === ref) return []
      return [{ kind: 'node', nodeId: String(nodeId), field: 'ref', ledger, chain: ref }]
    }),
  )
  return drifts.flat()
}

/**
 * Compares as many cohorts as one run may. Cohorts with the earliest turns come first, because the next rounds are planned from them. If neither the
 * contract's storage nor the ledger's cohorts have changed since the two last agreed, we do not read the cohorts again on that day, because each
 * takes a call. The counters are still compared, because the storage root is only one provider's word.
 */
async function compareCohorts(ctx: LedgerDb & FactoryRead, cursor: Cursor, counters: Counters): Promise<Drift[]> {
  const byTurn = (a: CohortState, b: CohortState) => Number(b.size > 0) - Number(a.size > 0) || a.nextDue - b.nextDue
  const ours = (await readCohorts(ctx.pool)).sort(byTurn).slice(0, COHORTS_MAX)
  if (ours.length === 0) return []
  const root = await ctx.contract.storageRoot(cursor.hash)
  const day = Math.floor(cursor.time / DAY_SEC)
  const sides = { root, cohorts: textDigest(toJson(ours)), counters: textDigest(toJson(counters)), day }
  if (root !== null && isDeepStrictEqual(await readState(ctx.pool, 'cohorts_agreed'), sides)) return []
  const theirs = await ctx.contract.cohorts(
    ours.map(({ cohort }) => cohort),
    cursor,
  )
  const drifts = ours.flatMap((cohort, i) => {
    const other = theirs[i]
    return other ? compareCohort(cohort, other) : []
  })
  if (root !== null && drifts.length === 0) await writeState(ctx.pool, 'cohorts_agreed', sides)
  return drifts
}

/** Alerts the operator if the differences are not the ones already on record. */
async function report(ctx: LedgerDb & Logging, drifts: Drift[]): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    const isNew = await writeDrift(sql, drifts, 'pass')
    if (!isNew || drifts.length === 0) return
    ctx.log.error({ drifts: drifts.slice(0, 20) }, 'the ledger differs from the contract')
    const detail = { count: drifts.length, drifts: drifts.slice(0, 100) }
    await writeAudit(sql, { actor: 'pass', action: 'drift', detail })
  })
}
