// Limits concurrency for an expensive call: identical requests share one result, the others wait in a line of bounded length. Keeps
// for a moment the results that are worth it, so that what was found to be missing is not looked for at once again.
import { Cache } from '../../lib/cache.ts'
import { Crowded, Semaphore } from '../../lib/semaphore.ts'

/** Results that are kept at most; the least recently used goes first. */
const KEPT_MAX = 10_000

export interface SingleFlightOptions<T> {
  /** Milliseconds that go on evenly. */
  clock: () => number
  concurrencyMax: number
  waitingMax: number
  /** True if a result is given again, for `keptMs`. */
  keeps: (value: T) => boolean
  keptMs: number
}

export class SingleFlight<T> {
  readonly #cache: Cache<T>
  readonly #places: Semaphore
  readonly #keptMs: number

  constructor({ clock, concurrencyMax, waitingMax, keeps, keptMs }: SingleFlightOptions<T>) {
    this.#cache = new Cache({ clock, keeps, weightMax: KEPT_MAX })
    this.#places = new Semaphore(concurrencyMax, waitingMax)
    this.#keptMs = keptMs
  }

  /** Runs `act`, or joins the run of the same key. Null: the line is full. */
  async run(key: string, act: () => Promise<T>): Promise<T | null> {
    const inTurn = async () => {
      const leave = await this.#places.enter()
      try {
        return await act()
      } finally {
        leave()
      }
    }
    try {
      return await this.#cache.get(key, this.#keptMs, inTurn)
    } catch (error) {
      if (error instanceof Crowded) return null
      throw error
    }
  }
}
