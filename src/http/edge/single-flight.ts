// Limits concurrency for an expensive call. Identical requests share one result. The others wait in a bounded queue, in which each caller gets only a
// few places. Some results are kept briefly, so that we do not immediately look again for something that was just missing.
import { setTimeout as sleep } from 'node:timers/promises'
import { Cache } from '../../lib/cache.ts'
import { Crowded, Semaphore } from '../../lib/semaphore.ts'

/** How many results are kept. The least recently used is evicted first. */
const KEPT_MAX = 10_000
/** How long a request waits before its second and last try for a place in the queue. Most calls are shorter, so most of a crowd gets in. */
const SECOND_TRY_MS = 500

export interface SingleFlightOptions<T> {
  /** Monotonic clock, milliseconds. */
  clock: () => number
  concurrencyMax: number
  waitingMax: number
  /** The limits for each caller. */
  ofCaller: { concurrencyMax: number; waitingMax: number }
  /** True to reuse a result for `keptMs`. */
  keeps: (value: T) => boolean
  keptMs: number
}

interface Caller<T> {
  places: Semaphore
  /** The caller's requests that run or wait, by key. */
  requests: Map<string, Promise<T>>
}

export class SingleFlight<T> {
  readonly #options: SingleFlightOptions<T>
  readonly #cache: Cache<T>
  readonly #places: Semaphore
  /** Callers with a request that runs or waits. */
  readonly #callers = new Map<string, Caller<T>>()

  constructor(options: SingleFlightOptions<T>) {
    const { clock, keeps, concurrencyMax, waitingMax } = options
    this.#options = options
    this.#cache = new Cache({ clock, keeps, weightMax: KEPT_MAX })
    this.#places = new Semaphore(concurrencyMax, waitingMax)
  }

  /** Runs `act`, or joins the run with the same key. Null if the queue stays full, or if the caller has too many other requests in it. */
  async run(key: string, caller: string, act: () => Promise<T>): Promise<T | null> {
    const tryOnce = () =>
      this.#asCaller(caller, key, act).catch((error: unknown) => {
        if (error instanceof Crowded) return null
        throw error
      })
    const first = await tryOnce()
    if (first !== null) return first
    await sleep(SECOND_TRY_MS)
    return await tryOnce()
  }

  /**
   * The caller's own limit is checked first. So a request never joins a run that itself waits for another caller's requests. The caller's identical
   * requests count once.
   */
  async #asCaller(name: string, key: string, act: () => Promise<T>): Promise<T> {
    const { concurrencyMax, waitingMax } = this.#options.ofCaller
    const caller = this.#callers.get(name) ?? { places: new Semaphore(concurrencyMax, waitingMax), requests: new Map() }
    const running = caller.requests.get(key)
    if (running) return await running
    this.#callers.set(name, caller)
    const inTurn = () => this.#places.run(act)
    const request = caller.places.run(async () => this.#cache.get(key, this.#options.keptMs, inTurn))
    caller.requests.set(key, request)
    try {
      return await request
    } finally {
      caller.requests.delete(key)
      if (caller.requests.size === 0) this.#callers.delete(name)
    }
  }
}
