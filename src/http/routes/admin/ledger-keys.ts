// Looks admin keys up in the ledger. Each instance keeps a result for a few seconds, so a revoked key still works for that long. We do not look for a
// text that cannot be a key, nor for one that was never right from a caller who has sent too many wrong ones. A key's last use is recorded beside the
// request.
import { findLiveKey, hasLiveKeys, type LiveKey, noteKeyUsed } from '../../../db/operator/admin-keys.ts'
import { Cache, shared } from '../../../lib/cache.ts'
import type { Log } from '../../../lib/log.ts'
import { digestOfKey, isKeyForm } from '../../../operator/keys/secret.ts'
import type { DatabaseRead } from '../../database-read.ts'

/** A revoked key works no longer than this. */
const HOLDS_MS = 3_000
/** The most digests that it keeps: more than there are keys, so that wrong ones cannot displace them all at once. */
const KEPT_MAX = 2_000
const NOTE_EVERY_MS = 60_000

export class LedgerKeys {
  readonly #query: DatabaseRead
  readonly #clock: () => number
  readonly #log: Log
  readonly #found: Cache<LiveKey | null>
  readonly #hasAny: () => Promise<boolean>
  /** Digests of keys that were right once. We always look these up. */
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
      this.#log.warn({ err, key: id }, 'the use of an admin key was not put on record'),
    )
  }
}
