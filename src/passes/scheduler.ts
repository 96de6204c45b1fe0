// The built-in timer (SCHEDULER=on): runs the payments pass, then the credit pass, every tick, and sooner while payments are pending. An external
// scheduler can call the cron routes instead; both at once are harmless.
import { MINT_BATCH_MAX } from '../domain/send.ts'
import type { Log } from '../lib/log.ts'
import type { Passes, PaymentsOutcome } from './outcomes.ts'

export interface Scheduler {
  /** Runs the payments pass for other callers. If it finds a pending payment, the timer shortens its current pause. */
  readonly payments: () => Promise<PaymentsOutcome>
  /** Starts ticking; the first tick is immediate. @returns a function that stops the timer and resolves when the current pass has ended. */
  start(): () => Promise<void>
}

/** While a payment is pending, ticks come this much faster, because a buyer is watching. */
const HURRY = 5
/** The shortest pause, and every pause in a backlog, so that the next batch is signed as soon as the previous one is mined. */
const PAUSE_MS_MIN = 1_000
/** If this many runs in a row did not shorten a backlog, it waits for something other than a block, because blocks come sooner than that. */
const FRUITLESS_MAX = 15

/** Builds the passes' timer. A pass that stopped on a fault has reported it, and the next tick tries again. */
export function createScheduler(passes: Pick<Passes, 'payments' | 'credit'>, tickSec: number, log: Log): Scheduler {
  const pauses = createPauses(tickSec)
  let stopped = false
  const run = <T>(pass: () => Promise<T>) =>
    pass().catch((error: unknown) => {
      log.debug({ err: error }, 'the tick goes on without this pass')
      return null
    })
  const loop = async () => {
    while (!stopped) {
      const paid = await run(passes.payments)
      pauses.learn(paid, { own: true })
      if (!stopped) await run(() => passes.credit(paid))
      if (!stopped) await pauses.pause()
    }
  }
  return {
    async payments() {
      const outcome = await passes.payments()
      pauses.learn(outcome, { own: false })
      return outcome
    },
    start() {
      const ended = loop()
      return () => {
        stopped = true
        pauses.end()
        return ended
      }
    },
  }
}

/** The pauses between two runs, depending on what the runs found. */
function createPauses(tickSec: number) {
  let pending = 0
  /** True from when there are more pending payments than fit in one mint, until none is left. */
  let backlog = false
  let fruitless = 0
  let end = () => {}
  let shorten = () => {}
  const lengthMs = () => {
    if (pending === 0) return tickSec * 1_000
    return backlog && fruitless <= FRUITLESS_MAX ? PAUSE_MS_MIN : Math.max(PAUSE_MS_MIN, (tickSec * 1_000) / HURRY)
  }
  return {
    end: () => end(),
    /** Takes in a run's outcome and may shorten the current pause. `own`: the timer's own run. Null if it failed. */
    learn(outcome: PaymentsOutcome | null, { own }: { own: boolean }): void {
      // A run that did not take place counted nothing. After a failed run we wait a tick, or less in a backlog.
      const found = outcome?.pending ?? (outcome || backlog ? pending : 0)
      if (own) fruitless++
      if (found < pending) fruitless = 0
      if (found > MINT_BATCH_MAX && !backlog) [backlog, fruitless] = [true, 0]
      if (found === 0) backlog = false
      pending = found
      shorten()
    },
    pause: () =>
      new Promise<void>((resolve) => {
        let endsAt = performance.now() + lengthMs()
        const wait = () => setTimeout(() => end(), endsAt - performance.now())
        let timer = wait()
        end = () => {
          clearTimeout(timer)
          shorten = () => {}
          resolve()
        }
        shorten = () => {
          endsAt = Math.min(endsAt, performance.now() + lengthMs())
          clearTimeout(timer)
          timer = wait()
        }
      }),
  }
}
