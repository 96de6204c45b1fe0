// The judgements of whether the service is well that the health report, the doctor and the alerts share. ops/prometheus/alerts.yaml repeats
// the figures (test/ops/runbook). Pure.

/** Block time between the chain's head and the followed block, from which on the ledger lags. */
export const LAG_SEC = 300
/** Time in no block, from which on a transaction is stuck. */
export const STUCK_SEC = 1_800

/** A pass by the database's clock; null before its first start, or the ledger's. */
export interface PassTimes {
  /** Since its last start. */
  secondsAgo: number | null
  /** Since a run of it last ended well. */
  secondsWithoutSuccess: number | null
}

/** True if a pass does not keep up: none started for so long, or all that did stopped on a fault. */
export function isStale({ secondsAgo, secondsWithoutSuccess }: PassTimes, staleAfterSec: number): boolean {
  return secondsAgo === null || Math.max(secondsAgo, secondsWithoutSuccess ?? 0) > staleAfterSec
}
