// Holds the whole ledger against the contract at the one block that the ledger stands at: counters, every node, every cohort, and
// whether the contract covers what it owes. Both sides stand still meanwhile, unless the chain takes that block back, so what differs is
// drift. Changes nothing.
import type { ContractReader } from '../chain/port.ts'
import { type Cursor, readCursor } from '../db/blocks/blocks.ts'
import { inSnapshot } from '../db/core/snapshot.ts'
import type { Sql } from '../db/core/sql.ts'
import { readCohorts } from '../db/nodes/cohorts.ts'
import { readLedgerCounters, readNodes } from '../db/nodes/nodes.ts'
import { coverOf } from '../domain/cover.ts'
import { compareCohort, compareCounters, compareNodes, type Drift, inOrder } from '../domain/drift.ts'
import type { ChainRead, FactoryRead } from '../passes/context.ts'
import { type OperatorRefusal, type ReplicaDb, refuseAct } from './act.ts'

/** Nodes of one call to the contract. */
const WINDOW = 500
/** Progress is reported every so many nodes. */
const TOLD_EVERY = WINDOW * 100

export interface VerifyResult {
  blockNumber: number
  blockHash: string
  /** Number of nodes compared. */
  nodes: number
  cohorts: number
  cover: { contractBalanceWei: bigint; outstandingWei: bigint; isSolvent: boolean; coverBps: number | null }
  drifts: Drift[]
}

/**
 * Compares everything; `signal` ends it early, `say` receives the progress. Refused `notYet` where the chain has another block there by then.
 * Throws a ChainFault when the chain cannot be asked.
 */
export function verifyLedger(
  { readPool, chain, contract }: ReplicaDb & ChainRead & FactoryRead,
  { signal, say }: { signal?: AbortSignal; say?: (progress: string) => void } = {},
): Promise<VerifyResult | OperatorRefusal> {
  return inSnapshot(readPool, async (sql) => {
    const cursor = await readCursor(sql)
    if (!cursor)
      return refuseAct('unavailable', 'The ledger has not followed a block yet: run the payments pass first.')
    const drifts: VerifyResult['drifts'] = []
    const { lastNodeId, round, outstandingWei, contractBalanceWei, isSolvent } = await contract.counters(cursor.number)
    drifts.push(...compareCounters(await readLedgerCounters(sql), { nodes: lastNodeId, round, outstandingWei }))
    const sides = { sql, contract, cursor, drifts }
    const nodes = await compareAllNodes(sides, lastNodeId, { signal, say })
    const cohorts = await compareCohorts(sides)
    // The contract is asked by the block's number.
    if ((await chain.block(cursor.number))?.hash !== cursor.hash)
      return refuseAct(
        'notYet',
        'The chain is being reorganised, or the provider lags: the next pass sees to it. Ask again.',
      )
    const cover = { contractBalanceWei, outstandingWei, isSolvent, ...coverOf(contractBalanceWei, outstandingWei) }
    return { blockNumber: cursor.number, blockHash: cursor.hash, nodes, cohorts, cover, drifts: inOrder(drifts) }
  })
}

/** Ledger and contract at one block, and what was found to differ so far. */
interface Sides {
  sql: Sql
  contract: ContractReader
  cursor: Cursor
  drifts: Drift[]
}

async function compareAllNodes(
  { sql, contract, cursor, drifts }: Sides,
  last: bigint,
  { signal, say }: { signal: AbortSignal | undefined; say: ((progress: string) => void) | undefined },
): Promise<number> {
  const [row] = await sql<{ last: number }[]>`SELECT coalesce(max(node_id), 0) AS last FROM nodes`
  const upTo = Math.max(row?.last ?? 0, Number(last))
  let compared = 0
  for (let first = 1; first <= upTo; first += WINDOW) {
    signal?.throwIfAborted()
    const onChain = first <= Number(last) ? await contract.nodes(BigInt(first), WINDOW, cursor.number) : []
    const ours = (await readNodes(sql, first, WINDOW)).map((node) => ({ ...node, nodeId: BigInt(node.nodeId) }))
    drifts.push(...compareNodes(ours, onChain))
    compared += Math.max(onChain.length, ours.length)
    if (first > 1 && (first - 1) % TOLD_EVERY === 0) say?.(`${compared} of ${upTo} nodes compared`)
  }
  return compared
}

async function compareCohorts({ sql, contract, cursor, drifts }: Sides): Promise<number> {
  const ours = await readCohorts(sql)
  const theirs = await contract.cohorts(
    ours.map(({ cohort }) => cohort),
    cursor.number,
  )
  for (const [index, cohort] of ours.entries()) {
    const other = theirs[index]
    if (other) drifts.push(...compareCohort(cohort, other))
  }
  return ours.length
}
