// Cuts strangers' transactions out of the bytes of full blocks before they are parsed: parsing is the largest part of reading a block. Only the
// hash of each stays. It must never cut a transaction that the observer would look at, whatever a provider writes. An answer with a backslash in
// it is left alone: without escapes, every value stands in the bytes as it will be read.
import type { Address } from '../../domain/units.ts'

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const BRACE = 0x7b
const BRACE_END = 0x7d
/** Separates a letter from its capital, and a brace from a bracket. */
const CASE_BIT = 0x20

/** As nodes write it. Where a provider writes it with spaces, nothing is cut. */
const LIST = Buffer.from('"transactions":[')
const REST_BEGINS = Buffer.from('{"hash":')
/** The four letters of "hash", as one number. */
const HASH_NAME = Buffer.from('hash').readUInt32BE()
const HASH_NAME_LENGTH = 4
const AUTHORIZATIONS = 'authorizationList'
const ADDRESS_LENGTH = 42
const HASH_LENGTH = 66
/** The length, in bytes, up to which a loop is faster than the runtime's own search or copy, which takes longer to begin. */
const SHORT = 80

/** Positions in the bytes: the end of a transaction, and the first quote of its hash. A null hash: it has to be read. */
interface Scanned {
  end: number
  hash: number | null
}

/**
 * Builds the cut for some addresses. It works in place and returns the bytes that remain: the same text, in which a transaction that neither
 * names one of the addresses nor carries authorizations has no field but its hash. The syntax of what is cut is not checked.
 */
export function createTrim(addresses: readonly Address[]): (body: Buffer) => Buffer {
  const mayEnd = tailsOf(addresses)
  return (body) => {
    if (body.includes(BACKSLASH)) return body
    let written = 0
    let copied = 0
    for (let list = body.indexOf(LIST); list >= 0; list = body.indexOf(LIST, copied)) {
      let at = list + LIST.length
      while (body[at] === BRACE) {
        const { end, hash } = scan(body, at, mayEnd)
        if (hash !== null) {
          written = move(body, written, copied, at)
          written += REST_BEGINS.copy(body, written)
          written = move(body, written, hash, hash + HASH_LENGTH + 2)
          body[written++] = BRACE_END
          copied = end
        }
        at = end
        if (body[at] !== COMMA) break
        at++
      }
      written = move(body, written, copied, at)
      copied = at
    }
    written = move(body, written, copied, body.length)
    return body.subarray(0, written)
  }
}

/** The last two digits of addresses, which rule out nearly every other address. */
function tailsOf(addresses: readonly Address[]): Uint8Array {
  const tails = new Uint8Array(1 << 16)
  for (const address of addresses) tails[tailAt(Buffer.from(address), ADDRESS_LENGTH)] = 1
  return tails
}

const tailAt = (bytes: Buffer, end: number) =>
  (((bytes[end - 2] ?? 0) | CASE_BIT) << 8) | ((bytes[end - 1] ?? 0) | CASE_BIT)

/** Scans the transaction that begins here. */
function scan(body: Buffer, begin: number, mayEnd: Uint8Array): Scanned {
  const seen: Seen = { mustBeRead: false, names: 0, nameEnd: 0, hash: null }
  let at = begin
  let depth = 0
  do {
    const byte = body[at++]
    if (byte === undefined) return { end: body.length, hash: null }
    const bracket = byte | CASE_BIT
    if (byte === QUOTE) {
      const first = at
      at = endOfString(body, first)
      if (at - first === ADDRESS_LENGTH) seen.mustBeRead ||= mayEnd[tailAt(body, at)] === 1
      else noteString(body, { first, end: at, isOwn: depth === 1 }, seen)
      at++
    } else if (bracket === BRACE) depth++
    else if (bracket === BRACE_END) depth--
  } while (depth > 0)
  return { end: at, hash: seen.mustBeRead || seen.names !== 1 ? null : seen.hash }
}

/** What a scan has come by. `names`: times that something was called "hash"; `nameEnd`: the last quote of that. */
interface Seen {
  mustBeRead: boolean
  names: number
  nameEnd: number
  hash: number | null
}

/** Notes a string by its length. `isOwn`: it stands in the transaction itself, not in a list within. */
function noteString(
  body: Buffer,
  { first, end, isOwn }: { first: number; end: number; isOwn: boolean },
  seen: Seen,
): void {
  const length = end - first
  if (length === HASH_LENGTH) {
    if (isOwn && seen.nameEnd === first - 3 && body[first - 2] === COLON) seen.hash = first - 1
  } else if (length === HASH_NAME_LENGTH) {
    if (body.readUInt32BE(first) !== HASH_NAME) return
    seen.names++
    seen.nameEnd = end
  } else if (length === AUTHORIZATIONS.length) {
    seen.mustBeRead ||= body.toString('latin1', first, end) === AUTHORIZATIONS
  }
}

/** The position of the quote that ends a string; the length of the bytes where none does. */
function endOfString(body: Buffer, first: number): number {
  const near = Math.min(first + SHORT, body.length)
  let at = first
  while (at < near && body[at] !== QUOTE) at++
  if (at < near) return at
  const far = body.indexOf(QUOTE, at)
  return far < 0 ? body.length : far
}

/** Moves bytes towards the beginning. @returns the end of their new place. */
function move(body: Buffer, to: number, from: number, end: number): number {
  const length = end - from
  if (length > SHORT) body.copyWithin(to, from, end)
  else for (let index = 0; index < length; index++) body[to + index] = body[from + index] as number
  return to + length
}
