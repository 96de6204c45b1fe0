// The back-off of a failed delivery: the schedule that Standard Webhooks recommends. worker.ts follows it; sign.ts signs. Pure.

/** Seconds to wait after each failed attempt. The first attempt is immediate; there are ten over three days. */
const WAITS_SEC = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** The jitter, as a share of a wait. Without it, deliveries that failed together would be retried together. */
const JITTER = 0.1

/** Seconds from failed attempt number `attempt` (from 1) to the next; null if it was the last. `random` is 0 to 1. */
export function retryAfterSec(attempt: number, random: number): number | null {
  const wait = WAITS_SEC[attempt - 1]
  return wait === undefined ? null : wait * (1 + JITTER * random)
}
