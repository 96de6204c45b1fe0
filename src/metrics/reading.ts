// A read that scrapes share: at most once in an interval, one at a time, with a timeout. Null is "could not be read"; it never throws.
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
