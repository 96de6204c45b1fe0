// The clock of a seed. Time passes with requests to providers instead of with the machine, so a slow machine finds what a fast one finds.

/** Milliseconds that a request takes. */
const REQUEST_MS = 1

let heldMs: number | null = null

/** Stops this process's `performance.now()`. @returns a function that makes it run again. */
export function holdClock(): () => void {
  const running = performance.now
  heldMs = running.call(performance)
  performance.now = () => heldMs ?? running.call(performance)
  return () => {
    performance.now = running
    heldMs = null
  }
}

/** Moves the held clock by one request. */
export function passRequest(): void {
  if (heldMs !== null) heldMs += REQUEST_MS
}
