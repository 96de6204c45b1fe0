// Limits concurrency. Other callers wait in a queue of bounded length, first come, first served. When it is full, callers are rejected.

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

  /** Takes a place; call the function that this resolves with to give it back. Rejects with Crowded, or with `signal`'s reason. */
  async enter(signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#taken < this.#placesMax) this.#taken++
    else await this.#turn(signal)
    // A double release would admit one caller too many.
    let left = false
    return () => {
      if (!left) this.#leave()
      left = true
    }
  }

  /** Runs `act` in a place. Rejects with Crowded. */
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

  /** Hands the place to the next in the queue, so that a newcomer cannot slip in first. */
  #leave(): void {
    const admit = this.#line.shift()
    if (admit) admit()
    else this.#taken--
  }
}
