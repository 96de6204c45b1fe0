// Stops the demo for a reason that a person can fix. Its message says what happened and what to do.
export class Trouble extends Error {
  override readonly name = 'Trouble'
}

/** Polls until an answer is not null. If none comes in time, throws a Trouble that says `late`. */
export async function until<T>(
  read: () => Promise<T | null>,
  { everyMs, withinMs, late }: { everyMs: number; withinMs: number; late: string },
): Promise<T> {
  const end = Date.now() + withinMs
  for (;;) {
    const found = await read()
    if (found !== null) return found
    if (Date.now() > end) throw new Trouble(late)
    await sleep(everyMs)
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
