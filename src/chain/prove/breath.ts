// Gives way to the event loop while many hashes are computed, so that requests wait no longer for it than for anything else. It bounds no time
// in all: what is computed is bounded by who asks.
import { setImmediate } from 'node:timers/promises'

/** Work goes on for this long at a stretch. */
const STRETCH_MS = 5

/** To be called between two pieces of work that each take far less than a stretch. */
export type Breath = () => Promise<void> | null

/** A new stretch of work. */
export function breath(): Breath {
  let until = performance.now() + STRETCH_MS
  return () => {
    if (performance.now() < until) return null
    return setImmediate().then(() => {
      until = performance.now() + STRETCH_MS
    })
  }
}
