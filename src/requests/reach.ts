// Waits, for a request, until the ledger has followed to a block: by having the payments pass run, never by following
// beside it.
import { setTimeout as sleep } from 'node:timers/promises'
import { orNull } from '../chain/faults.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { ChainRead, LedgerDb, Logging, Polling } from '../passes/context.ts'
import type { PaymentsOutcome } from '../passes/outcomes.ts'

/** Pauses between two questions whether there is a new block. */
const HEAD_PAUSES = 5

/** The newest block for which a whole run has done all it could: another run would change nothing. */
export interface Looks {
  lookedAt: Hash | null
}

/**
 * Waits until the ledger has followed to a block and `done` holds there, by one run of the payments pass for each new block of the chain.
 * False when that takes longer than a request may; the pass goes on all the same. `looks` is shared by those who wait for the same.
 */
export async function reachBlock(
  ctx: LedgerDb & ChainRead & Polling & Logging,
  blockNumber: number,
  runPayments: () => Promise<PaymentsOutcome>,
  { done = async () => true, looks = { lookedAt: null } }: { done?: () => Promise<boolean>; looks?: Looks } = {},
): Promise<boolean> {
  const { waitMs, looksMax, pauseMs } = ctx.pollPolicy
  const deadline = performance.now() + waitMs
  const reached = async () => {
    const cursor = await readCursor(ctx.pool)
    return cursor !== null && cursor.number >= blockNumber && (await done())
  }
  for (let look = 0; look < looksMax && performance.now() < deadline; look++) {
    if (await reached()) return true
    const looked = await lookOnce(ctx, runPayments, looks)
    if (looked && (await reached())) return true
    await sleep(looked ? pauseMs : pauseMs * HEAD_PAUSES)
  }
  return false
}

/** Runs the pass unless a whole run was made for the chain's newest block already. @returns whether it was run. */
export async function lookOnce(
  ctx: ChainRead & Polling & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
  looks: Looks,
): Promise<boolean> {
  const head = await orNull(ctx.chain.head())
  if (head !== null && head.hash === looks.lookedAt) return false
  looks.lookedAt = head?.hash ?? null
  const outcome = await triggerPaymentsPass(ctx, runPayments)
  // A run whose provider lags has not looked at this block.
  const whole = outcome?.ran === true && (outcome.headBlock ?? 0) >= (head?.number ?? 0)
  if (!whole && looks.lookedAt === head?.hash) looks.lookedAt = null
  return true
}

/** Starts the payments pass once, and waits for it no longer than a request may. Null where it takes longer, or fails. */
async function triggerPaymentsPass(
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
