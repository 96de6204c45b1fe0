// Compares the ledger with the contract at the ledger's block: counters, every node, every cohort of the ledger, and whether the contract covers its
// debt. Neither side changes during the comparison, unless the chain reorganises that block, so any difference is drift. Changes nothing.

import { type Cursor, readCursor } from '../../../db/blocks/blocks.ts'
import { inSnapshot } from '../../../db/core/snapshot.ts'
import type { Sql } from '../../../db/core/sql.ts'
import { readCohorts } from '../../../db/nodes/cohorts.ts'
import { readLedgerCounters, readNodes } from '../../../db/nodes/nodes.ts'
import { coverOf } from '../../../domain/cover.ts'
import { compareCohort, compareCounters, compareNodes, type Drift, inOrder } from '../../../domain/drift.ts'
import { wei } from '../../../domain/units.ts'
import type { ChainRead, FactoryRead } from '../../../ports/contexts.ts'
import type { ContractReader } from '../../../ports/contract.ts'
import { type OperatorRefusal, type ReplicaDb, refuseAct } from '../../act.ts'

/** How many nodes one step compares: four calls to the contract, in flight at a time. */
const WINDOW = 2_000
/** Reports progress once per this many windows. */
const TOLD_EVERY = 25

export interface VerifyResult {
  blockNumber: number
  blockHash: string
  nodes: number
  cohorts: number
  cover: { contractBalanceWei: bigint; outstandingWei: bigint; isSolvent: boolean; coverBps: number | null }
  drifts: Drift[]
}

/**
 * Compares everything. `signal` ends the comparison early; `say` gets the progress. Refused as `notYet` if the chain has a
 * different block there by then. Throws a ChainFault if we cannot reach the chain.
 */
export function verifyLedger(
  { readPool, chain, contract }: ReplicaDb & ChainRead & FactoryRead,
  { signal, say }: { signal?: AbortSignal; say?: (progress: string) => void } = {},
): Promise<VerifyResult | OperatorRefusal> {
  return inSnapshot(readPool, async (sql) => {
    const cursor = await readCursor(sql)
    if (!cursor)
      return refuseAct('unavailable', 'The ledger has not followed a block yet: run the payments pass first.')
    const isReorganised = async () => (await chain.block(cursor.number))?.hash !== cursor.hash
    if (await isReorganised()) return reorganised
    const drifts: VerifyResult['drifts'] = []
    const { lastNodeId, round, outstandingWei, isSolvent, ...counters } = await contract.counters(cursor.number)
    const balance = await chain.balanceAt(contract.factory, cursor)
    const contractBalanceWei = balance ? wei(balance.wei) : counters.contractBalanceWei
    drifts.push(...compareCounters(await readLedgerCounters(sql), { nodes: lastNodeId, round, outstandingWei }))
    const sides = { sql, contract, cursor, drifts }
    const nodes = await compareAll(sides, lastNodeId, { signal, say })
    const cohorts = await compareCohorts(sides)
    // Checked again, because we read the counters by block number.
    if (await isReorganised()) return reorganised
    const cover = { contractBalanceWei, outstandingWei, isSolvent, ...coverOf(contractBalanceWei, outstandingWei) }
    return {
      blockNumber: cursor.number,
      blockHash: cursor.hash,
      nodes,
      cohorts,
      cover,
      drifts: inOrder(drifts),
    }
  })
}

const reorganised = refuseAct(
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

/** The highest node id on either side. */
async function highestNodeId(sql: Sql, last: bigint): Promise<number> {
  const [row] = await sql<{ last: number }[]>`SELECT coalesce(max(node_id), 0) AS last FROM nodes`
  return Math.max(row?.last ?? 0, Number(last))
}

/** Compares every node. @returns how many were compared. */
async function compareAll(
  { sql, contract, cursor, drifts }: Sides,
  last: bigint,
  { signal, say }: { signal: AbortSignal | undefined; say: ((progress: string) => void) | undefined },
): Promise<number> {
  const nodes = await highestNodeId(sql, last)
  let comparedCount = 0
  for (let first = 1; first <= nodes; first += WINDOW) {
    signal?.throwIfAborted()
    const count = Math.min(WINDOW, nodes - first + 1)
    const onChain = first <= Number(last) ? await contract.nodes(BigInt(first), count, cursor) : []
    const ours = (await readNodes(sql, first, count)).map((node) => ({ ...node, nodeId: BigInt(node.nodeId) }))
    drifts.push(...compareNodes(ours, onChain))
    comparedCount += Math.max(onChain.length, ours.length)
    if (first > 1 && (first - 1) % (WINDOW * TOLD_EVERY) === 0) say?.(`${comparedCount} of ${nodes} nodes compared`)
  }
  return comparedCount
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
