// Records a block that stops one run after another although providers answer. Reports it once it has lasted, because no other check would show it.
import { ChainFault } from '../chain/faults.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import { noteStuck } from '../db/blocks/stuck.ts'
import { inTransaction } from '../db/core/sql.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { raiseAlarm } from './alarm.ts'

/** Runs `follow`. If that throws a retryable fault, records it with the block at which following stopped, and rethrows it. */
export async function tellingStuck(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  follow: () => Promise<void>,
): Promise<void> {
  try {
    await follow()
  } catch (error) {
    if (error instanceof ChainFault && error.retryable) await noteFault(ctx, error)
    throw error
  }
}

async function noteFault(ctx: LedgerDb & RuledBy<FollowRules> & Logging, fault: ChainFault): Promise<void> {
  const cursor = await readCursor(ctx.pool)
  const block = cursor ? cursor.number + 1 : ctx.rules.startBlock
  await inTransaction(ctx.pool, async (sql) => {
    const told = await noteStuck(sql, { block, rule: fault.message, host: fault.host })
    if (!told) return
    const says = 'one block stops every run although providers answer: no later block is followed'
    await raiseAlarm(ctx, sql, { action: 'stuck', subject: String(block), detail: told, level: 'error', says })
  })
}
