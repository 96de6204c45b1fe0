// Waits, for a request, until the ledger has followed to a block: by having the payments pass run, never by following
// beside it.
import { setTimeout as sleep } from 'node:timers/promises'
import { readCursor } from '../../db/blocks.ts'
import { within } from '../../lib/deadline.ts'
import type { LedgerDb, Logging, Polling } from '../context.ts'
import type { PaymentsOutcome } from '../outcomes.ts'

/**
 * Starts the payments pass, and waits until the ledger has followed to a block and `done` holds there, or a whole run there has done what it
 * could. False when that takes longer than a request may; the pass goes on all the same.
 */
export async function reachBlock(
  ctx: LedgerDb & Polling & Logging,
  blockNumber: number,
  runPayments: () => Promise<PaymentsOutcome>,
  done: () => Promise<boolean> = async () => true,
): Promise<boolean> {
  const { waitMs, looksMax, pauseMs } = ctx.pollPolicy
  const deadline = performance.now() + waitMs
  const reached = async (outcome: PaymentsOutcome | null) => {
    const cursor = await readCursor(ctx.pool)
    return cursor !== null && cursor.number >= blockNumber && (outcome?.ran === true || (await done()))
  }
  for (let look = 0; look < looksMax && performance.now() < deadline; look++) {
    if (await reached(null)) return true
    if (await reached(await triggerPaymentsPass(ctx, runPayments))) return true
    await sleep(pauseMs)
  }
  return false
}

/** Starts the payments pass once, and waits for it no longer than a request may. Null where it takes longer, or fails. */
export async function triggerPaymentsPass(
  ctx: Polling & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
): Promise<PaymentsOutcome | null> {
  // Its faults are on record, and what counts here is where the ledger stands.
  const pass = runPayments().catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'a pass that a request started stopped')
    return null
  })
  return await within(ctx.pollPolicy.waitMs, pass, () => null)
}
