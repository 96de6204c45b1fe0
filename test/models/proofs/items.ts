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

/** A value that is not of its kind. Nothing that has one is proven. The message is the name of the field. */
export class Unread extends Error {}

export const isObject = (value: unknown): value is Wire =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const isData = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x([0-9a-fA-F][0-9a-fA-F])*$/.test(value)
const isQuantity = (value: unknown): value is Hex =>
  typeof value === 'string' && /^0x[0-9a-fA-F]+$/.test(value) && value.length <= 66

function data(value: unknown, length: number | null, name: string): Uint8Array {
  if (!isData(value)) throw new Unread(name)
  const bytes = getBytes(value.toLowerCase())
  if (length !== null && bytes.length !== length) throw new Unread(name)
  return bytes
}

/** A number's bytes without leading zeros. */
export function numberBytes(value: bigint): Uint8Array {
  const bytes: number[] = []
  for (let left = value; left > 0n; left /= 256n) bytes.unshift(Number(left % 256n))
  return Uint8Array.from(bytes)
}

export function numberOf(value: unknown, name: string): bigint {
  if (!isQuantity(value)) throw new Unread(name)
  return BigInt(value)
}

function each(value: unknown, name: string, item: (one: unknown) => Item): Item[] {
  if (!Array.isArray(value)) throw new Unread(name)
  return value.map(item)
}

/** The items of an object, by a form. `list`: the name of the list that has the object. */
export function itemsOf(form: string, from: unknown, list?: string): Item[] {
  if (!isObject(from)) throw new Unread(list ?? 'object')
  return form.split(' ').map((word) => {
    const [name, kind] = word.split(':') as [string, string]
    return itemOf(kind, from[name], list ?? name)
  })
}

const AUTHORIZATION = 'chainId:number address:20 nonce:number yParity:number r:number s:number'

function itemOf(kind: string, value: unknown, name: string): Item {
  if (kind === 'number') return numberBytes(numberOf(value, name))
  if (kind === 'bytes') return data(value, null, name)
  // Nothing stands for the address that a transaction does not have because it creates a contract.
  if (kind === 'maybe20') return value == null ? new Uint8Array() : data(value, 20, name)
  if (kind === 'maybeNumber') return value == null ? new Uint8Array() : numberBytes(numberOf(value, name))
  if (kind === 'flag') return numberBytes(value === true ? 1n : 0n)
  if (kind === 'hashes') return each(value, name, (one) => data(one, 32, name))
  const eachBy = (form: string, list: unknown) => each(list, name, (one) => itemsOf(form, one, name))
  if (kind === 'accesses') return eachBy('address:20 storageKeys:hashes', value ?? [])
  if (kind === 'logs') return eachBy('address:20 topics:hashes data:bytes', value ?? [])
  // Some nodes say v where others say yParity.
  const withParity = (one: unknown) => (isObject(one) ? { ...one, yParity: one.yParity ?? one.v } : one)
  if (kind === 'authorizations') return eachBy(AUTHORIZATION, Array.isArray(value) ? value.map(withParity) : value)
  return data(value, Number(kind), name)
}

export const rlp = (items: Item): Uint8Array => RLP.encode(items)
export const hashOf = (bytes: Uint8Array): Hex => keccak256(bytes) as Hex
export const sameHex = (one: unknown, other: Hex): boolean => isData(one) && one.toLowerCase() === other.toLowerCase()

/** What `read` returns; null if something in it is not of its kind. */
export function orNothing<T>(read: () => T): T | null {
  const got = orName(read)
  return 'name' in got ? null : got.read
}

/** What `read` returns, or the name of the field that is not of its kind. */
export function orName<T>(read: () => T): { read: T } | { name: string } {
  try {
    return { read: read() }
  } catch (error) {
    if (error instanceof Unread) return { name: error.message }
    throw error
  }
}

/** What must be said of a value that a provider gave, beside the one that is right. `name`: of the field for which there is none. */
export type Told =
  | { kind: 'proven' }
  | { kind: 'contradicted'; given: string; computed: string }
  | { kind: 'unprovable'; name: string }

export function toldOf(given: unknown, right: { read: string } | { name: string }): Told {
  if ('name' in right) return { kind: 'unprovable', name: right.name }
  if (typeof given !== 'string' || !given.startsWith('0x')) return { kind: 'unprovable', name: 'there is nothing' }
  if (given.toLowerCase() === right.read) return { kind: 'proven' }
  return { kind: 'contradicted', given: given.slice(0, 66), computed: right.read }
}
