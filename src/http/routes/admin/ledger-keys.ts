// Looks admin keys up in the ledger. Each instance caches a result for a few seconds, so a revoked key still works for that long. A text that cannot
// be a key is not looked up. If a caller has sent too many wrong keys, we look up only keys that were right before. We record a key's last use
// without delaying the request.
import { findLiveKey, hasLiveKeys, type LiveKey, noteKeyUsed } from '../../../db/operator/admin-keys.ts'
import { Cache, shared } from '../../../lib/cache.ts'
import type { Log } from '../../../lib/log.ts'
import { digestOfKey, isKeyForm } from '../../../operator/acts/keys/secret.ts'
import type { DatabaseRead } from '../../database-read.ts'

/** A revoked key works no longer than this. */
const HOLDS_MS = 3_000
/** How many digests are cached: more than there are keys, so that wrong keys cannot evict them all. */
const KEPT_MAX = 2_000
const NOTE_EVERY_MS = 60_000

export class LedgerKeys {
  readonly #query: DatabaseRead
  readonly #clock: () => number
  readonly #log: Log
  readonly #found: Cache<LiveKey | null>
  readonly #hasAny: () => Promise<boolean>
  /** Digests of keys that were right before. We always look these up. */
  readonly #right = new Set<string>()
  /** When we last recorded the use of a key, by its id. */
  readonly #noted = new Map<number, number>()

  constructor(query: DatabaseRead, { monotonicClock: clock, log }: { monotonicClock: () => number; log: Log }) {
    this.#query = query
    this.#clock = clock
    this.#log = log
    this.#found = new Cache({ clock, weightMax: KEPT_MAX })
    this.#hasAny = shared(() => query(hasLiveKeys), { ageMaxMs: HOLDS_MS, clock })
  }

  /** True if the ledger has any valid key. */
  hasAny(): Promise<boolean> {
    return this.#hasAny()
  }

  /** The key with this text; null if there is none. Throws while the database does not answer. */
  async find(text: string, isLimited: () => boolean): Promise<LiveKey | null> {
    if (!isKeyForm(text)) return null
    const digest = digestOfKey(text)
    if (!this.#right.has(digest) && isLimited()) return null
    const key = await this.#found.get(digest, HOLDS_MS, () => this.#query((sql) => findLiveKey(sql, digest)))
    if (key === null) this.#right.delete(digest)
    else if (this.#right.size < KEPT_MAX) this.#right.add(digest)
    if (key !== null) this.#note(key)
    return key
  }

  #note({ id, isNoted }: LiveKey): void {
    const now = this.#clock()
    if (isNoted || now - (this.#noted.get(id) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return
    this.#noted.set(id, now)
    this.#query((sql) => noteKeyUsed(sql, id)).catch((err) =>
      this.#log.warn({ err, key: id }, 'could not record the use of an admin key'),
    )
  }
}
