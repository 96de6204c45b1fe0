// Remembers readings for a short while and lets callers who ask at once share one question. It must never remember a
// failure, and never grow beyond its bound.

/** What a question came to: an answer (perhaps null, for "there is none"), or null for "could not ask". */
export type Outcome<T> = { answer: T } | null

export interface RememberOptions {
  /** How long an answer may be given again; 0: only to those who asked while it was under way. */
  ageMaxMs: number
  answersMax: number
  /** Milliseconds, never running backwards. */
  clock: () => number
}

/** Builds a memory; asking it answers null where the question could not be asked. `ask` must not reject. */
export function createMemory<T>(
  options: RememberOptions,
): (key: string, ask: () => Promise<Outcome<T>>) => Promise<T | null> {
  const remembered = new Map<string, { answer: T; until: number }>()
  const underWay = new Map<string, Promise<Outcome<T>>>()

  function keep(key: string, answer: T): void {
    if (options.ageMaxMs === 0) return
    const now = options.clock()
    // Insertion order is age: the oldest goes first, and what is too old for anybody goes, too.
    remembered.delete(key)
    remembered.set(key, { answer, until: now + options.ageMaxMs })
    for (const [oldest, { until }] of remembered) {
      if (remembered.size <= options.answersMax && now < until) break
      remembered.delete(oldest)
    }
  }

  return async (key, ask) => {
    const known = remembered.get(key)
    if (known && options.clock() < known.until) return known.answer
    let pending = underWay.get(key)
    if (!pending) {
      pending = ask().finally(() => underWay.delete(key))
      underWay.set(key, pending)
      const outcome = await pending
      if (outcome) keep(key, outcome.answer)
    }
    const outcome = await pending
    return outcome ? outcome.answer : null
  }
}
