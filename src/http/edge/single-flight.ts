// Limits concurrency for an expensive call. Identical requests share one result. The others wait in a bounded queue, in which each caller gets only a
// few places. Some results are kept briefly, so that we do not at once look again for something that was just missing.
import { Cache } from '../../lib/cache.ts'
import { Crowded, Semaphore } from '../../lib/semaphore.ts'

/** How many results are kept. The least recently used is evicted first. */
const KEPT_MAX = 10_000

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

interface Caller {
  places: Semaphore
  requests: number
}

export class SingleFlight<T> {
  readonly #options: SingleFlightOptions<T>
  readonly #cache: Cache<T>
  readonly #places: Semaphore
  /** Callers with a request that runs or waits. */
  readonly #callers = new Map<string, Caller>()

  constructor(options: SingleFlightOptions<T>) {
    const { clock, keeps, concurrencyMax, waitingMax } = options
    this.#options = options
    this.#cache = new Cache({ clock, keeps, weightMax: KEPT_MAX })
    this.#places = new Semaphore(concurrencyMax, waitingMax)
  }

  /** Runs `act`, or joins the run with the same key. Null if the queue is full, or if the caller has too many requests in it. */
  async run(key: string, caller: string, act: () => Promise<T>): Promise<T | null> {
    const inTurn = () => this.#places.run(act)
    try {
      // The caller's own limit is checked first. So a request never joins a run that itself waits for the caller's other requests.
      return await this.#asCaller(caller, async () => this.#cache.get(key, this.#options.keptMs, inTurn))
    } catch (error) {
      if (error instanceof Crowded) return null
      throw error
    }
  }

  async #asCaller(name: string, act: () => Promise<T>): Promise<T> {
    const { concurrencyMax, waitingMax } = this.#options.ofCaller
    const caller = this.#callers.get(name) ?? { places: new Semaphore(concurrencyMax, waitingMax), requests: 0 }
    this.#callers.set(name, caller)
    caller.requests++
    try {
      return await caller.places.run(act)
    } finally {
      if (--caller.requests === 0) this.#callers.delete(name)
    }
  }
}
