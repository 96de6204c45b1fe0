// Decides whether the service is healthy, for the health report, the checks and the alerts alike. Pure.

/** The ledger lags if the followed block is at least this much block time behind the chain's head. */
export const LAG_SEC = 300
/** A transaction is stuck if it has been in no block for this long. */
export const STUCK_SEC = 1_800

/** Times of a pass by the database's clock; null before the pass, or the ledger, first started. */
export interface PassTimes {
  /** Seconds since its last start. */
  secondsAgo: number | null
  /** Seconds since its last successful run. */
  secondsWithoutSuccess: number | null
}

/** True if a pass has fallen behind: for this long none has started, or every run has stopped on a fault. */
export function isStale({ secondsAgo, secondsWithoutSuccess }: PassTimes, staleAfterSec: number): boolean {
  return secondsAgo === null || Math.max(secondsAgo, secondsWithoutSuccess ?? 0) > staleAfterSec
}
