// How fields of JSON-RPC become items of RLP, by the yellow paper (appendix B) and the specification of JSON-RPC (QUANTITY, DATA). A form of bytes is a
// line of words here, "name:kind", so that it can be read beside the EIP that names its fields in the same order.
import { RLP } from '@ethereumjs/rlp'
import { getBytes, keccak256 } from 'ethers'

// Choices in what the documents leave open:
// - Capitals and leading zeros spell the same value. The hash decides, and it is computed from the value.
// - A quantity has 256 bits at most. `0x` is no quantity, and `0X` begins nothing.
// - Null and a missing field are the same.

export type Hex = `0x${string}`
export type Wire = Readonly<Record<string, unknown>>
type Item = Uint8Array | Item[]

/** A value that is not of its kind. Nothing that has one is proven. */
export class Unread extends Error {}

export const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const isData = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x([0-9a-fA-F][0-9a-fA-F])*$/.test(value)
const isQuantity = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) && value.length <= 66

function data(value: unknown, length: number | null): Uint8Array {
  if (!isData(value)) throw new Unread(`no data: ${String(value)}`)
  const bytes = getBytes(value.toLowerCase())
  if (length !== null && bytes.length !== length) throw new Unread(`${bytes.length} bytes, not ${length}`)
  return bytes
}

/** A number's bytes without leading zeros. */
export function numberBytes(value: bigint): Uint8Array {
  const bytes: number[] = []
  for (let left = value; left > 0n; left /= 256n) bytes.unshift(Number(left % 256n))
  return Uint8Array.from(bytes)
}

export function numberOf(value: unknown): bigint {
  if (!isQuantity(value)) throw new Unread(`no quantity: ${String(value)}`)
  return BigInt(value)
}

function each(value: unknown, item: (one: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw new Unread('no list')
  return value.map(item)
}

/** The items of an object, by a form. */
export function itemsOf(form: string, from: unknown): Item[] {
  if (!isObject(from)) throw new Unread('no object')
  return form.split(' ').map((word) => {
    const [name, kind] = word.split(':') as [string, string]
    return itemOf(kind, from[name])
  })
}

const AUTHORIZATION = 'chainId:number address:20 nonce:number yParity:number r:number s:number'

function itemOf(kind: string, value: unknown): Item {
  if (kind === 'number') return numberBytes(numberOf(value))
  if (kind === 'bytes') return data(value, null)
  // Nothing stands for the address that a transaction does not have because it creates a contract.
  if (kind === 'maybe20') return value == null ? new Uint8Array() : data(value, 20)
  if (kind === 'maybeNumber') return value == null ? new Uint8Array() : numberBytes(numberOf(value))
  if (kind === 'flag') return numberBytes(value === true ? 1n : 0n)
  if (kind === 'hashes') return each(value, (one) => data(one, 32))
  if (kind === 'accesses') return each(value ?? [], (one) => itemsOf('address:20 storageKeys:hashes', one))
  if (kind === 'logs') return each(value ?? [], (one) => itemsOf('address:20 topics:hashes data:bytes', one))
  // Some nodes say v where others say yParity.
  if (kind === 'authorizations')
    return each(value, (one) => itemsOf(AUTHORIZATION, isObject(one) ? { ...one, yParity: one.yParity ?? one.v } : one))
  return data(value, Number(kind))
}

export const rlp = (items: Item): Uint8Array => RLP.encode(items)
export const hashOf = (bytes: Uint8Array): Hex => keccak256(bytes) as Hex
export const sameHex = (one: unknown, other: Hex): boolean => isData(one) && one.toLowerCase() === other.toLowerCase()

/** What `read` returns; null if something in it is not of its kind. */
export function orNothing<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Unread) return null
    throw error
  }
}
