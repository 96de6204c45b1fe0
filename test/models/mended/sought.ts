// Which blocks a run compares to explain differences between ledger and contract, as a second reading of docs/ARCHITECTURE.md (reconciling) and
// docs/LIMITS.md: providers only say where to look; a node that the ledger lacks, has too much, or has with values that events set is looked for from its
// mint on; a cohort over all headers that are kept. What could not be found leaves its turn to the next run, and three failures end the search.

export type Drift =
  | { kind: 'counter'; name: string }
  | { kind: 'node'; nodeId: string; field: string }
  | { kind: 'notInLedger' | 'notOnChain'; nodeId: string }
  | { kind: 'cohort'; cohort: number; field: string }

export interface Given {
  /** The headers that the ledger keeps. */
  headers: Set<number>
  cursor: number
  lastId: number
  drifts: Drift[]
  mints: Map<number, number>
  /** The blocks of a node's or a cohort's events as the ledger has them, one for each event. */
  events: { of: 'node' | 'cohort'; id: number; block: number }[]
  /** Which search fails, and which blocks each provider names from a block on, one for each event. */
  fails(of: 'node' | 'cohort', id: number): boolean
  said(of: 'node' | 'cohort', id: number, from: number): number[][]
  bookmarks: { node: number; cohort: number }
  differing: Set<number>
  unreadable: Set<number>
}

export interface Search {
  /** Each search: of what, and from which block. */
  asked: [of: string, id: number, from: number][]
  bookmarks: Given['bookmarks']
  /** The blocks that were compared, in order. */
  compared: number[]
  /** The block before which the ledger went back; null if it did not. */
  wentBackFor: number | null
  /** How many of the differing nodes and cohorts may be right then. */
  repaired: number
  /** A block could not be read, which ends the run. */
  ended: boolean
}

const [MOST, FAILURES, BLOCKS] = [100, 3, 10]
const BY_EVENTS = ['owner', 'withdrawnWei', 'cohort', 'ref']

export function search(given: Given): Search {
  const nothing = { asked: [], bookmarks: given.bookmarks, compared: [], wentBackFor: null, repaired: 0, ended: false }
  if (given.headers.size === 0 || given.drifts.length === 0) return nothing
  const result: Search = { ...nothing, asked: [], compared: [], bookmarks: { ...given.bookmarks } }
  const cohorts = given.drifts.flatMap((one) => (one.kind === 'cohort' ? [one.cohort] : []))
  const lists = [
    ...inTurn(given, 'node', nodesOf(given), result),
    ...inTurn(given, 'cohort', [...new Set(cohorts)], result),
    ...given.drifts.flatMap((one) => {
      const mint = one.kind === 'node' && one.field === 'ref' ? mintUpTo(given, Number(one.nodeId)) : null
      return mint === null ? [] : [[mint]]
    }),
  ]
  const blocks = [...new Set(lists.flat())].sort((a, b) => a - b).slice(0, BLOCKS)
  for (const block of blocks) {
    if (!given.headers.has(block)) continue
    result.compared.push(block)
    const canGoBack = given.headers.has(block - 1)
    if (canGoBack && given.unreadable.has(block)) return { ...result, ended: true }
    if (!canGoBack || !given.differing.has(block) || given.unreadable.has(block)) continue
    const repaired = lists.filter((list) => Math.max(...list) >= block).length
    return { ...result, wentBackFor: block, repaired }
  }
  return result
}

/** The mint's block of a node, or of the last one before it that the ledger has. */
function mintUpTo({ mints }: Given, id: number): number | null {
  const ids = [...mints.keys()].filter((one) => one <= id)
  return ids.length === 0 ? null : (mints.get(Math.max(...ids)) ?? null)
}

function nodesOf({ drifts, lastId, mints }: Given): number[] {
  const lacks = drifts.some((one) => one.kind === 'notInLedger' || (one.kind === 'counter' && one.name === 'nodes'))
  const ids: number[] = []
  if (lacks) for (let id = 1; id <= lastId && ids.length < MOST; id++) if (!mints.has(id)) ids.push(id)
  for (const one of drifts) {
    if (one.kind === 'notOnChain' || (one.kind === 'node' && BY_EVENTS.includes(one.field)))
      ids.push(Number(one.nodeId))
  }
  return [...new Set(ids)].slice(0, MOST)
}

function inTurn(given: Given, of: 'node' | 'cohort', ids: number[], result: Search): number[][] {
  const oldest = Math.min(...given.headers)
  const mark = given.bookmarks[of]
  const found: number[][] = []
  let failures = 0
  for (const id of [...ids.filter((one) => one > mark), ...ids.filter((one) => one <= mark)]) {
    const from = of === 'cohort' ? oldest : Math.max(oldest, mintUpTo(given, id) ?? 0)
    result.asked.push([of, id, from])
    if (!given.fails(of, id)) {
      found.push(unlike(given, of, id, from))
      continue
    }
    result.bookmarks[of] = id
    failures += 1
    if (failures === FAILURES) break
  }
  return found
}

/** The blocks of which some provider names more or fewer events than the ledger has. */
function unlike(given: Given, of: 'node' | 'cohort', id: number, from: number): number[] {
  const ours = given.events
    .filter((one) => one.of === of && one.id === id && one.block >= from)
    .map(({ block }) => block)
  const count = (all: number[], block: number) => all.filter((one) => one === block).length
  return given
    .said(of, id, from)
    .flatMap((theirs) => [...theirs, ...ours].filter((block) => count(theirs, block) !== count(ours, block)))
}
