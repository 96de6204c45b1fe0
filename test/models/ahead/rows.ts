// The rows of tiers and the openings of steps after each write, as a second reading of docs/ADMIN.md (Tiers) and of the columns' comments. Which row
// is the latest is never stored here: it follows from the rows.
//
// Choices in what the documents leave open:
// - A version's number counts the entries of its tier, cancelled ones among them.
// - A change that has begun is not cancelled any more.
// - A tier waits for another by its latest version. A step that has opened after a tier is open after that tier for good.
import type { Terms as OwnTerms } from './ahead.ts'

export type Terms = OwnTerms & { tierId: string; tierNo: number; graceSec: number }
export interface Row {
  version: number
  terms: Terms
  fromBlock: number | null
  fromTime: number
  /** Of a planned change the terms that it names. */
  names: readonly string[] | null
  isCancelled: boolean
  madeWith: string | null
  enteredBy: string
  /** Its place among all entries. */
  entry: number
}
export interface Place {
  blockNumber: number
  txIndex: number
  innerIndex: number
}
export interface Opening extends Place {
  tierId: string
  opensAfter: string
}
/** A payment of a tier. `isSold`: it has one of its places. */
export interface Sold extends Place {
  tierId: string
  isSold: boolean
}
export interface State {
  rows: Row[]
  openings: Opening[]
  payments: Sold[]
}

const ofTier = ({ rows }: State, tierId: string): Row[] => rows.filter(({ terms }) => terms.tierId === tierId)

function isLater(a: Row, b: Row): boolean {
  if (a.fromTime !== b.fromTime) return a.fromTime > b.fromTime
  return a.version > b.version
}

/** The latest version of a tier, whether or not it is in force yet; undefined if no change of it has begun. */
export function latest(state: State, tierId: string): Row | undefined {
  const begun = ofTier(state, tierId).filter(({ fromBlock }) => fromBlock !== null)
  return begun.find((one) => begun.every((other) => other === one || isLater(one, other)))
}

const tierIdsOf = ({ rows }: State): string[] => [...new Set(rows.map(({ terms }) => terms.tierId))]

function enter(state: State, entered: Omit<Row, 'version' | 'entry' | 'isCancelled'>): number {
  let version = 1
  for (const one of ofTier(state, entered.terms.tierId)) if (one.version >= version) version = one.version + 1
  state.rows.push({ ...entered, version, entry: state.rows.length, isCancelled: false })
  return version
}

export function enterVersion(
  state: State,
  given: Pick<Row, 'terms' | 'fromTime' | 'enteredBy'> & { fromBlock: number },
) {
  enter(state, { ...given, names: null, madeWith: null })
}

export function enterPlan(state: State, given: Pick<Row, 'terms' | 'fromTime' | 'names' | 'madeWith' | 'enteredBy'>) {
  return enter(state, { ...given, fromBlock: null })
}

const named = (state: State, tierId: string, version: number) =>
  ofTier(state, tierId).find((one) => one.version === version)

export function cancel(state: State, { tierId, version }: { tierId: string; version: number }): void {
  const one = named(state, tierId, version)
  if (one !== undefined && one.fromBlock === null) one.isCancelled = true
}

/** A change begins, with the terms that it has by then. */
export function begin(state: State, changes: { terms: Terms; version: number; fromBlock: number }[]): void {
  for (const { terms, version, fromBlock } of changes) {
    const one = named(state, terms.tierId, version)
    if (one !== undefined) Object.assign(one, { terms, fromBlock })
  }
}

/** What has not begun in the followed block: its first block is later, or a planned one's time is. Null: no block is followed. */
export function notBegun({ rows }: State, followed: { number: number; time: number } | null): Row[] {
  return rows.filter(({ fromBlock, fromTime, isCancelled }) => {
    if (fromBlock === null) return !isCancelled && (followed === null || fromTime > followed.time)
    return followed === null || fromBlock > followed.number
  })
}

