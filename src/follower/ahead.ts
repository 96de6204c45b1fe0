// Reads ranges of blocks one after another, each while the previous one is being stored. Old blocks are surveyed if possible (survey/survey.ts); all
// others are read one by one. It must never read two ranges at a time, never hide a fault from the caller that asks for the range, and never leave a
// read in flight after `end`.

import type { ObservedRange } from '../domain/observed.ts'
import type { Hash } from '../domain/units.ts'
import type { BlockRef, ChainReader } from '../ports/chain.ts'
import type { FollowRules, RuledBy, RunLimits, SurveyRules } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import { HEADERS_KEPT } from './store.ts'
import type { Pace } from './survey/pace.ts'
import { type SurveyContext, surveyRange } from './survey/survey.ts'

/** We read blocks one by one if they are so new that we keep their headers, or so few that a survey would save nothing. */
export const SURVEY: SurveyRules = { behind: HEADERS_KEPT, blocksMin: 512 }
/** The most blocks in one database transaction: enough for a fast sync, few enough for a short transaction. */
const RANGE_MAX = 512
/**
 * Near the target, ranges get shorter, down to this size. Otherwise the last range would be a long one, with nothing left to read while we store it.
 */
const LAST_RANGE_MIN = 64

/** The last block that we have; reading continues with the next one. Null before the first block. */
export type LastRead = BlockRef | null

export interface Reading {
  /** The range after `last`; starts reading it if that has not begun. Null at the target, or if the run is out of time. */
  after(last: LastRead): Promise<ObservedRange | null>
  /** Starts reading the next range. If that fails, `after` throws the fault. */
  beginAfter(range: ObservedRange): void
  /** Waits for a read that was started but not used. */
  end(): Promise<void>
}

/** How far to read, and by which method. */
export interface Route {
  target: number
  /** The last block that we may survey. */
  surveyTo: number
  pace: Pace
  /** The most blocks that we read one by one. */
  readMax: number
}

/** Reads up to a target. It starts no read once the run is out of time, but still returns a range whose read has begun. */
export function readAhead(ctx: SurveyContext & RuledBy<FollowRules>, run: RunLimits, route: Route): Reading {
  const { chain, rules } = ctx
  const { target, pace } = route
  let prefetch: { parent: Hash | null; range: Promise<ObservedRange> } | null = null
  let read = 0

  function begin(last: LastRead): void {
    const from = last ? last.number + 1 : rules.startBlock
    if (from > target || read >= route.readMax || run.outOfTime()) return
    const range = readFrom(last, from)
    range.catch(() => {})
    prefetch = { parent: last?.hash ?? null, range }
  }

  async function readFrom(last: LastRead, from: number): Promise<ObservedRange> {
    const parent = last?.hash ?? (await parentOf(chain, from))
    const survey = await surveyFrom(from, parent)
    if (survey) return survey
    const size = Math.min(rangeSize(target - from + 1), route.readMax - read)
    return chain.observe(from, Math.min(target, from + size - 1, pace.readEnd(from) ?? target), parent)
  }

  async function surveyFrom(from: number, parent: Hash | null): Promise<ObservedRange | null> {
    const end = Math.min(target, route.surveyTo, pace.surveyEnd(from) ?? 0)
    if (parent === null || end - from + 1 < (rules.survey ?? SURVEY).blocksMin) return null
    const began = performance.now()
    const survey = await surveyRange(ctx, { from, to: end, parent })
    const last = survey?.blocks.at(-1)?.number
    if (last === undefined) pace.failed(from)
    else pace.succeeded(performance.now() - began, last < end ? last - from + 1 : null)
    return survey
  }

  async function end(): Promise<void> {
    await prefetch?.range.catch(() => {})
    prefetch = null
  }

  return {
    beginAfter({ blocks, isSurveyed }) {
      const last = blocks.at(-1)
      if (!isSurveyed) read += blocks.length
      if (last) begin(last)
    },
    end,
    async after(last) {
      // Another run has moved the cursor, so the range that we have begun to read does not follow it.
      if (prefetch && prefetch.parent !== (last?.hash ?? null)) await end()
      if (!prefetch) begin(last)
      const range = prefetch?.range ?? null
      prefetch = null
      return range
    },
  }
}

/** At most half of the remaining blocks, so that the last range to store is small. */
const rangeSize = (distance: number) => Math.min(RANGE_MAX, Math.max(LAST_RANGE_MIN, Math.ceil(distance / 2)))

/** The hash of the block before a ledger's first range. It is not stored, so we ask the provider. Null before block 0. */
async function parentOf(chain: ChainReader, from: number): Promise<Hash | null> {
  if (from === 0) return null
  const parent = await chain.block(from - 1)
  if (!parent) throw new ChainFault(`the provider has no block ${from - 1}`)
  return parent.hash
}
