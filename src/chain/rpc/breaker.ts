// A circuit breaker: if something has just failed several times, callers need not wait for it to fail again. It must never stay open for ever: after
// its cooldown it is half-open, and lets one caller at a time try.

export interface Breaker {
  /** True if a caller may try now. The caller must then call `succeeded` or `failed`. */
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
      // The caller that we let through now tries for all. Others are rejected until it has succeeded or failed.
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
