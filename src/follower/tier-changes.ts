// Gives each version of a tier its first block, the first that is not before its time, in the transaction that stores that block. A change that was
// entered ahead gets its terms then too, so that judging and pages read all versions alike. A reorganisation takes both back (rewind.ts).
import type { Cursor } from '../db/blocks/blocks.ts'
import type { Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import { lockTiers } from '../db/payments/lock-order.ts'
import {
  type FirstBlock,
  moveFirstBlocks,
  readNotBegun,
  readTierPlans,
  readTierVersions,
  storeTierChanges,
} from '../db/sale/tiers.ts'
import type { ObservedRange } from '../domain/observed.ts'
import { readChanges, termsOf } from '../domain/sale/changes.ts'
import type { ChainRead, LedgerDb, Logging } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'

/** The times of a range's blocks, as far as changes of tiers need them. */
export interface BlockTimes {
  /** The first block of the range that is not before a time; undefined if there is none. */
  firstAt: (time: number) => number | undefined
  /** The range's last block. */
  last: number
}

/** The times of a range, and whether some version gets another first block by it. */
export interface TierTimes extends BlockTimes {
  isDue: boolean
}

/** Reads in which blocks of a range changes take effect. Asks the chain only if the range was not read whole. */
export async function readTierTimes(
  { pool, chain }: LedgerDb & ChainRead,
  { blocks, isSurveyed }: Pick<ObservedRange, 'blocks' | 'isSurveyed'>,
  cursor: Cursor | null,
): Promise<TierTimes> {
  const last = blocks.at(-1)
  if (!last) throw new Error('an observed range is never empty')
  const notBegun = await readNotBegun(pool, cursor)
  const timesOf = (firstAt: BlockTimes['firstAt']): TierTimes => {
    const times = { firstAt, last: last.number }
    return { ...times, isDue: dueOf(notBegun, times).length > 0 }
  }
  if (!isSurveyed) return timesOf((time) => blocks.find((block) => block.time >= time)?.number)
  const firstBlocks = new Map<number, number>()
  for (const { fromTime } of notBegun) {
    const first = firstBlocks.has(fromTime) ? null : await chain.agreedFirstBlockAt(fromTime, last.number)
    // A version that has not begun yet begins in the range at the earliest.
    if (first) firstBlocks.set(fromTime, Math.max(first.block.number, (cursor?.number ?? -1) + 1))
  }
  return timesOf((time) => {
    const first = firstBlocks.get(time)
    if (first !== undefined || time > last.time) return first
    throw new ChainFault('a change of a tier was entered while its first block was read')
  })
}

/** The versions whose first block a range sets or moves. A version entered immediately that does not begin in the range begins after it. */
export const readDue = async (sql: Sql, times: BlockTimes, cursor: Cursor | null): Promise<FirstBlock[]> =>
  dueOf(await readNotBegun(sql, cursor), times)

const dueOf = (notBegun: readonly FirstBlock[], { firstAt, last }: BlockTimes): FirstBlock[] =>
  notBegun.flatMap(({ fromBlock: before, ...one }) => {
    const fromBlock = firstAt(one.fromTime) ?? (before === null ? null : Math.max(before, last + 1))
    return fromBlock === before ? [] : { ...one, fromBlock }
  })

/** Stores the changes that take effect in a range, and reports those that no longer fit. Run under the locks of the tiers' table and of the cursor. */
export async function applyChanges(ctx: Logging, sql: Sql, times: BlockTimes, cursor: Cursor | null): Promise<void> {
  await moveFirstBlocks(sql, await readDue(sql, times, cursor))
  const plans = await readTierPlans(sql, cursor?.time ?? 0)
  const due = plans.filter(({ fromTime }) => times.firstAt(fromTime) !== undefined)
  // So that no other session takes places or opens a step in the meantime.
  await lockTiers(sql, [...new Set(due.map(({ tierNo }) => tierNo))], { wait: true })
  const { fit, unfit } = readChanges(await readTierVersions(sql), due)
  const changes = fit.map(({ before, version: { version, ...terms } }) => {
    const fromBlock = times.firstAt(terms.fromTime) as number
    return { before: termsOf(before), after: { ...termsOf(terms), version, fromBlock } }
  })
  await storeTierChanges(
    sql,
    changes.map(({ after }) => after),
  )
  for (const { before, after } of changes)
    await writeAudit(sql, { actor: 'pass', action: 'tierChanged', subject: after.tierId, detail: { before, after } })
  for (const { plan, why } of unfit) {
    const { tierId, version, fromTime, names } = plan
    const says = 'a planned change of a tier no longer fits, so it did not take effect'
    const detail = { tierId, version, fromTime, names, why }
    await raiseAlarm(ctx, sql, { action: 'tierUnfit', subject: tierId, says, detail })
  }
  await notifyLedgerChanged(sql)
}
