/** Longest time that something may take; generous, since machines are slow at times. */
const WAIT_MS = 60_000
/** Between two looks; oftener, and it may meet the service's limits on callers. */
const PAUSE_MS = 250

/** Asks until the answer is neither null nor false, nor an error, and gives it. Throws the last error, or says what it waited for in vain. */
export async function until<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  waitMs = WAIT_MS,
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
