// Records a block that stops one run after another although providers answer. Reports it once it has lasted, because no other check would show it.

import { readCursor } from '../db/blocks/blocks.ts'
import { noteStuck } from '../db/blocks/stuck.ts'
import { inTransaction } from '../db/core/sql.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { ChainFault, RpcFault } from '../ports/faults.ts'
import { raiseAlarm } from './alarm.ts'

/**
 * Runs `follow`. If that throws a retryable fault, records it with the block at which following stopped, and rethrows it. `isStuck`: which faults stop
 * one block, rather than all requests.
 */
export async function tellingStuck<T>(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  follow: () => Promise<T>,
  isStuck: (fault: ChainFault) => boolean = () => true,
): Promise<T> {
  try {
    return await follow()
  } catch (error) {
    if (error instanceof ChainFault && error.retryable && isStuck(error)) await noteFault(ctx, error)
    throw error
  }
}

/** True if a provider answered. */
export const isAnswered = (fault: ChainFault): boolean => !(fault instanceof RpcFault)

async function noteFault(ctx: LedgerDb & RuledBy<FollowRules> & Logging, fault: ChainFault): Promise<void> {
  const cursor = await readCursor(ctx.pool)
  const block = cursor ? cursor.number + 1 : ctx.rules.startBlock
  await inTransaction(ctx.pool, async (sql) => {
    const trouble = await noteStuck(sql, { block, rule: fault.message, host: fault.host })
    if (!trouble) return
    const says = 'one block stops every run although providers answer: no later block is followed'
    await raiseAlarm(ctx, sql, { action: 'stuck', subject: String(block), detail: trouble, level: 'error', says })
  })
}
