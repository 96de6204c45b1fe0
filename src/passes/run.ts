// Wraps every pass: one run at a time (in this process and across instances), a time budget, and a record of the outcome.
import type { LockName } from '../db/core/locks.ts'
import { passFinished, passStarted } from '../db/core/passes.ts'
import { HaltFault, raiseHalt } from '../follower/halt.ts'
import { messageOf } from '../lib/errors.ts'
import type { LedgerDb, Logging, Preflight, Run, RunLock } from '../ports/contexts.ts'

/** After this long a run starts nothing new. The next run continues, with fresh reads. */
const BUDGET_MS = 20_000
/** If a run has not ended after this long, it is stuck on a database lock or a provider, and we log that. */
const OVERDUE_MS = 60_000

/** A pass: what one run does. Its lock and its record have the same name as the pass. */
interface Pass<T, Input> {
  name: LockName
  body(run: Run, input: Input): Promise<T>
  /** The outcome to return while the passes are halted. It must send nothing. */
  halted(): Promise<T>
}

/**
 * Wraps a pass.
 * @returns a function that runs the pass, or returns null if another run holds the lock. A fault is recorded, logged and rethrown. A halt is recorded, and gives `halted()`.
 */
export function passRunner<T extends object, Input = void>(
  ctx: LedgerDb & RunLock & Preflight & Logging,
  pass: Pass<T, Input>,
  overdueMs = OVERDUE_MS,
): (input: Input) => Promise<T | null> {
  const { name } = pass
  let running = false
  const logOverdue = () =>
    ctx.log.error(
      { pass: name, seconds: overdueMs / 1_000 },
      'a pass has not ended: it waits for the database or a provider',
    )
  return async (input) => {
    if (running) return null
    running = true
    const overdue = setTimeout(logOverdue, overdueMs).unref()
    try {
      return await ctx.lock(name, (signal) => recorded(ctx, { ...pass, body: (run) => pass.body(run, input) }, signal))
    } catch (error) {
      ctx.log.error({ pass: name, err: error }, 'pass stopped; the next run continues from here')
      throw error
    } finally {
      clearTimeout(overdue)
      running = false
    }
  }
}

async function recorded<T extends object>(
  ctx: LedgerDb & Preflight & Logging,
  { name, body, halted: onHalt }: Pass<T, void>,
  signal: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + BUDGET_MS
  await passStarted(ctx.pool, name)
  try {
    const facts = await ctx.preflight()
    let fault: string | null = null
    const outcome = await body({
      ...facts,
      agreed: null,
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
      return await onHalt()
    }
    await passFinished(ctx.pool, name, { error: message }).catch(() => {})
    throw error
  }
}
