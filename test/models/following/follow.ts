// One run of the follower, as a second reading of docs/ARCHITECTURE.md (Following; Reorganisations; Halting; Old blocks): it goes on from the last block that the ledger shares
// with the chain, never leaves a provider's word for a shorter chain, and keeps no header of what it surveyed.
//
// Choices in what the documents leave open:
// - A provider with fewer blocks than the ledger lags, unless two providers (or the only one) have another block at its height than the ledger, and more than have the ledger's.
// - A run may go on three times if another instance has stored blocks beyond the head that it read.
// - A fault of the block that a run starts with is no sign that it is stuck while the run only looks for its place.

export interface Block {
  number: number
  hash: string
  parentHash: string
  time: number
  prevrandao: string
}
/** What a provider has: its blocks from block 0 on. It returns no block below a height. */
export interface Provider {
  blocks: Block[]
  /** From this request on it names another chain id; null: never. */
  strayFrom: number | null
  lacksBelow: number
  isSilent: boolean
}
export interface Ledger {
  start: number
  isEmbedded: boolean
  genesisHash: string
  headers: Block[]
  finalized: number | null
  halt: 'none' | 'open' | 'sealed'
  mendingTo: number | null
  /** `rule`: null if it is any text. */
  stuck: { block: number; rule: string | null; runs: number; isOld: boolean } | null
  /** Whether a stuck block is on record as reported. */
  isTold: boolean
  audit: string[]
}
/** What a run is asked to do, and what it meets. */
export interface Run {
  /** Each provider by itself, and whom the run reads first. Empty: there is only the one that is read first. */
  main: Provider
  providers: Provider[]
  final: number | null
  options: { upTo?: number; goal?: number; readMax?: number }
  survey: { behind: number; blocksMin: number } | null
  hasFactory: boolean
  /** How many ranges of at most how many blocks a run has time for. */
  ranges: number
  perRange: number
  /** Reading from this block on fails, and how. */
  fault: { from: number; kind: 'answered' | 'away' | 'final' } | null
  headFails: 'answered' | 'away' | null
}
export type Outcome =
  | { kind: 'halts'; reason: string; detail: object; isNoted?: true; isConfirmed?: boolean }
  | { kind: 'fails' }
  | { kind: 'ends'; from: number | null; to: number | null; head: number; cursor: number | null }

class Ends extends Error {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    super(JSON.stringify(outcome))
    this.outcome = outcome
  }
}
const halts = (reason: string, detail: object): never => {
  throw new Ends({ kind: 'halts', reason, detail })
}

const cursorOf = ({ headers }: Ledger): Block | null => headers.at(-1) ?? null
const at = ({ blocks, lacksBelow }: Provider, number: number) => (number < lacksBelow ? undefined : blocks[number])

/** How often each provider was asked for its chain's id, and how often one was asked for its final block. */
interface Counts {
  ids: Map<Provider, number>
  finals: number
}
function assertOwn(provider: Provider, counts: Counts): void {
  const nth = counts.ids.get(provider) ?? 0
  counts.ids.set(provider, nth + 1)
  if (provider.strayFrom !== null && nth >= provider.strayFrom) halts('otherChain', { chainId: 2, chainIdOfLedger: 1 })
}

function isSameGenesis(ledger: Ledger, main: Provider): boolean {
  if (ledger.isEmbedded) return false
  const genesis = at(main, 0)
  if (genesis !== undefined && genesis.hash !== ledger.genesisHash)
    halts('otherChain', { genesisHash: genesis.hash, genesisHashOfLedger: ledger.genesisHash })
  return genesis !== undefined
}

/** Nothing is shared: the ledger starts over if that loses nothing, and otherwise halts. */
function startsOver(ledger: Ledger, main: Provider): void {
  const oldest = (ledger.headers[0] as Block).number
  if (!isSameGenesis(ledger, main) || oldest > ledger.start) halts('tooDeep', { oldestHeader: oldest })
}

/** True if the chain has left the ledger's block at this height, though it is shorter. */
function isLeft(ledger: Ledger, providers: Provider[], height: number): boolean {
  const own = ledger.headers.find(({ number }) => number === height)
  const hashes = providers.flatMap((one) => (one.isSilent ? [] : (at(one, height)?.hash ?? [])))
  const count = (hash: string | undefined) => hashes.filter((other) => other === hash).length
  if (own === undefined || providers.length === 0) return false
  const others = hashes.filter((hash) => hash !== own.hash).map(count)
  return others.some((voices) => voices >= Math.min(2, providers.length) && voices > count(own.hash))
}

