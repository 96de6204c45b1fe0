// Limits concurrency for an expensive call: identical requests share one result, the others wait in a line of bounded length, in which one
// caller takes few places. Keeps for a moment the results that are worth it, so that what was found to be missing is not looked for at once again.
import { Cache } from '../../lib/cache.ts'
import { Crowded, Semaphore } from '../../lib/semaphore.ts'

/** Results that are kept at most; the least recently used goes first. */
const KEPT_MAX = 10_000

export interface SingleFlightOptions<T> {
  /** Milliseconds that go on evenly. */
  clock: () => number
  concurrencyMax: number
  waitingMax: number
  /** The same for each caller. */
  ofCaller: { concurrencyMax: number; waitingMax: number }
  /** True if a result is given again, for `keptMs`. */
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
  /** Those with a request that runs or waits. */
  readonly #callers = new Map<string, Caller>()

  constructor(options: SingleFlightOptions<T>) {
    const { clock, keeps, concurrencyMax, waitingMax } = options
    this.#options = options
    this.#cache = new Cache({ clock, keeps, weightMax: KEPT_MAX })
    this.#places = new Semaphore(concurrencyMax, waitingMax)
  }

  /** Runs `act`, or joins the run of the same key. Null: the line is full, or the caller has too many in it. */
  async run(key: string, caller: string, act: () => Promise<T>): Promise<T | null> {
    const inTurn = () => this.#places.run(act)
    try {
      // Own places first: nobody joins a run that waits for others of its caller.
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
