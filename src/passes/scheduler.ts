// The built-in timer (SCHEDULER=on): runs the payments pass, then the credit pass, every tick. An external scheduler that
// calls the cron routes does the same; both at once is harmless.
import type { Log } from '../log.ts'
import type { Passes } from './outcomes.ts'

export interface Scheduler {
  /** Starts no further pass, and resolves when the one under way has ended. */
  stop(): Promise<void>
}

/** Starts ticking; the first tick is now. A pass that stops on a fault has said so itself, and the next tick tries again. */
export function startScheduler(passes: Pick<Passes, 'payments' | 'credit'>, tickSec: number, log: Log): Scheduler {
  let stopped = false
  let wake = () => {}
  const pause = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, tickSec * 1_000)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const loop = async () => {
    while (!stopped) {
      for (const pass of [passes.payments, passes.credit]) {
        if (!stopped)
          await pass().catch((error: unknown) => log.debug({ err: error }, 'the tick goes on without this pass'))
      }
      if (!stopped) await pause()
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
