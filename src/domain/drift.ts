// Compares ledger and contract. Both are read at the same block, so a difference is drift and not lag. Pure. Findings come in one fixed order, so
// equal findings make equal records.
import type { CohortState } from './schedule.ts'
import type { Address } from './units.ts'

/** Both sides' view of one node. */
export interface NodeFacts {
  nodeId: bigint
  owner: Address
  creditedWei: bigint
  withdrawnWei: bigint
  cohort: number
}

export interface Counters {
  nodes: bigint
  round: number
  outstandingWei: bigint
}

/** Both sides' view of one cohort. */
export interface CohortFacts extends CohortState {
  perNodeWei: bigint
}

const COHORT_FIELDS = ['perNodeWei', 'size', 'nextDue', 'intervalSec', 'tierNo'] as const

export type Drift =
  | { kind: 'counter'; name: keyof Counters; ledger: string; chain: string }
  | {
      kind: 'node'
      nodeId: string
      field: 'owner' | 'creditedWei' | 'withdrawnWei' | 'cohort' | 'ref'
      ledger: string
      chain: string
    }
  | { kind: 'notInLedger'; nodeId: string }
  | { kind: 'notOnChain'; nodeId: string }
  | { kind: 'cohort'; cohort: number; field: (typeof COHORT_FIELDS)[number]; ledger: string; chain: string }

/** Compares counters. */
export function compareCounters(ledger: Counters, chain: Counters): Drift[] {
  const names = ['nodes', 'round', 'outstandingWei'] as const
  return names
    .filter((name) => ledger[name] !== chain[name])
    .map((name) => ({ kind: 'counter', name, ledger: String(ledger[name]), chain: String(chain[name]) }))
}

/** Compares nodes in one window of ids. Each side gives all nodes of the window that it knows. */
export function compareNodes(ledger: readonly NodeFacts[], chain: readonly NodeFacts[]): Drift[] {
  const drifts: Drift[] = []
  const oursById = new Map(ledger.map((node) => [node.nodeId, node]))
  for (const theirs of chain) {
    const ours = oursById.get(theirs.nodeId)
    oursById.delete(theirs.nodeId)
    const nodeId = theirs.nodeId.toString()
    if (!ours) {
      drifts.push({ kind: 'notInLedger', nodeId })
      continue
    }
    for (const field of ['owner', 'creditedWei', 'withdrawnWei', 'cohort'] as const) {
      if (ours[field] === theirs[field]) continue
      drifts.push({ kind: 'node', nodeId, field, ledger: String(ours[field]), chain: String(theirs[field]) })
    }
  }
  for (const nodeId of oursById.keys()) drifts.push({ kind: 'notOnChain', nodeId: nodeId.toString() })
  return drifts
}

export function compareCohort(ledger: CohortFacts, chain: CohortFacts): Drift[] {
  return COHORT_FIELDS.filter((field) => ledger[field] !== chain[field]).map((field) => ({
    kind: 'cohort',
    cohort: ledger.cohort,
    field,
    ledger: String(ledger[field]),
    chain: String(chain[field]),
  }))
}

/** A finding in words for people: the row, and what each side has. */
export function driftInWords(drift: Drift): string {
  if (drift.kind === 'notInLedger') return `the ledger lacks node ${drift.nodeId}`
  if (drift.kind === 'notOnChain') return `only the ledger has node ${drift.nodeId}`
  const row =
    drift.kind === 'counter'
      ? 'all together'
      : drift.kind === 'node'
        ? `node ${drift.nodeId}`
        : `cohort ${drift.cohort}`
  const what = drift.kind === 'counter' ? drift.name : drift.field
  return `${row}: ${what} is ${drift.ledger} in the ledger, ${drift.chain} on the contract`
}

/** Sorts findings: counters, then nodes by number, then cohorts. So a comparison in parts gives the same record as a comparison in a single run. */
export function inOrder(drifts: readonly Drift[]): Drift[] {
  const place = (drift: Drift): [number, number] => {
    if (drift.kind === 'counter') return [0, 0]
    return drift.kind === 'cohort' ? [2, drift.cohort] : [1, Number(drift.nodeId)]
  }
  return [...drifts].sort((a, b) => {
    const [[kindA, numberA], [kindB, numberB]] = [place(a), place(b)]
    return kindA - kindB || numberA - numberB
  })
}

/**
 * How many runs of the reconciler share a sweep of all nodes: about the number of runs in a day. The runs are 300 seconds apart, plus the wait for a
 * pass.
 */
const SWEEP_RUNS = 250
/** The smallest window: the nodes that one call to the contract reads. */
const WINDOW_MIN = 500
/**
 * The largest window. For ten million nodes, a run's window takes 80 calls, four in flight at a time. At 100 ms each that is two seconds in five
 * minutes, and about 13 MB. A larger ledger takes more than a day, at the same cost per run.
 */
const WINDOW_MAX = 40_000

/** How many nodes one run compares, so that a day's runs compare all nodes. The cost per run is limited for any ledger. */
export function windowOf(nodes: number): number {
  return Math.min(Math.max(Math.ceil(nodes / SWEEP_RUNS), WINDOW_MIN), WINDOW_MAX)
}
