// Caches answers as the bytes sent, by route and validated parameters, so that a busy read costs the database one statement. Its size is limited. It
// drops everything the moment the ledger changes, and caches nothing while it may miss changes. It must never hold anything that depends on who asks.
import { createHash } from 'node:crypto'
import type { LedgerNotifications } from '../../db/core/changes.ts'
import { Cache } from '../../lib/cache.ts'

/** How many bytes the memo may hold: hundreds of thousands of answers about nodes, or all answers of a small service many times over. */
const BYTES_MAX = 64 * 1024 * 1024
/** What an entry takes besides its bytes: its share of maps, keys and buffers. */
const ENTRY_OVERHEAD_BYTES = 512

/** Bodies longer than this are kept as bytes. */
const TEXT_BYTES_MAX = 4 * 1024

/** An answer ready to be sent. */
export interface CachedResponse {
  body: Body
  /** A strong tag: two tags are equal exactly if the bytes are. */
  etag: string
}

/**
 * Bytes to be sent. A short body is a string with one character per byte (latin1), which Node sends in one piece with the headers. In both forms
 * `length` is in bytes. Only `bodyOf` makes such strings, so no other string can be sent by mistake.
 */
export type Body = Buffer | Latin1
type Latin1 = string & { readonly [LATIN1]: true }
declare const LATIN1: unique symbol

export function bodyOf(bytes: Buffer): Body {
  return bytes.length <= TEXT_BYTES_MAX ? (bytes.toString('latin1') as Latin1) : bytes
}

/** Makes a body and its tag from a text, or from bytes. */
export function cachedResponseOf(content: string | Buffer): CachedResponse {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content
  const tag = createHash('sha256').update(bytes).digest('base64url').slice(0, 27)
  return { body: bodyOf(bytes), etag: `"${tag}"` }
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