/** True if a run leaves the ledger at a block above the provider's head. */
function lags(ledger: Ledger, { main, providers }: Run): boolean {
  const head = main.blocks.at(-1) as Block
  const [oldest] = ledger.headers as [Block]
  if (ledger.headers.some(({ hash }) => hash === head.hash)) return true
  if (oldest.number > head.number) isSameGenesis(ledger, main)
  else if ((at(main, oldest.number)?.hash ?? oldest.hash) !== oldest.hash) startsOver(ledger, main)
  return !isLeft(ledger, providers, head.number)
}

/** Finds the run's place: the cursor, or the last block that the ledger shares with the chain, to which it goes back. */
function place(ledger: Ledger, run: Run, counts: Counts): void {
  const { main } = run
  assertOwn(main, counts)
  const head = main.blocks.at(-1) as Block
  const cursor = cursorOf(ledger)
  if (cursor === null || [head.hash, head.parentHash].includes(cursor.hash)) return
  if (head.number < cursor.number && !ledger.isEmbedded && lags(ledger, run)) return
  const same = at(main, cursor.number)
  if (head.number >= cursor.number && same === undefined) throw new Ends({ kind: 'fails' })
  if (same?.hash !== cursor.hash) goBack(ledger, run, cursor)
}

function goBack(ledger: Ledger, { main, hasFactory }: Run, cursor: Block): void {
  const oldest = ledger.headers[0]?.number ?? 0
  // What the ledger shares with the chain is looked for among blocks that the provider does not return.
  if (oldest < main.lacksBelow && oldest < main.blocks.length) throw new Ends({ kind: 'fails' })
  const fork = ledger.headers.findLast(({ number, hash }) => main.blocks[number]?.hash === hash) ?? null
  if (fork === null) startsOver(ledger, main)
  const { finalized } = ledger
  if (!ledger.isEmbedded && finalized !== null && (fork === null || fork.number < finalized)) {
    const detail = { forkBlock: fork?.number ?? null, forkHash: fork?.hash ?? null }
    halts('pastFinalized', { ...detail, finalized })
  }
  if (fork === null && !hasFactory) throw new Ends({ kind: 'fails' })
  ledger.headers = ledger.headers.filter(({ number }) => number <= (fork?.number ?? -1))
  ledger.audit.push(`reorganisation ${cursor.number} ${fork?.number ?? ledger.start - 1}`)
}

/** Up to where old blocks are surveyed: so far below what is final and what is followed that no header of them is needed. */
function surveyEnd({ final, options, survey, main }: Run, next: number, counts: Counts): number {
  if (survey === null) return -1
  const { behind, blocksMin } = survey
  const head = main.blocks.length - 1
  const goal = Math.min(head, options.goal ?? options.upTo ?? head)
  const enough = (end: number) => (end - next + 1 >= blocksMin ? end : -1)
  // Nothing else needs the final block.
  if (enough(goal - behind) < 0) return -1
  counts.finals++
  // A survey reads old blocks.
  if (final === null || main.lacksBelow > 0) return -1
  // A run surveys no block that it may not follow.
  return enough(Math.min(goal - behind, final - behind, options.upTo ?? head))
}

const nextOf = (ledger: Ledger) => (cursorOf(ledger)?.number ?? ledger.start - 1) + 1

interface Progress {
  /** How many ranges the run still has time for. */
  ranges: number
  from: number | null
  to: number | null
}

/** Stores what is new, range by range. */
function advance(ledger: Ledger, run: Run, progress: Progress, counts: Counts): void {
  const { main, options } = run
  const target = Math.min(main.blocks.length - 1, options.upTo ?? Number.MAX_SAFE_INTEGER)
  let left = options.readMax ?? Number.MAX_SAFE_INTEGER
  const surveyTo = surveyEnd(run, nextOf(ledger), counts)
  for (let next = nextOf(ledger); next <= target && left > 0 && progress.ranges-- > 0; next = nextOf(ledger)) {
    const isSurvey = surveyTo >= next
    const to = isSurvey ? surveyTo : Math.min(target, next + Math.min(run.perRange, left) - 1)
    assertReadable(ledger, run, next, isSurvey)
    assertOwn(main, counts)
    if (!isSurvey) left -= to - next + 1
    ledger.headers = [...(isSurvey ? [] : ledger.headers), ...main.blocks.slice(isSurvey ? to : next, to + 1)]
    progress.from ??= next
    progress.to = to
  }
}

function assertReadable(ledger: Ledger, { main, fault }: Run, next: number, isSurvey: boolean): void {
  const parent = cursorOf(ledger)
  if (parent === null && at(main, next - 1) === undefined) fails(ledger, `the provider has no block ${next - 1}`, next)
  if (!isSurvey && fault !== null && next >= fault.from) {
    if (fault.kind === 'final') throw new Ends({ kind: 'fails' })
    fails(ledger, fault.kind === 'away' ? 'no answer' : 'cannot be read', next)
  }
  if (parent !== null && main.blocks[next]?.parentHash !== parent.hash) throw new Parted()
}
class Parted extends Error {}

