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
  const { looksMax, pauseMs } = ctx.pollPolicy
  const leftMs = timeLeft(ctx)
  const reached = async () => {
    const cursor = await readCursor(ctx.pool)
    return cursor !== null && cursor.number >= blockNumber && (await done())
  }
  for (let look = 0; look < looksMax && leftMs() > 0; look++) {
    if (await reached()) return true
    const looked = await lookOnce(ctx, runPayments, looks, leftMs)
    if (looked && (await reached())) return true
    await sleep(Math.min(leftMs(), looked ? pauseMs : pauseMs * HEAD_PAUSES))
  }
  return false
}

/** Counts down the wait of a request, which all of its looks and runs share. */
function timeLeft({ pollPolicy }: Polling): () => number {
  const end = performance.now() + pollPolicy.waitMs
  return () => Math.max(0, end - performance.now())
}

/**
 * Runs the pass unless a whole run was made for the chain's newest block already, and waits `leftMs` at most. @returns whether it was run.
 */
export async function lookOnce(
  ctx: ChainRead & Polling & Logging,
  runPayments: () => Promise<PaymentsOutcome>,
  looks: Looks,
  leftMs: () => number = timeLeft(ctx),
): Promise<boolean> {
  const head = await within(leftMs(), orNull(ctx.chain.head()), () => null)
  if (head !== null && head.hash === looks.lookedAt) return false
  looks.lookedAt = head?.hash ?? null
  const outcome = await triggerPaymentsPass(ctx, runPayments, leftMs())
  // A run whose provider lags has not looked at this block.
  const whole = outcome?.ran === true && (outcome.headBlock ?? 0) >= (head?.number ?? 0)
  if (!whole && looks.lookedAt === head?.hash) looks.lookedAt = null
  return true
}

/** Starts the payments pass once, and waits for it no longer than `waitMs`. Null where it takes longer, or fails. */
async function triggerPaymentsPass(
  ctx: Logging,
  runPayments: () => Promise<PaymentsOutcome>,
  waitMs: number,
): Promise<PaymentsOutcome | null> {
  // Its faults are on record, and what counts here is where the ledger stands.
  const pass = runPayments().catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'a pass that a request started stopped')
    return null
  })
  return await within(waitMs, pass, () => null)
}
