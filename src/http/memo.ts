// Keeps answers as the bytes that were sent, per route and validated parameters, so that a busy read costs the database
// one statement. Bounded; forgets everything the moment the ledger changes, and keeps nothing while changes may go
// unheard. Must never hold anything that depends on who asks.
import { createHash } from 'node:crypto'
import type { LedgerChanges } from '../db/changes.ts'

/** What the memo may hold at most: hundreds of thousands of node pages, or every page of a small service many times over. */
const BYTES_MAX = 64 * 1024 * 1024
/** An entry's share of maps, keys and buffers besides its bytes. */
const ENTRY_OVERHEAD_BYTES = 512

/** Longer bodies are sent as the bytes they are. */
const TEXT_BYTES_MAX = 4 * 1024

/** An answer ready to be sent. */
export interface Page {
  body: Body
  /** Strong: equal exactly when the bytes are. */
  etag: string
}

interface Entry<T> {
  value: T
  bytes: number
  at: number
}

/**
 * Bytes to be sent; few of them as a text of one character a byte (latin1), which Node sends in one piece with the headers. Either has
 * its length in bytes.
 */
export type Body = Buffer | string

export function bodyOf(bytes: Buffer): Body {
  return bytes.length <= TEXT_BYTES_MAX ? bytes.toString('latin1') : bytes
}

/** Makes a body and its tag of a text, or of bytes. */
export function pageOf(content: string | Buffer): Page {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 27)
  return { body: bodyOf(bytes), etag: `"${tag}"` }
}

export class Memo<T> {
  readonly #clock: () => number
  readonly #changes: LedgerChanges | null
  readonly #bytesMax: number
  readonly #bytesOf: (value: T) => number
  readonly #observe: (result: 'hit' | 'miss' | 'joined') => void
  readonly #entries = new Map<string, Entry<T>>()
  #flights = new Map<string, Promise<T>>()
  #bytes = 0
  #flushes = 0

  // biome-ignore lint/complexity/useMaxParams: the two last are for tests and meters.
  constructor(
    clock: () => number,
    changes: LedgerChanges | null,
    bytesOf: (value: T) => number,
    bytesMax: number = BYTES_MAX,
    observe: (result: 'hit' | 'miss' | 'joined') => void = () => {},
  ) {
    this.#clock = clock
    this.#changes = changes
    this.#bytesOf = bytesOf
    this.#bytesMax = bytesMax
    this.#observe = observe
    changes?.subscribe(() => this.#flush())
  }

  /** Answers what is kept, at once, if it is younger than `maxAgeSec`, else builds it: once for all who ask meanwhile. */
  get(key: string, maxAgeSec: number, build: () => Promise<T>): T | Promise<T> {
    const kept = this.#entries.get(key)
    if (kept) {
      const age = this.#clock() - kept.at
      // A clock that steps back makes an entry's age unknown, not young.
      if (age >= 0 && age < maxAgeSec * 1000) {
        // Last used goes last: what is dropped for room is what nobody asks for. Needless while there is room.
        if (this.#bytes > this.#bytesMax / 2) {
          this.#entries.delete(key)
          this.#entries.set(key, kept)
        }
        this.#observe('hit')
        return kept.value
      }
      this.#drop(key, kept)
    }
    const flying = this.#flights.get(key)
    this.#observe(flying ? 'joined' : 'miss')
    if (flying) return flying
    const flight = this.#build(key, build)
    this.#flights.set(key, flight)
    return flight
  }

  async #build(key: string, build: () => Promise<T>): Promise<T> {
    const flights = this.#flights
    const flushes = this.#flushes
    // Age counts from before the reading: it may already be old when it arrives.
    const at = this.#clock()
    try {
      const value = await build()
      // A reading that began before the last change may have missed it.
      if (this.#changes?.live() && flushes === this.#flushes) this.#keep(key, value, at)
      return value
    } finally {
      flights.delete(key)
    }
  }

  #keep(key: string, value: T, at: number): void {
    const entry = { value, at, bytes: this.#bytesOf(value) + key.length + ENTRY_OVERHEAD_BYTES }
    if (entry.bytes > this.#bytesMax) return
    const before = this.#entries.get(key)
    if (before) this.#drop(key, before)
    this.#entries.set(key, entry)
    this.#bytes += entry.bytes
    for (const [oldest, dropped] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break
      this.#drop(oldest, dropped)
    }
  }

  #drop(key: string, entry: Entry<T>): void {
    this.#entries.delete(key)
    this.#bytes -= entry.bytes
  }

  #flush(): void {
    this.#flushes++
    this.#entries.clear()
    this.#bytes = 0
    // Those who ask from now on must not be given a reading that began before the change.
    this.#flights = new Map()
  }
}
