// Money, addresses and hashes in the ledger. Wei is a bigint in code, a decimal string outside and numeric(78,0) in SQL, never a number. Addresses
// and hashes are made lower case as soon as they enter.

declare const unit: unique symbol

/** An amount of wei, 0 to 2^256 - 1. */
export type Wei = bigint & { readonly [unit]: 'wei' }
/** `0x` and 40 lower-case hex digits. */
export type Address = `0x${string}` & { readonly [unit]?: 'address' }
/** `0x` and 64 lower-case hex digits: a block, transaction or payment reference. */
export type Hash = `0x${string}` & { readonly [unit]?: 'hash' }

export const UINT256_MAX = 2n ** 256n - 1n
export const ZERO_ADDRESS: Address = '0x0000000000000000000000000000000000000000'
export const ZERO_HASH: Hash = '0x0000000000000000000000000000000000000000000000000000000000000000'
/** 10000 basis points are the base rate. */
export const BPS_BASE = 10_000n

/** Checks that a bigint is an amount that a uint256 can hold. Throws a RangeError otherwise. */
export function wei(value: bigint): Wei {
  if (value < 0n || value > UINT256_MAX) throw new RangeError(`not an amount of wei: ${value}`)
  return value as Wei
}

/** Reads a decimal string of wei, as in the database and the settings. Throws a RangeError for anything else. */
export function parseWei(text: string): Wei {
  if (!/^(0|[1-9][0-9]{0,77})$/.test(text)) throw new RangeError(`not a decimal amount of wei: ${text.slice(0, 90)}`)
  return wei(BigInt(text))
}

/** An amount of wei in ether, exactly, without trailing zeros. */
export function inEther(amount: bigint): string {
  if (amount < 0n) return `-${inEther(-amount)}`
  const digits = amount.toString().padStart(19, '0')
  const decimals = digits.slice(-18).replace(/0+$/, '')
  return `${digits.slice(0, -18)}${decimals && `.${decimals}`}`
}

/** A count with its noun, and its verb if the noun has one: `1 payment is`, `2 payments are`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`

/** A time in unix seconds as ISO 8601; null stays null. */
export const isoOf = <Sec extends number | null>(sec: Sec) =>
  (sec === null ? null : new Date(sec * 1000).toISOString()) as Sec extends null ? null : string

/** Sums amounts. Throws a RangeError above 2^256 - 1. */
export function sumWei(values: Iterable<bigint>): Wei {
  let total = 0n
  for (const value of values) total += value
  return wei(total)
}

export function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

export function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}

/** Lower-cases a 20-byte hex string, which must be well formed (from the chain or a checked input). */
export function address(text: string): Address {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new RangeError(`not an address: ${text.slice(0, 90)}`)
  return text.toLowerCase() as Address
}

/** Lower-cases a 32-byte hex string, which must be well formed. */
export function hash(text: string): Hash {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) throw new RangeError(`not a 32-byte hash: ${text.slice(0, 90)}`)
  return text.toLowerCase() as Hash
}
