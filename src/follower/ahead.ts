// Reads ranges of blocks one after another, each while the one before it is being stored. It must never read two at once, never
// hide a fault from the caller that asks for the range, and leave nothing under way once it has ended.
import { ChainFault } from '../chain/faults.ts'
import type { ChainReader } from '../chain/port.ts'
import type { Block, ObservedRange } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { ChainRead, FollowRules, RuledBy, RunLimits } from '../passes/context.ts'

/** Blocks in one database transaction at most: enough to sync fast, few enough to keep the transaction short. */
const RANGE_MAX = 512

/** A block that ranges follow on; null before the first one that is followed. */
export type Place = Pick<Block, 'number' | 'hash'> | null

export interface Reading {
  /** The range that follows on a block, begun now unless it was before. Null at the target, and where the time is up. */
  after(place: Place): Promise<ObservedRange | null>
  /** Begins to read the next range. A fault is thrown when the range is asked for. */
  beginAfter(range: ObservedRange): void
  /** Waits for reads that were begun and never asked for. */
  end(): Promise<void>
}

/** Reads up to block `target`. Begins nothing once the run is out of time; what was begun by then is still given. */
export function readAhead({ chain, rules }: ChainRead & RuledBy<FollowRules>, run: RunLimits, target: number): Reading {
  let begun: { parent: Hash | null; range: Promise<ObservedRange> } | null = null

  function begin(place: Place): void {
    const from = place ? place.number + 1 : rules.startBlock
    if (from > target || run.outOfTime()) return
    const to = Math.min(target, from + RANGE_MAX - 1)
    const range = place ? chain.observe(from, to, place.hash) : observeFirst(chain, from, to)
    range.catch(() => {})
    begun = { parent: place?.hash ?? null, range }
  }

  async function end(): Promise<void> {
    await begun?.range.catch(() => {})
    begun = null
  }

  return {
    beginAfter({ blocks }) {
      const last = blocks.at(-1)
      if (last) begin(last)
    },
    end,
    async after(place) {
      // Another run has moved the cursor meanwhile: the range no longer fits.
      if (begun && begun.parent !== (place?.hash ?? null)) await end()
      if (!begun) begin(place)
      const range = begun?.range ?? null
      begun = null
      return range
    },
  }
}

/** The first range of a ledger follows on a block that is not stored, which the provider is asked for. */
async function observeFirst(chain: ChainReader, from: number, to: number): Promise<ObservedRange> {
  const parent = from > 0 ? await chain.block(from - 1) : null
  if (from > 0 && !parent) throw new ChainFault(`the provider has no block ${from - 1}`, { retryable: true })
  return chain.observe(from, to, parent?.hash ?? null)
}
