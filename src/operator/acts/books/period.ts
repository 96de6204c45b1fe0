// The range of blocks that a statement or an export covers. A time means the last block before it, so that adjacent periods share a boundary block:
// one month's closing figures are the next month's opening figures.

import { readBlock, readCursor } from '../../../db/blocks/blocks.ts'
import { lastStoredBlockBefore } from '../../../db/core/snapshot.ts'
import type { Sql } from '../../../db/core/sql.ts'
import type { DatedBlock } from '../../../domain/observed.ts'
import { readDate } from '../../../lib/times.ts'
import type { ChainRead, FollowRules, RuledBy } from '../../../ports/contexts.ts'
import { ChainFault } from '../../../ports/faults.ts'
import { fieldNamed, type OperatorRefusal, refuseAct } from '../../act.ts'
import * as field from '../../input.ts'

const FORM = 'a block number, a date like 2026-10-01 or a time like 2026-10-01 12:00, in UTC unless it has a zone'
const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/

/** The requested start or end of a period. Time is in unix seconds. */
type Moment = { block: number } | { time: number }

/** The requested period; null means from the beginning, or up to now. */
export interface AskedPeriod {
  from: Moment | null
  to: Moment | null
}

/** Blocks after `opening` up to `closing`. */
export interface Period {
  opening: DatedBlock
  closing: DatedBlock
  /** False if the period extends beyond what the ledger has followed. */
  complete: boolean
}

const moment = (help: string) =>
  field.orNull(field.ofForm<Moment>(help, { ...MOMENT, otherwise: { block: 0 }, parse: parseMoment }))
const MOMENT = { schema: { type: 'string' }, value: 'moment', form: FORM }

/**
 * The fields of a period: `from` and `to`, or a month. For times, `from` is the first time in the period and `to` the first time after it. For block
 * numbers, both are in the period. A date means the start of its day in UTC.
 */
export const PERIOD = {
  month: field.orNull(
    field.ofForm<AskedPeriod>('a month, by UTC', {
      value: 'yyyy-mm',
      form: 'a month like 2026-10',
      otherwise: { from: null, to: null },
      parse: parseMonth,
      schema: { type: 'string', examples: ['2026-10'] },
    }),
  ),
  from: moment('its first block, or a time like 2026-10-01 or 2026-10-01T00:00:00Z'),
  to: moment('its last block, or the time before which it ends'),
}
type PeriodFields = field.Read<typeof PERIOD>

export const checkPeriod: field.Check<typeof PERIOD> = (_asked, { isGiven, complain }) => {
  if (isGiven('month') && (isGiven('from') || isGiven('to')))
    complain(null, `give either ${fieldNamed('month')}, or ${fieldNamed('from')} and ${fieldNamed('to')}`)
}

export const periodIn = ({ month, from, to }: PeriodFields): AskedPeriod => month ?? { from, to }

function parseMonth(input: unknown): AskedPeriod | undefined {
  const [, year, index] = (MONTH.exec(String(input)) ?? []).map(Number)
  if (year === undefined || index === undefined) return undefined
  return { from: { time: Date.UTC(year, index - 1) / 1000 }, to: { time: Date.UTC(year, index) / 1000 } }
}

function parseMoment(input: unknown): Moment | undefined {
  const text = String(input)
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return { block: Number(text) }
  const time = readDate(text)
  return time === undefined ? undefined : { time }
}

/** Finds a period's boundary blocks. Asks the chain only for blocks older than the stored headers. */
export async function findPeriod(
  deps: ChainRead & RuledBy<FollowRules>,
  sql: Sql,
  { from, to }: AskedPeriod,
): Promise<Period | OperatorRefusal> {
  const cursor = await readCursor(sql)
  if (!cursor) return refuseAct('unavailable', 'The ledger has not followed a block yet: run the payments pass first.')
  const first = Math.max(0, deps.rules.startBlock - 1)
  const range = { first, cursor }
  const opening = await edgeBlock(deps, sql, range, from === null ? first : edgeOf(from, -1))
  const closing = to === null ? cursor : await edgeBlock(deps, sql, range, edgeOf(to, 0))
  if (opening.number > closing.number)
    return refuseAct(
      'invalid',
      `${fieldNamed('from')} must not be later than ${fieldNamed('to')}, nor than the block the ledger has followed to.`,
    )
  const complete = to !== null && ('block' in to ? to.block <= cursor.number : to.time <= cursor.time)
  return { opening, closing, complete }
}

/** A block number, or a time that stands for the last block before it. */
type Edge = number | { before: number }
const edgeOf = (moment: Moment, shift: number): Edge =>
  'block' in moment ? moment.block + shift : { before: moment.time }

/** The blocks that the ledger has followed: from the block before START_BLOCK up to the cursor. */
interface FollowedRange {
  first: number
  cursor: DatedBlock
}

async function edgeBlock(deps: ChainRead, sql: Sql, { first, cursor }: FollowedRange, edge: Edge): Promise<DatedBlock> {
  if (typeof edge === 'number') return blockOf(deps, sql, Math.min(cursor.number, Math.max(first, edge)), cursor)
  if (edge.before > cursor.time) return cursor
  const ownBlock = await lastStoredBlockBefore(sql, edge.before)
  if (ownBlock && ownBlock.number >= first) return ownBlock
  const chainBlock = ownBlock ? null : await deps.chain.firstBlockAt(edge.before, cursor.number)
  const parent = chainBlock?.parent ?? null
  return parent && parent.number >= first ? parent : blockOf(deps, sql, first, cursor)
}

/** A block that `cursor`, the ledger or the chain has. Throws a ChainFault if none has it. */
export async function blockOf(deps: ChainRead, sql: Sql, number: number, cursor: DatedBlock): Promise<DatedBlock> {
  if (number === cursor.number) return cursor
  const block = (await readBlock(sql, number)) ?? (await deps.chain.block(number))
  if (!block) throw new ChainFault(`the provider has no block ${number}`)
  return block
}

export interface ShownBlock {
  blockNumber: number
  blockHash: string
  /** ISO 8601. */
  blockTime: string
}

export const shownBlock = ({ number, hash, time }: DatedBlock): ShownBlock => ({
  blockNumber: number,
  blockHash: hash,
  blockTime: new Date(time * 1000).toISOString(),
})
