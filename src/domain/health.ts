// Decides whether the service is healthy, for the health report, the doctor and the alerts alike. ops/prometheus/alerts.yaml repeats the figures
// (test/ops/runbook). Pure.

/** The ledger lags if the followed block is at least this much block time behind the chain's head. */
export const LAG_SEC = 300
/** A transaction is stuck if it has been in no block for this long. */
export const STUCK_SEC = 1_800

/** Times of a pass by the database's clock; null before its first start, or the ledger's. */
export interface PassTimes {
  /** Since its last start. */
  secondsAgo: number | null
  /** Since its last successful run. */
  secondsWithoutSuccess: number | null
}

/** True if a pass has fallen behind: none started for this long, or every run since stopped on a fault. */
export function isStale({ secondsAgo, secondsWithoutSuccess }: PassTimes, staleAfterSec: number): boolean {
  return secondsAgo === null || Math.max(secondsAgo, secondsWithoutSuccess ?? 0) > staleAfterSec
}
