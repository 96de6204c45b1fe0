// Around every pass: one run at a time (in this process and across instances), a time budget, its outcome on record.
import { type LockName, withLock } from '../db/locks.ts'
import { passFinished, passStarted } from '../db/passes.ts'
import type { Lock, PassContext, Run } from './context.ts'
import { HaltFault, raiseHalt } from './steps/halt.ts'

/** A run starts nothing new after this long, so that the next one, with fresh eyes, goes on where it stopped. */
const BUDGET_MS = 20_000

/**
 * Wraps a pass. Where the passes are halted it answers what `halted` says, and has sent nothing.
 * @returns a function that runs it, or answers null when another run holds the lock. Faults are recorded, then thrown on.
 */
export function passRunner<T extends object>(
  ctx: PassContext,
  name: LockName,
  body: (run: Run) => Promise<T>,
  halted: () => Promise<T>,
): () => Promise<T | null> {
  let running = false
  const lock: Lock = ctx.lock ?? ((lockName, run) => withLock(ctx.directUrl, lockName, run))
  return async () => {
    if (running) return null
    running = true
    try {
      return await lock(name, (signal) => recorded(ctx, name, body, halted, signal))
    } finally {
      running = false
    }
  }
}

async function recorded<T extends object>(
  ctx: PassContext,
  name: LockName,
  body: (run: Run) => Promise<T>,
  halted: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + BUDGET_MS
  await passStarted(ctx.pool, name)
  try {
    await ctx.ready?.()
    const outcome = await body({
      checkLock: () => signal.throwIfAborted(),
      outOfTime: () => performance.now() > deadline || signal.aborted,
    })
    await passFinished(ctx.pool, name, { outcome })
    return outcome
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof HaltFault) {
      await raiseHalt(ctx, error)
      await passFinished(ctx.pool, name, { error: message })
      return await halted()
    }
    ctx.log.warn({ pass: name, err: error }, 'pass stopped: the next run goes on from here')
    await passFinished(ctx.pool, name, { error: message }).catch(() => {})
    throw error
  }
}
