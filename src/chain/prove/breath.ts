// Yields to the event loop while many hashes are computed, so that requests wait no longer for that than for anything else. It does not bound the
// total time; the callers bound how much they compute.
import { setImmediate } from 'node:timers/promises'

/** Work goes on for this long before it yields. */
const STRETCH_MS = 5

/** Call it between two pieces of work that each take far less than that. */
export type Breath = () => Promise<void> | null

/** Starts a new stretch of work. */
export function breath(): Breath {
  let until = performance.now() + STRETCH_MS
  return () => {
    if (performance.now() < until) return null
    return setImmediate().then(() => {
      until = performance.now() + STRETCH_MS
    })
  }
}
