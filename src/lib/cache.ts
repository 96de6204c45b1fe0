// A single-flight cache. It keeps values for a while, and callers that ask for the same key share one read. The total weight is limited. It must
// never keep a failure, and never hand out a read that began before the cache was cleared.

export interface CacheOptions<T> {
  /** A monotonic clock, in milliseconds. */
  clock: () => number
  /** The most weight that all entries together may have. The least recently used entry is evicted first. */
  weightMax: number
  /** The weight of an entry; by default 1. */
  weightOf?: (value: T, key: string) => number
  /** Decides whether a value may be cached; by default every value may. Called once the value has arrived. */
  keeps?: (value: T) => boolean
  /** Called at every `get`. `hit`: served from memory. `miss`: read. `joined`: waits for a read in flight. */
  observe?: (result: 'hit' | 'miss' | 'joined') => void
}

interface Entry<T> {
  value: T
  weight: number
  at: number
  until: number
}

export class Cache<T> {
  readonly #options: CacheOptions<T>
  readonly #entries = new Map<string, Entry<T>>()
  #flights = new Map<string, Promise<T>>()
  #weight = 0

  constructor(options: CacheOptions<T>) {
    this.#options = options
  }

  /**
   * Returns a cached value immediately, or reads the value once for all callers that ask in the meantime. A value is cached for `ageMaxMs`, counted
   * from the start of its read, because it may already be old when it arrives. With 0, nothing is cached.
   */
  get(key: string, ageMaxMs: number, read: () => Promise<T>): T | Promise<T> {
    const entry = this.#entries.get(key)
    if (entry) {
      if (isFresh(entry, this.#options.clock())) {
        // Maintains the order of use, which is not needed while there is plenty of room.
        if (this.#weight > this.#options.weightMax / 2) {
          this.#entries.delete(key)
          this.#entries.set(key, entry)
        }
        this.#options.observe?.('hit')
        return entry.value
      }
      this.#drop(key, entry)
    }
    const flying = this.#flights.get(key)
    this.#options.observe?.(flying ? 'joined' : 'miss')
    if (flying) return flying
    const flight = this.#read(key, ageMaxMs, read)
    this.#flights.set(key, flight)
    return flight
  }

  /** Empties the cache. If a read is in flight, its result is not cached, and later callers do not join it. */
  clear(): void {
    this.#entries.clear()
    this.#weight = 0
    this.#flights = new Map()
  }

  async #read(key: string, ageMaxMs: number, read: () => Promise<T>): Promise<T> {
    const flights = this.#flights
    const at = this.#options.clock()
    try {
      const value = await Promise.try(read)
      const keeps = ageMaxMs > 0 && flights === this.#flights && (this.#options.keeps?.(value) ?? true)
      if (keeps) this.#keep(key, value, at, at + ageMaxMs)
      return value
    } finally {
      flights.delete(key)
    }
  }

  #keep(key: string, value: T, at: number, until: number): void {
    const { clock, weightMax, weightOf } = this.#options
    const entry = { value, at, until, weight: weightOf?.(value, key) ?? 1 }
    if (entry.weight > weightMax) return
    const before = this.#entries.get(key)
    if (before) this.#drop(key, before)
    this.#entries.set(key, entry)
    this.#weight += entry.weight
    // Evicts expired entries too, even if there is room.
    const now = clock()
    for (const [oldest, oldEntry] of this.#entries) {
      if (this.#weight <= weightMax && isFresh(oldEntry, now)) break
      this.#drop(oldest, oldEntry)
    }
  }

  #drop(key: string, entry: Entry<T>): void {
    this.#entries.delete(key)
    this.#weight -= entry.weight
  }
}

/** If the clock has stepped back, we do not know an entry's age, and must not take the entry for fresh. */
function isFresh({ at, until }: Entry<unknown>, now: number): boolean {
  return now >= at && now < until
}

/**
 * Shares one read among all callers. A caller joins a read in flight. A result is shared for `ageMaxMs`, counted from the start of its read; after a
 * failure, the next caller reads again.
 */
export function shared<T>(
  read: () => Promise<T>,
  options: { ageMaxMs: number; clock: () => number },
): () => Promise<T> {
  const cache = new Cache<T>({ clock: options.clock, weightMax: 1 })
  return async () => cache.get('', options.ageMaxMs, read)
}
