// The built-in timer (SCHEDULER=on): runs the payments pass, then the credit pass, every tick, and sooner while payments are pending. An external
// scheduler that calls the cron routes does the same; both at once is harmless.
import { MINT_BATCH_MAX } from '../domain/send.ts'
import type { Log } from '../lib/log.ts'
import type { Passes, PaymentsOutcome } from './outcomes.ts'

export interface Scheduler {
  /** The payments pass for others to run. If it finds a pending payment, the timer does not wait for a distant tick. */
  readonly payments: () => Promise<PaymentsOutcome>
  /** Starts ticking; the first tick is now. @returns a function that starts no further pass, and resolves when the current one has ended. */
  start(): () => Promise<void>
}

/** While a payment is pending, ticks come this much faster, because a buyer is watching. */
const HURRY = 5
/** The shortest pause, and every pause in a backlog, because the next batch is signed as soon as the previous one is mined. */
const PAUSE_MS_MIN = 1_000
/** After this many runs in a row that did not shorten a backlog, it waits for something other than a block; blocks come sooner. */
const FRUITLESS_MAX = 15

/** Makes the timer of the passes. A pass that stops on a fault has reported it, and the next tick tries again. */
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

/** The pauses between two runs, by what runs have found. */
function createPauses(tickSec: number) {
  let pending = 0
  /** True if there is more than one mint carries, and then until the last of them is done. */
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
    /** Learns the outcome of a run: the timer's own, or another one, which shortens the current pause. Null if it failed. */
    learn(outcome: PaymentsOutcome | null, { own }: { own: boolean }): void {
      // A run that did not take place has counted nothing. A failed run is tried again a tick later, or sooner in a backlog.
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
