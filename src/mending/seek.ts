// Finds the blocks that explain a difference between the ledger and the contract, and compares each with what the ledger recorded of it (compare.ts).
// Providers only show where to look. It must never store anything itself: if a block differs, the ledger rewinds to before it and follows again.

import { type Cursor, oldestBlockNumber, readBlock } from '../db/blocks/blocks.ts'
import { readState, writeState } from '../db/core/state.ts'
import { readCreditBlocks } from '../db/nodes/cohorts.ts'
import * as nodes from '../db/nodes/nodes.ts'
import type { Drift } from '../domain/drift.ts'
import type {
  ChainRead,
  FactoryRead,
  FollowRules,
  LedgerDb,
  Logging,
  NodeHistoryRead,
  RuledBy,
} from '../ports/contexts.ts'
import type { LogPlace } from '../ports/contract.ts'
import { compareBlock, LeftOutFault } from './compare.ts'

/** What repairs need to read and write. */
export type RepairContext = LedgerDb & ChainRead & FactoryRead & NodeHistoryRead & RuledBy<FollowRules> & Logging

/** The most nodes that one run looks for. */
const SOUGHT_MAX = 100
/** After this many failed searches a run stops, because each of them may have cost many requests. */
const FAILURES_MAX = 3
/** The most blocks that one run compares. A provider may name any. */
const BLOCKS_MAX = 10
/** Fields of a node that differ if the ledger missed one of the node's events. */
const EXPLAINED_BY_EVENTS: readonly string[] = ['owner', 'withdrawnWei', 'cohort', 'ref']

/** The blocks with more or fewer events of a node or a cohort, according to a provider, than the ledger has. */
type Sought = readonly number[]

/**
 * Looks for the block whose events explain the differences. If it differs from what the ledger recorded, the ledger has rewound to before it, and must
 * follow again. Blocks whose headers the ledger has forgotten are not compared. @returns how many of the differing nodes and cohorts may be right then.
 */
export async function repair(
  ctx: RepairContext,
  cursor: Cursor,
  drifts: readonly Drift[],
  lastId: bigint,
): Promise<number> {
  const oldest = await oldestBlockNumber(ctx.pool)
  if (oldest === null) return 0
  const ofNodes = await seekEach(ctx, 'reconcile_nodes', await nodesOf(ctx, drifts, lastId), async (nodeId) => {
    // Ids are in mint order. So this node was not minted before the ledger's node with the next lower id.
    const from = Math.max(oldest, (await nodes.readMintBlockUpTo(ctx.pool, nodeId)) ?? 0)
    const places = await ctx.history.logsOfNode(nodeId, from, cursor.number)
    return differing(places, await nodes.readEventBlocks(ctx.pool, nodeId, from))
  })
  const cohorts = drifts.flatMap((drift) => (drift.kind === 'cohort' ? [BigInt(drift.cohort)] : []))
  const ofCohorts = await seekEach(ctx, 'reconcile_cohorts', [...new Set(cohorts)], async (cohort) => {
    const places = await ctx.history.logsOfCohort(Number(cohort), oldest, cursor.number)
    return differing(places, await readCreditBlocks(ctx.pool, Number(cohort), oldest))
  })
  return compareUntilRewound(ctx, cursor, [...ofNodes, ...ofCohorts, ...(await mintsOf(ctx, drifts))])
}

/** The blocks from which the ledger has nodes with another ref than the contract. It has as many events of such a node as the chain. */
async function mintsOf({ pool }: LedgerDb, drifts: readonly Drift[]): Promise<Sought[]> {
  const nodeIds = drifts.flatMap((drift) =>
    drift.kind === 'node' && drift.field === 'ref' ? [BigInt(drift.nodeId)] : [],
  )
  const blocks = await Promise.all(nodeIds.map((nodeId) => nodes.readMintBlockUpTo(pool, nodeId)))
  return blocks.flatMap((block) => (block === null ? [] : [[block]]))
}

/** The nodes that the ledger lacks, has in addition, or has with other values. */
async function nodesOf({ pool }: LedgerDb, drifts: readonly Drift[], lastId: bigint): Promise<bigint[]> {
  const lacksNodes = drifts.some(
    (drift) => drift.kind === 'notInLedger' || (drift.kind === 'counter' && drift.name === 'nodes'),
  )
  const missing = lacksNodes ? await nodes.missingNodeIds(pool, lastId, SOUGHT_MAX) : []
  const other = drifts.flatMap((drift) => {
    const isExplained = drift.kind === 'node' && EXPLAINED_BY_EVENTS.includes(drift.field)
    return drift.kind === 'notOnChain' || isExplained ? [BigInt(drift.nodeId)] : []
  })
  return [...new Set([...missing, ...other])].slice(0, SOUGHT_MAX)
}

/** The blocks that some provider does not have equally often. */
const differing = (byProvider: readonly (readonly LogPlace[])[], ours: readonly number[]): number[] => [
  ...new Set(byProvider.flatMap((places) => unlike(places, ours))),
]

function unlike(places: readonly LogPlace[], ours: readonly number[]): number[] {
  const counts = new Map<number, number>()
  for (const { blockNumber } of places) counts.set(blockNumber, (counts.get(blockNumber) ?? 0) + 1)
  for (const block of ours) counts.set(block, (counts.get(block) ?? 0) - 1)
  return [...counts].flatMap(([block, more]) => (more === 0 ? [] : [block]))
}

/**
 * Seeks one after the other. If a search fails, for example because a provider limits the blocks in a query, it continues with the next one. After a
 * few failures it leaves the others to the next run, which starts after the last failure.
 */
async function seekEach(
  ctx: LedgerDb & Logging,
  bookmark: 'reconcile_nodes' | 'reconcile_cohorts',
  ids: readonly bigint[],
  seek: (id: bigint) => Promise<number[]>,
): Promise<Sought[]> {
  const blockLists: Sought[] = []
  const after = BigInt(await readState(ctx.pool, bookmark))
  let failures = 0
  for (const id of [...ids.filter((one) => one > after), ...ids.filter((one) => one <= after)]) {
    try {
      blockLists.push(await seek(id))
    } catch (error) {
      ctx.log.warn(
        { id: id.toString(), err: error },
        'the events of a node or cohort were not found; a later run tries again',
      )
      await writeState(ctx.pool, bookmark, Number(id))
      if (++failures === FAILURES_MAX) break
    }
  }
  return blockLists
}

/** Compares the blocks, oldest first, until the ledger has rewound. @returns how many of those sought have events from there on; 0 if it has not. */
async function compareUntilRewound(ctx: RepairContext, cursor: Cursor, sought: readonly Sought[]): Promise<number> {
  const blocks = [...new Set(sought.flat())].sort((a, b) => a - b)
  for (const number of blocks.slice(0, BLOCKS_MAX)) {
    const own = await readBlock(ctx.pool, number)
    if (!own) continue
    try {
      await compareBlock(ctx, cursor, own)
    } catch (error) {
      if (!(error instanceof LeftOutFault)) throw error
      return sought.filter((blocks) => blocks.some((block) => block >= number)).length
    }
  }
  return 0
}
