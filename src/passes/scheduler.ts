// The built-in timer (SCHEDULER=on): on every tick it runs the payments pass, then the credit pass. While payments are pending, ticks come sooner. An
// external scheduler can call the cron routes instead; using both is harmless.
import { MINT_BATCH_MAX } from '../domain/send.ts'
import type { Log } from '../lib/log.ts'
import type { Passes, PaymentsOutcome } from '../ports/outcomes.ts'

export interface Scheduler {
  /** Runs the payments pass for other callers. If it finds a pending payment, the timer's current pause gets shorter. */
  readonly payments: () => Promise<PaymentsOutcome>
  /** Starts the timer; the first tick is immediate. @returns a function that stops the timer and resolves when the current pass has ended. */
  start(): () => Promise<void>
}

/** While a payment is pending, ticks come this many times as fast, because a buyer is watching. */
const HURRY = 5
/** The shortest pause. While a backlog shrinks, every pause is this short, so that the next batch is signed as soon as the previous one is mined. */
const PAUSE_MS_MIN = 1_000
/**
 * If this many runs in a row did not shorten the backlog, pauses get longer again. New blocks have come meanwhile, so the backlog waits
 * for something else.
 */
const FRUITLESS_MAX = 15

/** Creates the timer for the passes. A pass that stops on a fault has already reported it; the next tick tries again. */
export function createScheduler(passes: Pick<Passes, 'payments' | 'credit'>, tickSec: number, log: Log): Scheduler {
  const pauses = createPauses(tickSec)
  let isStopped = false
  const run = <T>(pass: () => Promise<T>) =>
    pass().catch((error: unknown) => {
      log.debug({ err: error }, 'this tick continues without the pass')
      return null
    })
  const loop = async () => {
    while (!isStopped) {
      const outcome = await run(passes.payments)
      pauses.learn(outcome, { own: true })
      if (!isStopped) await run(() => passes.credit(outcome))
      if (!isStopped) await pauses.pause()
    }
  }
  return {
    async payments() {
      const outcome = await passes.payments()
      pauses.learn(outcome, { own: false })
      return outcome
    },
    start() {
      const loopEnd = loop()
      return () => {
        isStopped = true
        pauses.end()
        return loopEnd
      }
    },
  }
}

/** The pauses between two runs. Their length depends on what the runs found. */
function createPauses(tickSec: number) {
  let pending = 0
  /** Becomes true when more payments are pending than fit in one mint, and stays true until none is left. */
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
    /**
     * Learns from a run's outcome, and may shorten the current pause. The outcome is null if the run failed. `own`: true for the timer's own runs.
     */
    learn(outcome: PaymentsOutcome | null, { own }: { own: boolean }): void {
      // A run that did not take place counted nothing, so the last count stays. After a failed run we wait a full tick, unless there is a backlog.
      const pendingNow = outcome?.pending ?? (outcome || backlog ? pending : 0)
      if (own) fruitless++
      if (pendingNow < pending) fruitless = 0
      if (pendingNow > MINT_BATCH_MAX && !backlog) [backlog, fruitless] = [true, 0]
      if (pendingNow === 0) backlog = false
      pending = pendingNow
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
