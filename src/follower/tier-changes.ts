// Lets changes of tiers that were entered ahead take effect, in the transaction that stores the first block of their time. Both the block and the terms
// are stored then, so that judging and pages read a version like any other. A reorganisation takes them back (rewind.ts).
import type { Cursor } from '../db/blocks/blocks.ts'
import type { Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import { lockTiers } from '../db/payments/lock-order.ts'
import { readTierPlans, readTierVersions, storeTierChanges } from '../db/sale/tiers.ts'
import type { ObservedRange } from '../domain/observed.ts'
import { readChanges, termsOf } from '../domain/sale/changes.ts'
import type { ChainRead, LedgerDb, Logging } from '../ports/contexts.ts'
import { ChainFault } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'

/** The first block of each time at which a planned change takes effect in a range. */
export type ChangeBlocks = ReadonlyMap<number, number>

const afterOf = (expected: Cursor | null) => expected?.time ?? 0

/** Finds the blocks in which planned changes take effect. Asks the chain only if the range was not read whole. */
export async function readChangeBlocks(
  { pool, chain }: LedgerDb & ChainRead,
  { blocks, isSurveyed }: ObservedRange,
  expected: Cursor | null,
): Promise<ChangeBlocks> {
  const last = blocks.at(-1)
  const due = (await readTierPlans(pool, afterOf(expected))).filter(({ fromTime }) => fromTime <= (last?.time ?? 0))
  const found = new Map<number, number>()
  for (const { fromTime } of due) {
    const asked = isSurveyed && last ? await chain.agreedFirstBlockAt(fromTime, last.number) : null
    const block = asked?.block ?? blocks.find(({ time }) => time >= fromTime)
    if (block) found.set(fromTime, block.number)
  }
  return found
}

/** Stores the changes that take effect in these blocks, and reports those that no longer fit. Run under the locks of the tiers' table and of the cursor. */
export async function applyChanges(
  ctx: Logging,
  sql: Sql,
  blocks: ChangeBlocks,
  expected: Cursor | null,
): Promise<void> {
  if (blocks.size === 0) return
  const due = (await readTierPlans(sql, afterOf(expected))).filter(({ fromTime }) => blocks.has(fromTime))
  // So that no other session takes places or opens a step in the meantime.
  await lockTiers(sql, [...new Set(due.map(({ tierNo }) => tierNo))], { wait: true })
  const { fit, unfit } = readChanges(await readTierVersions(sql), due)
  const changes = fit.map(({ before, version }) => {
    const fromBlock = blocks.get(version.fromTime)
    if (fromBlock === undefined) throw new ChainFault('a planned change has no block', { retryable: true })
    return { before: termsOf(before), after: { ...termsOf(version), version: version.version, fromBlock } }
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
