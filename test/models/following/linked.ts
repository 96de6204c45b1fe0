// Linking old headers to followed ones, as a second reading of docs/ARCHITECTURE.md (Seeds of old turns): each header is named by its successor, from one that was followed and
// proven down to the one before a turn. A run links at most sixteen times 64 headers, and keeps what it has.
import type { Block } from './follow.ts'

export interface Ledger {
  headers: Block[]
  /** The first block whose header had to be proven; null: none had. */
  provenFrom: number | null
  linked: Block | null
  /** When cohorts have their next turns, and how far apart these are. */
  cohorts: { nextDue: number; intervalSec: number }[]
  seeds: { number: number; time: number; parentTime: number; of: Block }[]
}
/** What the provider has instead of the chain's block. */
export interface Provider {
  blocks: Block[]
  fault: { at: number; kind: 'lacks' | 'forged' | 'silent' } | null
  /** The ledger gets another block in the place of the first one that it links, while the provider answers. */
  replaces: boolean
}
export type Outcome =
  | { kind: 'linked' }
  | { kind: 'useless' }
  | { kind: 'waits'; above: number; left: number | null; isFalse: boolean; lacks?: number }

/** Where linking goes on: where it ended, unless a reorganisation replaced that block; else at the oldest header that was proven. */
function top({ headers, provenFrom, linked }: Ledger, due: number): Block | null {
  const [oldest] = headers
  if (oldest === undefined || provenFrom === null) return null
  const own = headers.find(({ number }) => number === linked?.number)
  const isStill = own === undefined ? (linked?.number ?? 0) < oldest.number : own.hash === linked?.hash
  if (linked !== null && linked.time >= due && isStill) return linked
  return headers.find(({ number }) => number === Math.max(oldest.number, provenFrom)) ?? null
}

/** The turns of which a block has the seed: it is the first that is not before them. */
const isSeed = ({ cohorts }: Ledger, block: Block, parent: Block) =>
  cohorts.some(({ nextDue, intervalSec }) => {
    let due = nextDue
    while (due <= parent.time) due += intervalSec
    return due <= block.time
  })

export function link(ledger: Ledger, provider: Provider, due: number, batches: number): Outcome {
  const first = top(ledger, due)
  if (first === null) return { kind: 'useless' }
  let low = first
  for (let n = 0; n < Math.min(16, batches) && low.time >= due && low.number > 0; n++) {
    const least = Math.max(0, low.number - 64)
    const { fault } = provider
    if (fault !== null && fault.at >= least && fault.at < low.number)
      return {
        kind: 'waits',
        above: low.number,
        left: null,
        isFalse: fault.kind === 'forged',
        ...(fault.kind === 'lacks' && { lacks: fault.at }),
      }
    if (n === 0 && provider.replaces && ledger.headers.some(({ number }) => number === low.number))
      return { kind: 'waits', above: low.number, left: null, isFalse: false }
    for (let number = least + 1; number <= low.number; number++) {
      const [of, parent] = [provider.blocks[number], provider.blocks[number - 1]] as [Block, Block]
      const { time } = of
      if (isSeed(ledger, of, parent)) ledger.seeds.push({ number, time, parentTime: parent.time, of })
    }
    low = provider.blocks[least] as Block
    ledger.linked = low
  }
  return low.time < due || low.number === 0
    ? { kind: 'linked' }
    : { kind: 'waits', above: low.number, left: low.time - due, isFalse: false }
}
