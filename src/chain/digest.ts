// The ledger's own digests: of a turn's draw, which anyone can recompute from the round's published seed; of a payments wallet's residue; of a text.
// Also checksummed addresses. This file depends on keccak only: every CLI command loads it, and most commands need no other part of the chain.
import { keccak_256 } from '@noble/hashes/sha3'
import type { Address, Hash } from '../domain/units.ts'

/** keccak256 of bytes, as bytes. */
export const keccakOf = (bytes: Uint8Array): Uint8Array => keccak_256(bytes)

const keccak = (bytes: Uint8Array): Hash => `0x${Buffer.from(keccakOf(bytes)).toString('hex')}` as const

/** keccak256(abi.encode(…)) of fixed-size types. Each value takes one word; a negative number is in two's complement. */
const digestOf = (...words: readonly (bigint | `0x${string}`)[]): Hash =>
  keccak(
    Buffer.from(words.map((word) => BigInt.asUintN(256, BigInt(word)).toString(16).padStart(64, '0')).join(''), 'hex'),
  )

/** keccak256(abi.encode(seed, cohort, due)) as a number; `due` in unix seconds. */
export const turnDigest = (seed: Hash, cohort: number, due: number): bigint =>
  BigInt(digestOf(seed, BigInt(cohort), BigInt(due)))

/** The `ref` of an inner transfer: keccak256(abi.encode(transaction, wallet, index)). It cannot collide with a transaction's own hash. */
export const innerRef = (txHash: Hash, wallet: Address, index: number): Hash => digestOf(txHash, wallet, BigInt(index))

/** The `ref` of a payments wallet's residue. A residue has the same ref in every ledger that follows this chain. */
export const residueRef = (chainId: number, wallet: Address, blockHash: Hash, residueWei: bigint): Hash =>
  digestOf(BigInt(chainId), wallet, blockHash, residueWei)

/** keccak256 of a text in UTF-8. */
export const textDigest = (text: string): Hash => keccak(Buffer.from(text))

/**
 * An address in its EIP-55 spelling: a letter is upper case if the digest of the lower-case address has a hex digit of 8 or more at the same
 * position.
 */
export function checksum(of: Address): string {
  const digest = textDigest(of.slice(2))
  return of.replaceAll(/[a-f]/g, (letter, at: number) =>
    Number.parseInt(digest[at] ?? '', 16) >= 8 ? letter.toUpperCase() : letter,
  )
}

/** An address in any form that people write: in one case, or in mixed case with the right EIP-55 checksum. Null if the text is no address. */
export function parseAddress(text: string): Address | null {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) return null
  const [lower, digits] = [text.toLowerCase() as Address, text.slice(2)]
  const isMixedCase = digits !== digits.toLowerCase() && digits !== digits.toUpperCase()
  return isMixedCase && checksum(lower) !== text ? null : lower
}
