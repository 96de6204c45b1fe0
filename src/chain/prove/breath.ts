// Yields to the event loop while we compute many hashes, so that requests need not wait for all of them. It does not limit the total time; callers
// limit how much they compute.
import { setImmediate } from 'node:timers/promises'

/** How long work may run before it must yield. */
const STRETCH_MS = 5

/** Await it between pieces of work that each take far less than STRETCH_MS. It yields if STRETCH_MS have passed. */
export type Breath = () => Promise<void> | null

/** Starts to measure a stretch of work. */
export function breath(): Breath {
  let until = performance.now() + STRETCH_MS
  return () => {
    if (performance.now() < until) return null
    return setImmediate().then(() => {
      until = performance.now() + STRETCH_MS
    })
  }
}
