// A reading that scrapes share: made at most once in a while, by one at a time, and given up on after its budget. Null is
// "could not be read"; it never throws.
import { shared } from '../lib/cache.ts'
import { inTimeOrNull } from '../lib/deadline.ts'

/** Shares `read`: an answer is kept for `keepMs`, and no caller waits longer than `budgetMs`. */
export function sharedReading<T>(
  read: () => Promise<T>,
  { keepMs, budgetMs }: { keepMs: number; budgetMs: number },
): () => Promise<T | null> {
  const kept = shared(read, { ageMaxMs: keepMs, clock: () => performance.now() })
  return () => inTimeOrNull(budgetMs, kept)
}