/** Ends a run at a block, which the ledger notes. The third run over two minutes is reported. */
function fails(ledger: Ledger, rule: string | null, block: number): never {
  const { stuck } = ledger
  const isSame = stuck?.block === block
  ledger.stuck = { block, rule, runs: isSame ? stuck.runs + 1 : 1, isOld: isSame && stuck.isOld }
  if (ledger.stuck.isOld && ledger.stuck.runs >= 3 && !ledger.isTold) {
    ledger.isTold = true
    ledger.audit.push('stuck')
  }
  throw new Ends({ kind: 'fails' })
}

function followBy(ledger: Ledger, run: Run, counts: Counts): Outcome {
  const { main } = run
  if (ledger.halt === 'sealed') return { kind: 'halts', reason: 'tooDeep', detail: {}, isNoted: true }
  const next = nextOf(ledger)
  if (run.headFails === 'away' || main.isSilent) return { kind: 'fails' }
  if (run.headFails === 'answered') fails(ledger, 'cannot be read', next)
  const head = main.blocks.length - 1
  const ahead = cursorOf(ledger) === null ? 0 : head - next + 1
  const isNear = ledger.halt === 'none' && ahead > 0 && ahead < Math.min(64, run.survey?.blocksMin ?? 512)
  const progress: Progress = { ranges: run.ranges, from: null, to: null }
  if (!isNear) place(ledger, run, counts)
  try {
    advance(ledger, run, progress, counts)
  } catch (error) {
    if (!(error instanceof Parted) || !isNear) throw error
    const outcome = ended(() => {
      place(ledger, run, counts)
      return null
    })
    // Its first block has shown by now that it stops this run.
    if (outcome?.kind === 'fails') fails(ledger, null, next)
    if (outcome !== null) throw new Ends(outcome)
    advance(ledger, run, progress, counts)
  }
  const cursor = cursorOf(ledger)
  if (cursor === null || head >= cursor.number) allIsWell(ledger)
  const { from, to } = progress
  return { kind: 'ends', from, to, head, cursor: cursor?.number ?? null }
}

function allIsWell(ledger: Ledger): void {
  if (ledger.halt === 'open') ledger.audit.push('haltLifted')
  ledger.halt = 'none'
  ledger.stuck = null
  if (ledger.mendingTo !== null && ledger.mendingTo <= (cursorOf(ledger)?.number ?? -1)) ledger.mendingTo = null
}

const ended = <T>(read: () => T): T | Outcome => {
  try {
    return read()
  } catch (error) {
    if (error instanceof Ends) return error.outcome
    throw error
  }
}

/** A run: if one of several providers shows another chain, each of them is asked in turn. */
export function follow(ledger: Ledger, run: Run): { outcome: Outcome; distrusted: number[]; finals: number } {
  const counts: Counts = { ids: new Map(), finals: 0 }
  const outcome = ended(() => followBy(ledger, run, counts))
  const isAsked = outcome.kind === 'halts' && !outcome.isNoted && run.providers.length >= 2
  if (!isAsked) return { outcome, distrusted: [], finals: counts.finals }
  const reportedBy: number[] = []
  for (const [n, main] of run.providers.entries()) {
    const one = ended(() => followBy(ledger, { ...run, main, providers: [] }, counts))
    if (one.kind === 'ends') return { outcome: one, distrusted: reportedBy, finals: counts.finals }
    if (one.kind === 'halts') reportedBy.push(n)
  }
  const detail = { ...outcome.detail, reportedBy: reportedBy.map((n) => `host ${n}`) }
  const isConfirmed = reportedBy.length >= 2
  return { outcome: { ...outcome, detail, isConfirmed }, distrusted: [], finals: counts.finals }
}

/** A run during whose first reading another instance stores blocks up to `stored`. `heads`: what the provider has, each time that it is asked. */
export function overtaken({
  cursor,
  stored,
  heads,
  upTo,
}: {
  cursor: number
  stored: number
  heads: number[]
  upTo: number
}) {
  let [asks, head] = [1, heads[0] as number]
  let [at, from, to]: [number, number | null, number | null] = [cursor, null, null]
  const read = () => {
    const target = Math.min(head, upTo)
    if (target <= at) return
    from ??= at + 1
    to = target
    at = target
  }
  if (Math.min(head, upTo) > cursor) at = stored
  read()
  while (at > head && asks < 4) {
    const later = heads[asks++] ?? (heads.at(-1) as number)
    if (later <= head) break
    head = later
    read()
  }
  return { asks, head, cursor: at, from, to }
}
