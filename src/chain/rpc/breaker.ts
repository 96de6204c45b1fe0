// A circuit breaker: saves callers the wait for something that has just failed several times. It must never stay open for good, so after its cooldown
// it is half-open and lets one caller at a time through.

export interface Breaker {
  /** True if a caller may try now; then `succeeded` or `failed` must follow. */
  allows(): boolean
  succeeded(): void
  failed(): void
}

/** Opens after `failuresMax` failures in a row, for `cooldownMs` each time. `clock` counts milliseconds. */
export function createBreaker(options: { failuresMax: number; cooldownMs: number; clock: () => number }): Breaker {
  let failures = 0
  let cooldownUntil = 0
  return {
    allows() {
      if (failures < options.failuresMax) return true
      if (options.clock() < cooldownUntil) return false
      // This caller makes the trial. The others are rejected until it has succeeded or failed.
      cooldownUntil = options.clock() + options.cooldownMs
      return true
    },
    succeeded() {
      failures = 0
    },
    failed() {
      failures++
      cooldownUntil = options.clock() + options.cooldownMs
    },
  }
}
