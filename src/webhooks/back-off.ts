// The back-off of a failed delivery: the schedule that Standard Webhooks recommends. worker.ts goes by it; sign.ts signs. Pure.

/** Seconds after each attempt; the first is made at once. Ten attempts, over three days. */
const WAITS_SEC = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** The jitter, as a share of a wait: deliveries that failed together must not come back together. */
const JITTER = 0.1

/** Seconds until the next attempt after the one that failed (counted from 1); null when that was the last. `random` is 0 to 1. */
export function retryAfterSec(attempt: number, random: number): number | null {
  const wait = WAITS_SEC[attempt - 1]
  return wait === undefined ? null : wait * (1 + JITTER * random)
}
