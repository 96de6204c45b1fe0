// Makes a request wait until the ledger has followed to a block. It starts the payments pass for this, and must never follow on its own.
import { setTimeout as sleep } from 'node:timers/promises'
import { readCursor } from '../db/blocks/blocks.ts'
import type { Hash } from '../domain/units.ts'
import { within } from '../lib/deadline.ts'
import type { ChainRead, LedgerDb, Logging, Polling } from '../ports/contexts.ts'
import { orNull } from '../ports/faults.ts'
import type { PaymentsOutcome } from '../ports/outcomes.ts'

/** How many pauses we wait before we look again, if there was no new block. */
const HEAD_PAUSES = 5

/** The newest block that a complete run has covered. Another run at that block would change nothing. */
export interface Looks {
  lookedAt: Hash | null
}

/**
 * Waits until the ledger has followed to a block and `isDone` returns true. Runs the payments pass once for each new block of the chain. False if that
 * takes longer than a request may wait; the pass continues nevertheless. Callers that wait for the same thing share `looks`.
 */
export async function reachBlock(
  ctx: LedgerDb & ChainRead & Polling & Logging,
  blockNumber: number,
  runPayments: () => Promise<PaymentsOutcome>,
  { isDone = async () => true, looks = { lookedAt: null } }: { isDone?: () => Promise<boolean>; looks?: Looks } = {},
): Promise<boolean> {
  const { looksMax, pauseMs } = ctx.pollPolicy
  const leftMs = timeLeft(ctx)
  const hasReached = async () => {
    const cursor = await readCursor(ctx.pool)
    return cursor !== null && cursor.number >= blockNumber && (await isDone())
  }
  for (let look = 0; look < looksMax && leftMs() > 0; look++) {
    if (await hasReached()) return true
    const hasLooked = await lookOnce(ctx, runPayments, looks, leftMs)
    if (hasLooked && (await hasReached())) return true
    await sleep(Math.min(leftMs(), hasLooked ? pauseMs : pauseMs * HEAD_PAUSES))
  }
  return false
}

/** Returns a function that returns how much time is left: the time that a request may wait, for all its looks and runs together. */
function timeLeft({ pollPolicy }: Polling): () => number {
  const end = performance.now() + pollPolicy.waitMs
  return () => Math.max(0, end - performance.now())
}

/** Runs the pass unless a complete run has already covered the chain's newest block. Waits at most `leftMs`. @returns true if it ran the pass. */
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
  // If the run's provider is lagging, the run has not covered this block.
  const whole = outcome?.ran === true && (outcome.headBlock ?? 0) >= (head?.number ?? 0)
  if (!whole && looks.lookedAt === head?.hash) looks.lookedAt = null
  return true
}

/** Starts the payments pass once, and waits for it at most `waitMs` milliseconds. Null if the pass takes longer or fails. */
async function triggerPaymentsPass(
  ctx: Logging,
  runPayments: () => Promise<PaymentsOutcome>,
  waitMs: number,
): Promise<PaymentsOutcome | null> {
  // The pass records its own faults. Here only how far the ledger has followed matters.
  const pass = runPayments().catch((error: unknown) => {
    ctx.log.warn({ err: error }, 'a request started a pass, which stopped')
    return null
  })
  return await within(waitMs, pass, () => null)
}