/** Another first block, of what has one. */
export function move(state: State, moves: readonly { tierId: string; version: number; fromBlock: number }[]): void {
  for (const { tierId, version, fromBlock } of moves) {
    const one = named(state, tierId, version)
    if (one !== undefined && one.fromBlock !== null) one.fromBlock = fromBlock
  }
}

/** Back to a height: later planned changes have not begun, and later steps have not opened. */
export function rewind(state: State, height: number): void {
  for (const one of state.rows)
    if (one.names !== null && one.fromBlock !== null && one.fromBlock > height) one.fromBlock = null
  state.openings = state.openings.filter(({ blockNumber }) => blockNumber <= height)
}

/** Where a row's own step has opened. */
export function openedOf({ openings }: State, { terms }: Row): Place | null {
  const one = openings.find(({ tierId, opensAfter }) => tierId === terms.tierId && opensAfter === terms.opensAfter)
  return one ? { blockNumber: one.blockNumber, txIndex: one.txIndex, innerIndex: one.innerIndex } : null
}

/** The latest version of each tier that still waits for another tier. */
function waiting(state: State): { tierId: string; opensAfter: string }[] {
  return tierIdsOf(state).flatMap((tierId) => {
    const one = latest(state, tierId)
    if (one === undefined || one.terms.opensAfter === null || openedOf(state, one) !== null) return []
    return [{ tierId, opensAfter: one.terms.opensAfter }]
  })
}

export function openSteps(state: State, soldOut: string, place: Place): string[] {
  const steps = waiting(state).filter(({ opensAfter }) => opensAfter === soldOut)
  for (const step of steps) state.openings.push({ ...step, ...place })
  return steps.map(({ tierId }) => tierId).toSorted()
}

/** The numbers of the tiers for which steps wait. A tier without a version cannot sell out. */
export function awaited(state: State): number[] {
  const waitedFor = waiting(state).map(({ opensAfter }) => latest(state, opensAfter)?.terms.tierNo)
  return [...new Set(waitedFor.filter((tierNo) => tierNo !== undefined))].toSorted()
}

function isBehind(a: Place, b: Place): boolean {
  if (a.blockNumber !== b.blockNumber) return a.blockNumber > b.blockNumber
  if (a.txIndex !== b.txIndex) return a.txIndex > b.txIndex
  return a.innerIndex > b.innerIndex
}

/** The place of a tier's last sale; null if it has sold nothing. */
export function lastSale({ payments }: State, tierId: string): Place | null {
  let last: Sold | null = null
  for (const one of payments)
    if (one.isSold && one.tierId === tierId && (last === null || isBehind(one, last))) last = one
  return last && { blockNumber: last.blockNumber, txIndex: last.txIndex, innerIndex: last.innerIndex }
}

/** Whether pages change in a period of block time, because a tier opens or closes. Its first second belongs to the period before. */
export function hasTurned(state: State, { after, upTo }: { after: number; upTo: number }): boolean {
  return tierIdsOf(state).some((tierId) => {
    const { opensAt = null, closesAt = null } = latest(state, tierId)?.terms ?? {}
    return [opensAt, closesAt].some((time) => time !== null && after < time && time <= upTo)
  })
}

/** All rows that have begun, as pages read them. */
export function versions({ rows }: State): Row[] {
  const begun = rows.filter(({ fromBlock }) => fromBlock !== null)
  return begun.toSorted((a, b) => a.terms.tierNo - b.terms.tierNo || a.fromTime - b.fromTime || a.version - b.version)
}

/** The planned changes after a time, in the order in which they take effect. */
export function plans({ rows }: State, after: number): Row[] {
  const left = rows.filter((one) => one.fromBlock === null && !one.isCancelled && one.fromTime > after)
  return left.toSorted((a, b) => a.fromTime - b.fromTime || a.entry - b.entry)
}
