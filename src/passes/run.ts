// Around every pass: one run at a time (in this process and across instances), a time budget, its outcome on record.
import type { LockName } from '../db/core/locks.ts'
import { passFinished, passStarted } from '../db/core/passes.ts'
import { HaltFault, raiseHalt } from '../follower/halt.ts'
import { messageOf } from '../lib/errors.ts'
import type { LedgerDb, Logging, Preflight, Run, RunLock } from './context.ts'

/** A run starts nothing new after this long, so that the next one, with fresh eyes, goes on where it stopped. */
const BUDGET_MS = 20_000

/** A pass: its name, which is its lock's and its record's, and what one run of it does. */
interface Pass<T, Given> {
  name: LockName
  body(run: Run, given: Given): Promise<T>
  /** The answer where the passes are halted; nothing was sent then. */
  halted(): Promise<T>
}

/**
 * Wraps a pass.
 * @returns a function that runs it, or answers null when another run holds the lock. Faults are recorded, then thrown on.
 */
export function passRunner<T extends object, Given = void>(
  ctx: LedgerDb & RunLock & Preflight & Logging,
  pass: Pass<T, Given>,
): (given: Given) => Promise<T | null> {
  let running = false
  return async (given) => {
    if (running) return null
    running = true
    try {
      return await ctx.lock(pass.name, (signal) =>
        recorded(ctx, { ...pass, body: (run) => pass.body(run, given) }, signal),
      )
    } finally {
      running = false
    }
  }
}

async function recorded<T extends object>(
  ctx: LedgerDb & Preflight & Logging,
  { name, body, halted }: Pass<T, void>,
  signal: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + BUDGET_MS
  await passStarted(ctx.pool, name)
  try {
    const facts = await ctx.preflight()
    let fault: string | null = null
    const outcome = await body({
      ...facts,
      checkLock: () => signal.throwIfAborted(),
      outOfTime: () => performance.now() > deadline || signal.aborted,
      reportFault: (message) => {
        fault = message
      },
    })
    await passFinished(ctx.pool, name, { outcome, error: fault })
    return outcome
  } catch (error) {
    const message = messageOf(error)
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
