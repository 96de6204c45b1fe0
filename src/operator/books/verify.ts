// Compares the ledger with the contract at the ledger's block: counters, every node or some, every cohort, and whether the contract covers its debt.
// Also compares the tiers' stored totals with their turns. Neither side changes during the comparison, unless the chain reorganises that block, so
// any difference is drift. Changes nothing.
import { randomInt } from 'node:crypto'
import type { ContractReader } from '../../chain/port.ts'
import { type Cursor, readCursor } from '../../db/blocks/blocks.ts'
import { inSnapshot } from '../../db/core/snapshot.ts'
import type { Sql } from '../../db/core/sql.ts'
import { readCohorts } from '../../db/nodes/cohorts.ts'
import { readLedgerCounters, readNodes } from '../../db/nodes/nodes.ts'
import { coverOf } from '../../domain/cover.ts'
import { compareCohort, compareCounters, compareNodes, type Drift, inOrder } from '../../domain/drift.ts'
import { wei } from '../../domain/units.ts'
import type { ChainRead, FactoryRead } from '../../passes/context.ts'
import { type OperatorRefusal, type ReplicaDb, refuseAct } from '../act.ts'

/** How many nodes one step compares: four calls to the contract, in flight at once. */
const WINDOW = 2_000
/** Reports progress once per this many windows. */
const TOLD_EVERY = 25

export interface VerifyResult {
  blockNumber: number
  blockHash: string
  /** How many nodes were compared, and how many there are. */
  nodes: number
  nodesInAll: number
  cohorts: number
  cover: { contractBalanceWei: bigint; outstandingWei: bigint; isSolvent: boolean; coverBps: number | null }
  drifts: Drift[]
}

/** The nodes to compare: all, unless the caller gives a range or the number to draw at random. */
export interface Share {
  fromNode?: number
  toNode?: number
  /** Windows of nodes are drawn at random until they have this many nodes. */
  sample?: number
}

/**
 * Compares everything, or a share of the nodes. `signal` ends the comparison early; `say` gets the progress. Refused as `notYet` if the chain has a
 * different block there by then. Throws a ChainFault if we cannot reach the chain.
 */
export function verifyLedger(
  { readPool, chain, contract }: ReplicaDb & ChainRead & FactoryRead,
  { signal, say, ...share }: Share & { signal?: AbortSignal; say?: (progress: string) => void } = {},
): Promise<VerifyResult | OperatorRefusal> {
  return inSnapshot(readPool, async (sql) => {
    const cursor = await readCursor(sql)
    if (!cursor)
      return refuseAct('unavailable', 'The ledger has not followed a block yet: run the payments pass first.')
    const isTakenBack = async () => (await chain.block(cursor.number))?.hash !== cursor.hash
    if (await isTakenBack()) return takenBack
    const drifts: VerifyResult['drifts'] = []
    const { lastNodeId, round, outstandingWei, isSolvent, ...counters } = await contract.counters(cursor.number)
    const balance = await chain.balanceAt(contract.factory, cursor)
    const contractBalanceWei = balance ? wei(balance.wei) : counters.contractBalanceWei
    drifts.push(...compareCounters(await readLedgerCounters(sql), { nodes: lastNodeId, round, outstandingWei }))
    const sides = { sql, contract, cursor, drifts }
    const nodesInAll = await countNodes(sql, lastNodeId)
    const nodes = await compareSome(sides, lastNodeId, windowsOf(nodesInAll, share), { signal, say })
    const cohorts = await compareCohorts(sides)
    // Checked again, because we read the counters by block number.
    if (await isTakenBack()) return takenBack
    const cover = { contractBalanceWei, outstandingWei, isSolvent, ...coverOf(contractBalanceWei, outstandingWei) }
    return {
      blockNumber: cursor.number,
      blockHash: cursor.hash,
      nodes,
      nodesInAll,
      cohorts,
      cover,
      drifts: inOrder(drifts),
    }
  })
}

const takenBack = refuseAct(
  'notYet',
  'The chain is being reorganised, or the provider lags: the next pass handles that. Try again.',
)

/** Ledger and contract at one block, and the differences found so far. */
interface Sides {
  sql: Sql
  contract: ContractReader
  cursor: Cursor
  drifts: Drift[]
}

/** The highest node number on either side. */
async function countNodes(sql: Sql, last: bigint): Promise<number> {
  const [row] = await sql<{ last: number }[]>`SELECT coalesce(max(node_id), 0) AS last FROM nodes`
  return Math.max(row?.last ?? 0, Number(last))
}

/** Windows in order: the number of their first node, and how many nodes they have. */
function windowsOf(nodes: number, { fromNode = 1, toNode = nodes, sample }: Share): [first: number, count: number][] {
  const windows: [number, number][] = []
  const upTo = Math.min(toNode, nodes)
  for (let first = fromNode; first <= upTo; first += WINDOW) windows.push([first, Math.min(WINDOW, upTo - first + 1)])
  if (sample === undefined) return windows
  const kept = Math.ceil(sample / WINDOW)
  while (windows.length > kept) windows.splice(randomInt(windows.length), 1)
  return windows
}

async function compareSome(
  { sql, contract, cursor, drifts }: Sides,
  last: bigint,
  windows: readonly [first: number, count: number][],
  { signal, say }: { signal: AbortSignal | undefined; say: ((progress: string) => void) | undefined },
): Promise<number> {
  let compared = 0
  for (const [index, [first, count]] of windows.entries()) {
    signal?.throwIfAborted()
    const onChain = first <= Number(last) ? await contract.nodes(BigInt(first), count, cursor) : []
    const ours = (await readNodes(sql, first, count)).map((node) => ({ ...node, nodeId: BigInt(node.nodeId) }))
    drifts.push(...compareNodes(ours, onChain))
    compared += Math.max(onChain.length, ours.length)
    if (index > 0 && index % TOLD_EVERY === 0) say?.(`${compared} nodes compared, ${index} of ${windows.length} parts`)
  }
  return compared
}

async function compareCohorts({ sql, contract, cursor, drifts }: Sides): Promise<number> {
  const ours = await readCohorts(sql)
  const theirs = await contract.cohorts(
    ours.map(({ cohort }) => cohort),
    cursor,
  )
  for (const [index, cohort] of ours.entries()) {
    const other = theirs[index]
    if (other) drifts.push(...compareCohort(cohort, other))
  }
  return ours.length
}
