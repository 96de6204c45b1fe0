// How far a run may go while providers' histories differ, by the rule of evidence about heads (docs/ARCHITECTURE.md, Histories) and docs/RUNBOOK.md (guard.refused).
//
// Choices in what the documents leave open:
// - A group of providers goes on if at least two are in it, and more than in any other. Those that two or more outvote are asked last.
// - Once histories have differed, two have to name blocks above the last common one before that is over. With one provider it is over.
// - The service asks a provider for its chain only if it has another block. One on another chain has no say.
// - A provider that no longer returns its blocks below the one in question may have none of the ledger's.
// - A report comes once, until the histories have agreed for ten minutes.

/** A chain: the ledger's first one, or another from a block on. */
export type Branch = { from: number; name: string } | null
/** A provider: its newest block and its chain. `isPruned`: it returns no block but its newest. */
export interface Provider {
  head: number
  branch: Branch
  isSilent: boolean
  isPruned: boolean
  stray: boolean
}
export interface Run {
  providers: Provider[]
  /** What the ledger has followed by then. */
  branch: Branch
  oldest: number
  cursor: number
  /** Seconds since the difference that is on record, and since the histories have agreed again. */
  apartSec: number
  calmSec: number
}

export interface Block {
  number: number
  hash: string
}
export interface Difference {
  number: number
  ours: string
  theirs: string
  host: string
  beside: string[]
  agreed: Block
  stops: boolean
  lasts: boolean
}
export interface State {
  difference: Difference | null
  trouble: 'none' | 'lasts' | 'calm'
  told: { action: string; subject: string | null; detail: object }[]
  /** How often other instances had to forget their answers. */
  changes: number
}

export const hashAt = (branch: Branch, number: number): string =>
  branch && number >= branch.from
    ? `0x${branch.name.repeat(24)}${String(branch.from * 1_000 + number).padStart(40, '0')}`
    : `0x${String(number).padStart(64, '0')}`

/** What a run may rest on, and the providers to ask last from now on. */
export function run(state: State, given: Run): { agreed: Block | null; last: number[] } {
  const { providers, cursor, apartSec } = given
  const earlier = state.difference
  const { difference, last } = providers.length < 2 ? { difference: null, last: [] } : findDifference(given)
  if (difference) {
    const lasts = cursor - difference.agreed.number >= 12 || (earlier !== null && apartSec >= 120)
    state.difference = { ...difference, lasts }
    if (lasts) report(state, state.difference)
    return { agreed: difference.stops ? difference.agreed : null, last }
  }
  if (earlier && providers.length >= 2 && !isOver(earlier, given)) {
    return { agreed: earlier.stops ? stillCommon(earlier, given) : null, last }
  }
  end(state, given)
  return { agreed: null, last }
}

/** True if two providers name blocks above the last common one. */
const isOver = ({ agreed }: Difference, { providers, cursor }: Run) =>
  providers.filter((one) => (newestOf(one, cursor) ?? -1) > agreed.number).length >= 2

/** The last common block. If the ledger has left it, nothing shows one. */
function stillCommon({ agreed }: Difference, given: Run): Block {
  const { branch, oldest } = given
  return agreed.number < oldest || hashAt(branch, agreed.number) === agreed.hash ? agreed : belowOf(given)
}

function end(state: State, { calmSec }: Run): void {
  if (state.difference?.lasts) state.changes += 1
  state.difference = null
  if (state.trouble === 'calm' && calmSec >= 600) {
    state.trouble = 'none'
    state.told.push({ action: 'historiesAgree', subject: null, detail: {} })
  } else if (state.trouble === 'lasts') state.trouble = 'calm'
}

/** The block before the oldest header. */
const belowOf = ({ branch, oldest }: Run): Block => ({ number: oldest - 1, hash: hashAt(branch, oldest - 1) })

/** The newest block that a provider returns, up to the cursor. */
function newestOf({ head, isSilent, isPruned }: Provider, cursor: number): number | null {
  if (isSilent || (isPruned && head > cursor)) return null
  return Math.min(head, cursor)
}

function findDifference(given: Run): { difference: Omit<Difference, 'lasts'> | null; last: number[] } {
  const { providers, branch, oldest, cursor } = given
  const voices = providers.flatMap((one, n) => {
    const newest = newestOf(one, cursor)
    return newest === null ? [] : [{ ...one, n, newest }]
  })
  const isOther = (one: Provider, number: number) => hashAt(one.branch, number) !== hashAt(branch, number)
  const apart = voices.filter((one) => one.newest >= oldest && isOther(one, one.newest))
  const strays = apart.filter(({ stray }) => stray)
  const lowest = Math.min(...apart.filter(({ stray }) => !stray).map(({ newest }) => newest))
  if (lowest === Infinity) return { difference: null, last: [] }
  const there = voices.filter(
    (one) =>
      !strays.includes(one) && (one.isPruned ? one.newest === lowest && one.head === lowest : one.newest >= lowest),
  )
  const beside = there.filter((one) => !isOther(one, lowest))
  const others = there.filter((one) => isOther(one, lowest))
  const groups = Map.groupBy(others, (one) => hashAt(one.branch, lowest))
  const [theirs, most] = [...groups].reduce((a, b) => (b[1].length > a[1].length ? b : a))
  const stops = beside.length < 2 || beside.length <= most.length
  const outvoted = stops ? (most.length >= 2 && most.length > beside.length ? beside : []) : others
  let common = lowest - 1
  for (const one of others) while (common >= oldest && (one.isPruned || isOther(one, common))) common--
  const difference = {
    ...{ number: lowest, ours: hashAt(branch, lowest), theirs, host: `host ${most[0]?.n}`, stops },
    beside: beside.map(({ n }) => `host ${n}`),
    agreed: { number: common, hash: hashAt(branch, common) },
  }
  return { difference, last: outvoted.map(({ n }) => n) }
}

function report(state: State, difference: Difference): void {
  state.changes += 1
  const { number, host, stops } = difference
  const todo = stops
    ? 'Compare both with an explorer, and remove the provider that is wrong from RPC_URL.'
    : `Remove ${host} from RPC_URL.`
  if (state.trouble === 'none')
    state.told.push({
      action: 'guardRefused',
      subject: String(number),
      detail: { why: 'histories', ...difference, todo },
    })
  state.trouble = 'lasts'
}
