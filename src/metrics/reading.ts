// A reading that scrapes share: made at most once in a while, by one at a time, and given up on after its budget. Null is
// "could not be read"; it never throws.
import { within } from '../lib/deadline.ts'

/** Shares `read`: an answer is kept for `keepMs`, and nobody waits longer than `budgetMs`. */
export function shared<T>(read: () => Promise<T>, { keepMs, budgetMs }: { keepMs: number; budgetMs: number }) {
  let kept: { value: T; at: number } | null = null
  let flight: Promise<T | null> | null = null
  const start = async (): Promise<T | null> => {
    try {
      const value = await read()
      kept = { value, at: performance.now() }
      return value
    } catch {
      return null
    } finally {
      flight = null
    }
  }
  return async (): Promise<T | null> => {
    if (kept && performance.now() - kept.at < keepMs) return kept.value
    flight ??= start()
    return within(budgetMs, flight, () => null)
  }
}
