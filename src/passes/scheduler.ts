// The built-in timer (SCHEDULER=on): runs the payments pass, then the credit pass, every tick. An external scheduler that
// calls the cron routes does the same; both at once is harmless.
import type { Log } from '../lib/log.ts'
import type { Passes } from './outcomes.ts'

export interface Scheduler {
  /** Starts no further pass, and resolves when the one under way has ended. */
  stop(): Promise<void>
}

/** While a payment is on its way, ticks come so much faster: a buyer is watching. */
const HURRY = 5

/** Starts ticking; the first tick is now. A pass that stops on a fault has said so itself, and the next tick tries again. */
export function startScheduler(passes: Pick<Passes, 'payments' | 'credit'>, tickSec: number, log: Log): Scheduler {
  let stopped = false
  let wake = () => {}
  const pause = (hurried: boolean) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, hurried ? Math.max(1_000, (tickSec * 1_000) / HURRY) : tickSec * 1_000)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = <T>(pass: () => Promise<T>) =>
    pass().catch((error: unknown) => {
      log.debug({ err: error }, 'the tick goes on without this pass')
      return null
    })
  const loop = async () => {
    while (!stopped) {
      const paid = await run(passes.payments)
      if (!stopped) await run(() => passes.credit(paid))
      if (!stopped) await pause((paid?.pending ?? 0) > 0)
    }
  }
  const ended = loop()
  return {
    stop() {
      stopped = true
      wake()
      return ended
    },
  }
}
