// Counts requests per endpoint and caller in fixed windows of one minute that begin with the minute. Each route sets its own
// limit, and pipeline.ts applies it. Each instance has its own counters. Memory is limited under any load. A counter is never forgotten before its window ends, because the caller would then start again from
// zero.
import { hash, randomUUID } from 'node:crypto'
import type { Client } from './client-address.ts'

const WINDOW_SEC = 60
/**
 * How many counters we keep: about 20 MB, including the shared ones. A caller uses a handful of endpoints a minute, so this is enough for tens of
 * thousands of callers.
 */
const COUNTERS_MAX = 200_000
/** Beyond that number, further callers share 65,536 counters: one for each hexadecimal number of this many digits. */
const SHARED_DIGITS = 4

export interface LimitState {
  limit: number
  remaining: number
  /** Unix seconds at which the window ends. */
  reset: number
  /** Seconds until the window ends, at least 1. */
  retryAfter: number
  exceeded: boolean
}

/** The counters of all endpoints. `bucket` is an endpoint's number. */
export class Limits {
  /** Keeps attackers from choosing addresses that share a victim's counter. */
  readonly #secret = randomUUID()
  readonly #clock: () => number
  readonly #countersMax: number
  #window = -1
  #counts = new Map<string, number>()

  /** The default of `countersMax` suits a service; tests use a smaller one. */
  constructor(clock: () => number, countersMax = COUNTERS_MAX) {
    this.#clock = clock
    this.#countersMax = countersMax
  }

  /** Counts one request and returns the caller's state. */
  take(bucket: number, limit: number, client: Client): LimitState {
    const seconds = Math.floor(this.#clock() / 1000)
    const window = Math.floor(seconds / WINDOW_SEC)
    if (window !== this.#window) {
      this.#window = window
      this.#counts = new Map()
    }
    const key = this.#keyOf(bucket, client)
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    const reset = (window + 1) * WINDOW_SEC
    return {
      limit,
      remaining: Math.max(0, limit - count),
      reset,
      retryAfter: Math.max(1, reset - seconds),
      exceeded: count > limit,
    }
  }

  /** True if we would refuse a further request. Counts nothing. */
  isSpent(bucket: number, limit: number, client: Client): boolean {
    if (Math.floor(this.#clock() / 1000 / WINDOW_SEC) !== this.#window) return false
    return (this.#counts.get(this.#keyOf(bucket, client)) ?? 0) >= limit
  }

  get size(): number {
    return this.#counts.size
  }

  #keyOf(bucket: number, client: Client): string {
    const key = `${bucket} ${client}`
    if (this.#counts.size < this.#countersMax || this.#counts.has(key)) return key
    return hash('sha256', this.#secret + key).slice(0, SHARED_DIGITS)
  }
}
