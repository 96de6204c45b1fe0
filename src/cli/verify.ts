// The command `node-ledger verify`: holds the whole ledger against the contract at the one block that the ledger stands at: counters,
// every node, every cohort, and whether the contract covers what it owes. Reads both sides, changes nothing.
import type { ChainCohort, ContractReader } from '../chain/port.ts'
import { type Cursor, readCursor } from '../db/blocks.ts'
import { readCohorts } from '../db/cohorts.ts'
import { readLedgerCounters, readNodes } from '../db/nodes.ts'
import { inSnapshot } from '../db/snapshot.ts'
import type { Sql } from '../db/sql.ts'
import { coverOf } from '../domain/cover.ts'
import { compareCounters, compareNodes, type Drift } from '../domain/drift.ts'
import type { LedgerCohort } from '../domain/replay.ts'
import { type Call, EXIT, type ExitCode } from './command.ts'
import { UnavailableError } from './errors.ts'
import { inEther } from './ether.ts'
import { withOperator } from './ledger.ts'
import { fields } from './output.ts'

/** Nodes of one call to the contract. */
const WINDOW = 500
/** Told by name; all are counted. */
const SHOWN_MAX = 50

/** A cohort on which the two differ. */
interface CohortDrift {
  kind: 'cohort'
  cohort: number
  field: 'perNodeWei' | 'size' | 'nextDue' | 'intervalSec' | 'tierNo'
  ledger: string
  chain: string
}

/** Runs the command: 0 equal and covered, 1 drift or too little cover, 3 could not compare. */
export async function verify({ io, out, signal }: Call): Promise<ExitCode> {
  return await withOperator(io, async ({ pool, contract }) => {
    const result = await inSnapshot(pool, (sql) => compare(sql, contract, signal, (text) => out.say(text)))
    const { drifts, cover, blockNumber, nodes, cohorts } = result
    await out.result({ ...result, equal: drifts.length === 0 }, () =>
      [
        fields([
          ['block', blockNumber],
          ['nodes compared', nodes],
          ['cohorts compared', cohorts],
          ['owed to owners', `${inEther(cover.outstandingWei)} ether`],
          [
            'the contract has',
            `${inEther(cover.contractBalanceWei)} ether${cover.coverBps === null ? '' : `, ${cover.coverBps / 100} %`}`,
          ],
        ]),
        ...drifts.slice(0, SHOWN_MAX).map(describe),
        ...(drifts.length > SHOWN_MAX ? [`… and ${drifts.length - SHOWN_MAX} more`] : []),
        drifts.length === 0
          ? 'Ledger and contract are equal.'
          : `Ledger and contract differ in ${drifts.length} places.`,
        ...(cover.isSolvent ? [] : ['The contract holds less than it owes.']),
      ].join('\n'),
    )
    return drifts.length === 0 && cover.isSolvent ? EXIT.done : EXIT.not
  })
}

async function compare(sql: Sql, contract: ContractReader, signal: AbortSignal, say: (text: string) => void) {
  const cursor = await readCursor(sql)
  if (!cursor)
    throw new UnavailableError('The ledger has followed no block yet: run "node-ledger pass payments", then verify.')
  const drifts: (Drift | CohortDrift)[] = []
  const counters = await contract.counters(cursor.number)
  const ledger = await readLedgerCounters(sql)
  const { outstandingWei, contractBalanceWei, isSolvent } = counters
  drifts.push(...compareCounters(ledger, { nodes: counters.lastNodeId, round: counters.round, outstandingWei }))
  const nodes = await compareAllNodes(sql, contract, cursor, counters.lastNodeId, drifts, signal, say)
  const cohorts = await compareCohorts(sql, contract, cursor, drifts)
  const cover = { contractBalanceWei, outstandingWei, isSolvent, ...coverOf(contractBalanceWei, outstandingWei) }
  return { blockNumber: cursor.number, blockHash: cursor.hash, nodes, cohorts, cover, drifts }
}

async function compareAllNodes(
  sql: Sql,
  contract: ContractReader,
  cursor: Cursor,
  last: bigint,
  drifts: (Drift | CohortDrift)[],
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<number> {
  const [row] = await sql<{ last: number }[]>`SELECT coalesce(max(node_id), 0) AS last FROM nodes`
  const upTo = Math.max(row?.last ?? 0, Number(last))
  let compared = 0
  for (let first = 1; first <= upTo; first += WINDOW) {
    signal.throwIfAborted()
    const onChain = first <= Number(last) ? await contract.nodes(BigInt(first), WINDOW, cursor.number) : []
    const ours = await readNodes(sql, first, WINDOW)
    drifts.push(
      ...compareNodes(
        ours.map((node) => ({ ...node, nodeId: BigInt(node.nodeId) })),
        onChain,
      ),
    )
    compared += Math.max(onChain.length, ours.length)
    if (first > 1 && (first - 1) % (WINDOW * 100) === 0) say(`  ${compared} of ${upTo} nodes compared`)
  }
  return compared
}

async function compareCohorts(
  sql: Sql,
  contract: ContractReader,
  cursor: Cursor,
  drifts: (Drift | CohortDrift)[],
): Promise<number> {
  const ours = await readCohorts(sql)
  const theirs = await contract.cohorts(
    ours.map(({ cohort }) => cohort),
    cursor.number,
  )
  for (const [index, cohort] of ours.entries()) {
    const other = theirs[index]
    if (other) drifts.push(...differences(cohort, other))
  }
  return ours.length
}

function differences(ours: LedgerCohort, theirs: ChainCohort): CohortDrift[] {
  return (['perNodeWei', 'size', 'nextDue', 'intervalSec', 'tierNo'] as const)
    .filter((field) => ours[field] !== theirs[field])
    .map((field) => ({
      kind: 'cohort',
      cohort: ours.cohort,
      field,
      ledger: String(ours[field]),
      chain: String(theirs[field]),
    }))
}

function describe(drift: Drift | CohortDrift): string {
  switch (drift.kind) {
    case 'counter':
      return `  ${drift.name}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'node':
      return `  node ${drift.nodeId}, ${drift.field}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'cohort':
      return `  cohort ${drift.cohort}, ${drift.field}: ${drift.ledger} in the ledger, ${drift.chain} on chain`
    case 'notInLedger':
      return `  node ${drift.nodeId} is on chain only`
    case 'notOnChain':
      return `  node ${drift.nodeId} is in the ledger only`
  }
}
