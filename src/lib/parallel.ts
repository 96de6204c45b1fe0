// Works on a list with limited concurrency. It must never swallow a failure: it throws the first one, once all the work in flight has ended.

/** Maps a list in order, with at most `inFlight` promises pending. The first failure stops new work and is thrown. */
export async function mapBounded<T, R>(
  items: readonly T[],
  inFlight: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results = new Array<R>(items.length)
  let next = 0
  let hasFailed = false
  async function work(): Promise<void> {
    while (!hasFailed && next < items.length) {
      const index = next++
      try {
        results[index] = await map(items[index] as T, index)
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
  }
  const outcomes = await Promise.allSettled(Array.from({ length: Math.min(inFlight, items.length) }, work))
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  return results
}

/** Cuts a list into consecutive pieces of at most `size` items. */
export function chunks<T>(items: readonly T[], size: number): T[][] {
  const pieces: T[][] = []
  for (let start = 0; start < items.length; start += size) pieces.push(items.slice(start, start + size))
  return pieces
}
