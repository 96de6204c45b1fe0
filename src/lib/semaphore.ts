// Limits how many callers run at a time. The others wait in a queue, first come, first served. If the queue is full, callers are rejected.

/** The queue is full. */
export class Crowded extends Error {
  override readonly name = 'Crowded'

  constructor() {
    super('too many requests are waiting')
  }
}

export class Semaphore {
  readonly #placesMax: number
  readonly #waitingMax: number
  readonly #line: (() => void)[] = []
  #taken = 0

  constructor(placesMax: number, waitingMax: number) {
    this.#placesMax = placesMax
    this.#waitingMax = waitingMax
  }

  /** Takes a place. Resolves with the function that gives the place back. Rejects with Crowded, or with `signal`'s reason. */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#placesMax) this.#taken++
    else await this.#turn(signal)
    // If a place were given back twice, one caller too many would be admitted.
    let hasLeft = false
    return () => {
      if (!hasLeft) this.#leave()
      hasLeft = true
    }
  }

  /** Runs `act` while it holds a place. Rejects with Crowded if the queue is full. */
  async run<T>(act: () => Promise<T>): Promise<T> {
    const leave = await this.enter()
    try {
      return await act()
    } finally {
      leave()
    }
  }

  #turn(signal: AbortSignal | undefined): Promise<void> {
    if (this.#line.length >= this.#waitingMax) throw new Crowded()
    return new Promise((resolve, reject) => {
      const admit = () => {
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        const at = this.#line.indexOf(admit)
        if (at >= 0) this.#line.splice(at, 1)
        reject(signal?.reason)
      }
      signal?.addEventListener('abort', giveUp, { once: true })
      this.#line.push(admit)
    })
  }

  /** Hands the place to the next caller in the queue, so that a newcomer cannot get in first. */
  #leave(): void {
    const admit = this.#line.shift()
    if (admit) admit()
    else this.#taken--
  }
}
