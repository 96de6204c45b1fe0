// Counts requests per endpoint and caller in fixed windows of one minute that begin with the minute (specification,
// section 8). Counters are this instance's own. Memory is bounded under any load; a counter is never forgotten before its
// window ends, since forgetting one would refill its allowance.
import { randomBytes } from 'node:crypto'
import type { Client } from './client-address.ts'

const WINDOW_SEC = 60
/** The table grows up to this many slots (12 bytes each), three quarters of them used: 1.5 million counters in 25 MB. */
const SLOTS_MAX = 2 ** 21
const SLOTS_MIN = 2 ** 12
/** Once the table is full, callers who are not in it share counters: 16,384 of them, picked by address. */
const SHARED = 2 ** 14
const COUNT_BITS = 16

export interface LimitState {
  limit: number
  remaining: number
  /** Unix seconds at which the window ends. */
  reset: number
  /** Seconds until then, at least 1. */
  retryAfter: number
  exceeded: boolean
}

/** The counters of all endpoints. `bucket` numbers an endpoint, 0 to 32767. */
export class Limits {
  readonly #seed = randomBytes(4).readUInt32LE()
  readonly #clock: () => number
  readonly #slotsMax: number
  #window = -1
  #table = new Table(SLOTS_MIN)
  #shared: Uint16Array | null = null

  /** `slotsMax` is a power of two; the default suits a service, tests take less. */
  constructor(clock: () => number, slotsMax = SLOTS_MAX) {
    this.#clock = clock
    this.#slotsMax = slotsMax
  }

  /** Counts one request and says where the caller stands. */
  take(bucket: number, limit: number, client: Client): LimitState {
    const seconds = Math.floor(this.#clock() / 1000)
    const window = Math.floor(seconds / WINDOW_SEC)
    if (window !== this.#window) this.#begin(window)
    const reset = (this.#window + 1) * WINDOW_SEC
    const count = this.#count(tagOf(bucket, client), client, limit)
    return {
      limit,
      remaining: Math.max(0, limit - count),
      reset,
      retryAfter: Math.max(1, reset - seconds),
      exceeded: count > limit,
    }
  }

  /** True if a further request would be refused; counts nothing. */
  isSpent(bucket: number, limit: number, client: Client): boolean {
    const seconds = Math.floor(this.#clock() / 1000)
    if (Math.floor(seconds / WINDOW_SEC) !== this.#window) return false
    const tag = tagOf(bucket, client)
    const where = mix(this.#seed, tag, client.high, client.low)
    const slot = this.#table.find(where, tag, client.high, client.low)
    return (slot < 0 ? (this.#shared?.[where % SHARED] ?? 0) : this.#table.count(slot)) >= limit
  }

  /** Bytes the counters hold at present. */
  get bytes(): number {
    return this.#table.bytes + (this.#shared?.byteLength ?? 0)
  }

  #begin(window: number): void {
    this.#window = window
    this.#table = new Table(SLOTS_MIN)
    this.#shared = null
  }

  #count(tag: number, { high, low }: Client, limit: number): number {
    const where = mix(this.#seed, tag, high, low)
    let slot = this.#table.find(where, tag, high, low)
    if (slot < 0 && this.#table.full) {
      if (this.#table.slots >= this.#slotsMax) return this.#countShared(where, limit)
      this.#table = this.#table.doubled(this.#seed)
    }
    if (slot < 0) slot = this.#table.insert(where, tag, high, low)
    return this.#table.increment(slot, limit)
  }

  #countShared(where: number, limit: number): number {
    this.#shared ??= new Uint16Array(SHARED)
    const counter = where % SHARED
    const count = Math.min((this.#shared[counter] ?? 0) + 1, limit + 1)
    this.#shared[counter] = count
    return count
  }
}

/** Open addressing over exact keys: two words of address, and a word with the bucket above and the count below. */
class Table {
  readonly slots: number
  readonly #words: Uint32Array
  #used = 0

  constructor(slots: number) {
    this.slots = slots
    this.#words = new Uint32Array(slots * 3)
  }

  get bytes(): number {
    return this.#words.byteLength
  }

  get full(): boolean {
    return this.#used * 4 >= this.slots * 3
  }

  /** The slot of a key, or -1. */
  find(where: number, tag: number, high: number, low: number): number {
    for (let slot = where & (this.slots - 1); ; slot = (slot + 1) & (this.slots - 1)) {
      const word = this.#words[slot * 3] ?? 0
      // Zero is an empty slot: a used one has counted at least one request.
      if (word === 0) return -1
      if (word >>> COUNT_BITS === tag && this.#words[slot * 3 + 1] === high && this.#words[slot * 3 + 2] === low)
        return slot
    }
  }

  /** Takes a free slot for a key that is not there, with a count of zero; `increment` must follow. */
  insert(where: number, tag: number, high: number, low: number): number {
    let slot = where & (this.slots - 1)
    while (this.#words[slot * 3] !== 0) slot = (slot + 1) & (this.slots - 1)
    this.#words[slot * 3] = (tag << COUNT_BITS) >>> 0
    this.#words[slot * 3 + 1] = high
    this.#words[slot * 3 + 2] = low
    this.#used++
    return slot
  }

  /** Adds one, up to one more than the limit. */
  increment(slot: number, limit: number): number {
    const word = this.#words[slot * 3] ?? 0
    const count = Math.min((word & 0xffff) + 1, limit + 1)
    this.#words[slot * 3] = ((word & 0xffff0000) | count) >>> 0
    return count
  }

  count(slot: number): number {
    return (this.#words[slot * 3] ?? 0) & 0xffff
  }

  doubled(seed: number): Table {
    const larger = new Table(this.slots * 2)
    for (let i = 0; i < this.#words.length; i += 3) {
      const word = this.#words[i] ?? 0
      if (word === 0) continue
      const high = this.#words[i + 1] ?? 0
      const low = this.#words[i + 2] ?? 0
      const tag = word >>> COUNT_BITS
      const slot = larger.insert(mix(seed, tag, high, low), tag, high, low)
      larger.#words[slot * 3] = word
    }
    return larger
  }
}

const tagOf = (bucket: number, { family }: Client) => (bucket << 1) | (family === 6 ? 1 : 0)

/** Spreads keys over the table. Seeded, so that an attacker cannot choose addresses that all land on one slot. */
function mix(seed: number, tag: number, high: number, low: number): number {
  return stir(stir(stir(seed, tag), high), low) >>> 0
}

function stir(before: number, word: number): number {
  let hash = Math.imul(before ^ word, 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}
