// Turns JSON-RPC values into RLP items: hex of a fixed length, and quantities without leading zeros (yellow paper, appendix B). If a value is missing
// or malformed, throws `Unencodable`, which `encoded` catches, so it never leaves this folder.
import { hash } from 'node:crypto'
import { toRlp } from 'viem/utils'
import type { Hash } from '../../domain/units.ts'
import type { Encoded } from './verdict.ts'

/** What RLP encodes: bytes, or a list of items. */
export type Item = Uint8Array | readonly Item[]

/** A JSON-RPC object whose values are not validated. */
export type Fields = Readonly<Record<string, unknown>>

const ADDRESS_BYTES = 20
const HASH_BYTES = 32
export const EMPTY: Uint8Array = new Uint8Array(0)

class Unencodable extends Error {}

/** Throws an Unencodable: the value has no canonical encoding. */
export const refuse = (why: string): never => {
  throw new Unencodable(why)
}

/** What `read` returns, or why there is nothing. */
export function attempted<T extends object>(read: () => T): T | { readonly why: string } {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unencodable) return { why: error.message }
    throw error
  }
}

/** The bytes that `encode` returns, or why there are none. */
export const encoded = (encode: () => Uint8Array): Encoded => attempted(() => ({ bytes: encode() }))

/** The fields of an object; throws for anything else. */
export function fieldsOf(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse(`${what} is not an object`)
  return value as Fields
}

export const listOf = (value: unknown, what: string): readonly unknown[] =>
  Array.isArray(value) ? value : refuse(`${what} is not a list`)

/** Bytes from hex. If `length` is given, there must be exactly that many. */
export function bytesOf(value: unknown, what: string, length?: number): Buffer {
  if (typeof value !== 'string' || !value.startsWith('0x')) return refuse(`${what} is missing or no hex`)
  // Buffer.from stops at the first character that is not a hex digit. The length shows if it did.
  const bytes = Buffer.from(value.slice(2), 'hex')
  if (bytes.length * 2 !== value.length - 2) return refuse(`${what} is not hex`)
  if (length !== undefined && bytes.length !== length) return refuse(`${what} has ${bytes.length} bytes, not ${length}`)
  return bytes
}

export const addressOf = (value: unknown, what: string): Buffer => bytesOf(value, what, ADDRESS_BYTES)
export const digestOf = (value: unknown, what: string): Buffer => bytesOf(value, what, HASH_BYTES)

/** A quantity as an integer of at most 256 bits. */
export function integerOf(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !/^0x[0-9a-fA-F]{1,64}$/.test(value)) return refuse(`${what} is not a quantity`)
  return BigInt(value)
}

/** True for hex of zeros alone, of any length; `0x` has none, and counts too. */
export const isZeros = (value: unknown): value is string => typeof value === 'string' && /^0x0*$/.test(value)

/** A quantity in as few bytes as possible; no bytes for zero. */
export const quantityOf = (value: unknown, what: string): Uint8Array => minimal(integerOf(value, what))

/** An integer in as few bytes as possible; no bytes for zero. */
export function minimal(value: bigint): Uint8Array {
  if (value === 0n) return EMPTY
  const digits = value.toString(16)
  return Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
}

/** The address of a recipient. Empty if there is none, because the transaction creates a contract. */
export const recipientOf = (value: unknown, what: string): Uint8Array =>
  value == null ? EMPTY : addressOf(value, what)

export const rlp = (item: Item): Uint8Array => toRlp(item as Uint8Array[], 'bytes')

/** The type's byte, followed by RLP (EIP-2718). */
export const typed = (type: number, item: Item): Uint8Array => Buffer.concat([Uint8Array.of(type), rlp(item)])

/**
 * OpenSSL's keccak256 (since 3.2; Node 24 has 3.5) takes a tenth of the time of one in JavaScript. For a block of 200 transactions we hash 300 kB.
 */
export const keccak = (bytes: Uint8Array): Uint8Array => hash('keccak-256', bytes, 'buffer')
export const hashOf = (bytes: Uint8Array): Hash => `0x${hash('keccak-256', bytes, 'hex')}` as Hash
