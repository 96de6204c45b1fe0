// Caches answers as the bytes sent, by route and validated parameters, so that a busy read costs the database one statement. Its size is limited. It
// drops everything the moment the ledger changes, and caches nothing while it may miss changes. It must never hold anything that depends on who asks.
import { createHash } from 'node:crypto'
import type { LedgerNotifications } from '../../db/core/changes.ts'
import { Cache } from '../../lib/cache.ts'
import { toJson } from '../../lib/json.ts'

/** How many bytes the memo may hold: hundreds of thousands of answers about nodes, or all answers of a small service many times over. */
const BYTES_MAX = 64 * 1024 * 1024
/** What an entry takes besides its bytes: its share of maps, keys and buffers. */
const ENTRY_OVERHEAD_BYTES = 512

/** An answer ready to be sent. */
export interface CachedResponse {
  body: Buffer
  /** A strong tag: two tags are equal exactly if the bytes are. */
  etag: string
}

/** Makes a body and its tag from a text, from bytes, or from what becomes JSON. */
export function cachedResponseOf(content: string | Buffer | object): CachedResponse {
  const body = Buffer.isBuffer(content) ? content : Buffer.from(typeof content === 'string' ? content : toJson(content))
  const tag = createHash('sha256').update(body).digest('base64url').slice(0, 27)
  return { body, etag: `"${tag}"` }
}

export interface MemoOptions<T> {
  /** Monotonic clock, milliseconds. */
  clock: () => number
  /** Reports when everything is stale, and whether the service is still notified of changes. If null, nothing is cached. */
  changes: LedgerNotifications | null
  bytesOf: (value: T) => number
  bytesMax?: number
  observe?: ((result: 'hit' | 'miss' | 'joined') => void) | undefined
}

export function createMemo<T>({ clock, changes, bytesOf, bytesMax = BYTES_MAX, observe }: MemoOptions<T>): Cache<T> {
  const memo = new Cache<T>({
    clock,
    weightMax: bytesMax,
    weightOf: (value, key) => bytesOf(value) + key.length + ENTRY_OVERHEAD_BYTES,
    keeps: () => changes?.live() ?? false,
    ...(observe && { observe }),
  })
  changes?.subscribe(() => memo.clear())
  return memo
}
