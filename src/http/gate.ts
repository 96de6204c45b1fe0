// Lets only so many callers through to something dear at a time: those who ask for the same thing share one answer, the
// others wait in a line of bounded length. Remembers for a moment what was found to be missing.

/** What is remembered at most; the oldest goes first. */
const KEPT_MAX = 10_000

export interface GateBounds {
  atATime: number
  waiting: number
  /** How long an answer that `keep` accepts is given again. */
  keptMs: number
}

export class Gate<T> {
  readonly #clock: () => number
  readonly #bounds: GateBounds
  readonly #flights = new Map<string, Promise<T>>()
  readonly #kept = new Map<string, { value: T; until: number }>()
  readonly #line: (() => void)[] = []
  #inside = 0

  constructor(clock: () => number, bounds: GateBounds) {
    this.#clock = clock
    this.#bounds = bounds
  }

  /** Runs `act`, or joins the run of the same key. Null: the line is full. */
  async run(key: string, act: () => Promise<T>, keep: (value: T) => boolean): Promise<T | null> {
    const kept = this.#kept.get(key)
    if (kept && this.#clock() < kept.until) return kept.value
    const flying = this.#flights.get(key)
    if (flying) return flying
    if (this.#inside >= this.#bounds.atATime && this.#line.length >= this.#bounds.waiting) return null
    const flight = this.#enter(key, act, keep)
    this.#flights.set(key, flight)
    return flight
  }

  async #enter(key: string, act: () => Promise<T>, keep: (value: T) => boolean): Promise<T> {
    try {
      // Whoever leaves hands his place on, so that nobody slips in between.
      if (this.#inside >= this.#bounds.atATime) await new Promise<void>((resolve) => this.#line.push(resolve))
      else this.#inside++
      const value = await this.#inPlace(act)
      if (keep(value)) this.#remember(key, value)
      return value
    } finally {
      this.#flights.delete(key)
    }
  }

  async #inPlace(act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } finally {
      const next = this.#line.shift()
      if (next) next()
      else this.#inside--
    }
  }

  #remember(key: string, value: T): void {
    this.#kept.delete(key)
    this.#kept.set(key, { value, until: this.#clock() + this.#bounds.keptMs })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= KEPT_MAX) break
      this.#kept.delete(oldest)
    }
  }
}
