// Makes a request wait until the ledger has followed to a block. It triggers the payments pass, and must never follow beside it.
import { setTimeout as sleep } from 'node:timers/promises'
import { orNull } from '../chain/faults.ts'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { ChainRead, LedgerDb, Logging, Polling } from '../passes/context.ts'
import type { PaymentsOutcome } from '../passes/outcomes.ts'

/** How many pauses we wait before the next look if there was no new block. */
const HEAD_PAUSES = 5

/** The newest block for which a full run has done all it could, so another run would change nothing. */
export interface Looks {
  lookedAt: Hash | null
}

/**
 * Waits until the ledger has followed to a block and `done` is true there, with one run of the payments pass for each new block of the chain. False
 * if that takes longer than a request may; the pass continues regardless. Callers that wait for the same thing share `looks`.
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

/** Counts down the time that a request may wait, for all its looks and runs together. */
function timeLeft({ pollPolicy }: Polling): () => number {
  const end = performance.now() + pollPolicy.waitMs
  return () => Math.max(0, end - performance.now())
}

/** Runs the pass unless a full run has already covered the chain's newest block, and waits at most `leftMs`. @returns whether it ran. */
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
  // If the run's provider lagged, the run has not covered this block.
  const whole = outcome?.ran === true && (outcome.headBlock ?? 0) >= (head?.number ?? 0)
  if (!whole && looks.lookedAt === head?.hash) looks.lookedAt = null
  return true
}

/** Starts the payments pass once, and waits for it no longer than `waitMs`. Null if it takes longer, or fails. */
async function triggerPaymentsPass(
  ctx: Logging,
  runPayments: () => Promise<PaymentsOutcome>,
  waitMs: number,
): Promise<PaymentsOutcome | null> {
  // The pass records its own faults; only the ledger's position matters here.
  const pass = runPayments().catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'a pass that a request started stopped')
    return null
  })
  return await within(waitMs, pass, () => null)
}
