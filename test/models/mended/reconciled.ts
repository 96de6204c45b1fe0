// What a run finds when it compares the ledger with the contract, as a second reading of docs/ARCHITECTURE.md (reconciling) and docs/LIMITS.md: the counters,
// the cohorts, the nodes on record and some payments without a node every time, the nodes in a window of ids. Both sides are read at the followed block, so
// nothing that was read while the ledger or the chain moved counts. What was found stays on record until the two agree, and is reported once.

// Choices in what the documents leave open:
// - Cohorts that both sides had alike are not read again that day, unless the contract's storage, the ledger's cohorts or the counters change.
// - A node that the ledger lacks is shown by the ids and the counters, not by a payment that waits for it.

export interface Node {
  id: number
  owner: string
  creditedWei: bigint
  withdrawnWei: bigint
  cohort: number
  ref: string
}
export interface Cohort {
  cohort: number
  tierNo: number
  intervalSec: number
  nextDue: number
  size: number
  perNodeWei: bigint
}
export interface Side {
  counters: { nodes: bigint; round: number; outstandingWei: bigint }
  nodes: Node[]
  cohorts: Cohort[]
}
export type Drift = Record<string, string | number> & { kind: string }

/** What stands in the ledger between runs. */
export interface State {
  record: Drift[] | null
  agreed: string | null
  /** The ledger is at another block than the run. */
  isElsewhere: boolean
  reports: { count: number; drifts: Drift[] }[]
}

export interface Run {
  first: number
  ours: Side
  theirs: Side
  /** The contract's storage root; null if no provider shows it. */
  root: string | null
  day: number
  /** The refs of accepted payments, and the node that the contract has for each. */
  waiting: { ref: string; nodeId: number | null }[]
  /** When another run moves the ledger: before anything is compared, or while the window is read. */
  moves: 'never' | 'before' | 'during'
  /** The chain still has the followed block. */
  isCanonical: boolean
  /** How many differing nodes and cohorts a rewind may mend. */
  mends(drifts: Drift[]): number
}

export interface Found {
  inserted: number
  drifts: Drift[]
  next: number
  /** The cohorts that were read from the contract, in order; null if none was read. */
  cohortsRead: number[] | null
}

const WINDOW = 500
const [NAMED, TOLD] = [100, 100]

/** A run of the reconciler. Changes `state` as the run changes the ledger. */
export function run(state: State, given: Run): Found {
  const { ours, theirs, first } = given
  if (given.moves === 'before') state.isElsewhere = true
  const counters = (['nodes', 'round', 'outstandingWei'] as const).flatMap((name): Drift[] =>
    ours.counters[name] === theirs.counters[name]
      ? []
      : [{ kind: 'counter', name, ledger: String(ours.counters[name]), chain: String(theirs.counters[name]) }],
  )
  const named = new Set((state.record ?? []).flatMap(({ nodeId }) => (nodeId === undefined ? [] : [Number(nodeId)])))
  const some = [...named].slice(0, NAMED)
  const { drifts: ofCohorts, read: cohortsRead } = compareCohorts(state, given)
  if (state.isElsewhere) return { inserted: 0, drifts: [], next: first, cohortsRead }
  if (given.moves === 'during') state.isElsewhere = true
  const isInWindow = (id: number) => !state.isElsewhere && id >= first && id < first + WINDOW
  const ids = [...new Set([...ours.nodes, ...theirs.nodes].map(({ id }) => id))].sort((a, b) => a - b)
  const ofNodes = ids.flatMap((id) => [
    ...(isInWindow(id) || some.includes(id) ? compareNode(id, ours, theirs) : []),
    ...refsOf(id, given),
  ])
  const next = state.isElsewhere ? first : 1
  const drifts = [...counters, ...ofNodes, ...ofCohorts]
  if (drifts.length > 0 && !given.isCanonical) return { inserted: 0, drifts: [], next: first, cohortsRead }
  const isNew = JSON.stringify(state.record) !== JSON.stringify(drifts)
  state.record = drifts
  if (isNew && drifts.length > 0) state.reports.push({ count: drifts.length, drifts: drifts.slice(0, TOLD) })
  const inserted = state.isElsewhere ? 0 : given.mends(drifts)
  if (inserted > 0) state.isElsewhere = true
  return { inserted, drifts: inserted > 0 ? [] : drifts, next, cohortsRead }
}

function compareNode(id: number, ours: Side, theirs: Side): Drift[] {
  const [own, other] = [ours, theirs].map(({ nodes }) => nodes.find((node) => node.id === id))
  const nodeId = String(id)
  if (!own) return [{ kind: 'notInLedger', nodeId }]
  if (!other) return [{ kind: 'notOnChain', nodeId }]
  return (['owner', 'creditedWei', 'withdrawnWei', 'cohort'] as const).flatMap((field): Drift[] =>
    own[field] === other[field]
      ? []
      : [{ kind: 'node', nodeId, field, ledger: String(own[field]), chain: String(other[field]) }],
  )
}

function refsOf(id: number, { waiting, ours }: Run): Drift[] {
  const own = ours.nodes.find((node) => node.id === id)
  return waiting.flatMap(({ ref, nodeId }): Drift[] =>
    nodeId !== id || !own || own.ref === ref
      ? []
      : [{ kind: 'node', nodeId: String(id), field: 'ref', ledger: own.ref, chain: ref }],
  )
}

function compareCohorts(state: State, { ours, theirs, root, day }: Run): { drifts: Drift[]; read: number[] | null } {
  // Those whose turns come first are read first, and empty ones last.
  const inTurn = ours.cohorts.toSorted((a, b) => {
    if (a.size > 0 !== b.size > 0) return a.size > 0 ? -1 : 1
    return a.nextDue - b.nextDue || a.cohort - b.cohort
  })
  if (inTurn.length === 0) return { drifts: [], read: null }
  const text = (value: unknown) => JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one))
  const now = text([root, inTurn, theirs.counters, day])
  if (root !== null && state.agreed === now) return { drifts: [], read: null }
  const drifts = ours.cohorts.flatMap((own) => {
    const other = theirs.cohorts.find(({ cohort }) => cohort === own.cohort)
    const fields = ['perNodeWei', 'size', 'nextDue', 'intervalSec', 'tierNo'] as const
    return fields.flatMap((field): Drift[] =>
      !other || own[field] === other[field]
        ? []
        : [{ kind: 'cohort', cohort: own.cohort, field, ledger: String(own[field]), chain: String(other[field]) }],
    )
  })
  if (root !== null && drifts.length === 0) state.agreed = now
  return { drifts, read: inTurn.map(({ cohort }) => cohort) }
}
