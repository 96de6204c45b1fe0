/**
 * A time-out only ends what hangs, so no test fails because its machine is slow. The slowest single wait takes a minute on two quiet
 * cores. This is ten times as long.
 */
export const HANGING_MS = 600_000
/** Between two looks; oftener, and it may meet the service's limits on callers. */
const PAUSE_MS = 250

/** Asks until the answer is neither null nor false, nor an error, and gives it. Throws the last error, or says what it waited for in vain. */
export async function until<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  waitMs = HANGING_MS,
  pauseMs = PAUSE_MS,
): Promise<T> {
  const deadline = Date.now() + waitMs
  for (;;) {
    try {
      const answer = await ask()
      if (answer !== null && answer !== false) return answer
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
    if (Date.now() > deadline) throw new Error(`waited ${waitMs} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}
