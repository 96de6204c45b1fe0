// What a state root commits to about an account, and a storage root about a word: a second reading of the yellow paper (4.1, appendices B to D) and of
// EIP-1186. A proof is a list of nodes from the root on; nothing but these nodes counts.
import { RLP } from '@ethereumjs/rlp'
import { getBytes } from 'ethers'
import { type Hex, hashOf, rlp } from './items.ts'

// Choices in what the documents leave open:
// - A node of fewer than 32 bytes stands in its parent. A provider may list it once more, or not.
// - A nonce has 53 bits at most, as a number of JavaScript. EIP-2681 allows 64, and no account comes near.
// - A node that is not on the path is no part of a proof.

type Item = Uint8Array | Item[]
/** Something that no trie of a chain can hold. */
class NoProof extends Error {}
const no = (why: string): never => {
  throw new NoProof(why)
}

export interface Account {
  nonce: bigint
  balance: bigint
  storageRoot: Hex
  codeHash: Hex
}
const hex = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`
export const NO_ROOT = hashOf(rlp(new Uint8Array()))
export const NO_CODE = hashOf(new Uint8Array())

/** RLP as the yellow paper allows it: what decodes to a value is the only way to encode that value. */
function decode(bytes: Uint8Array): Item {
  try {
    const item = RLP.decode(bytes) as Item
    if (hex(RLP.encode(item)) === hex(bytes)) return item
  } catch {
    // Not RLP.
  }
  return no('not RLP')
}

const bytesIn = (item: Item | undefined): Uint8Array => (item instanceof Uint8Array ? item : no('a list for bytes'))
function numberIn(item: Item | undefined, bits: bigint): bigint {
  const bytes = bytesIn(item)
  if (bytes[0] === 0) no('leading zeros')
  const value = bytes.length === 0 ? 0n : BigInt(hex(bytes))
  return value < 2n ** bits ? value : no('too large')
}
const hashIn = (item: Item | undefined): Hex => (bytesIn(item).length === 32 ? hex(bytesIn(item)) : no('no hash'))

/** Digits of a compact path, and whether it is a leaf's (appendix C). */
function digitsOf(item: Item | undefined): { digits: string; isLeaf: boolean } {
  const path = hex(bytesIn(item)).slice(2)
  const [flag, padding] = [path[0] ?? '', path[1] ?? '']
  if (!['0', '1', '2', '3'].includes(flag)) no('no flag')
  if ((flag === '0' || flag === '2') && padding !== '0') no('no padding')
  return { digits: path.slice(flag === '0' || flag === '2' ? 2 : 1), isLeaf: flag === '2' || flag === '3' }
}

/** Where a node leads: the value at the end of the key, null if there is none, or the next node and the digits left of the key. */
type Step = { value: Uint8Array | null } | { below: Item; left: string }

function stepBelow(node: Item[], left: string): Step {
  if (node.length === 17) {
    if (left === '') no('a branch at the end of the key')
    const below = node[Number.parseInt(left[0] as string, 16)] as Item
    const isEmpty = below instanceof Uint8Array && below.length === 0
    return isEmpty ? { value: null } : { below, left: left.slice(1) }
  }
  if (node.length !== 2) no('no node')
  const { digits, isLeaf } = digitsOf(node[0])
  if (isLeaf) return { value: digits === left ? bytesIn(node[1]) : null }
  // What shares no digit needs no node (appendix D).
  if (digits === '') no('a node for no digits')
  if (!left.startsWith(digits)) return { value: null }
  return { below: node[1] as Item, left: left.slice(digits.length) }
}

/** The value at a key, or null if there is none. */
function valueAt(root: Hex, key: string, nodes: readonly Hex[]): Uint8Array | null {
  const listed = nodes.map((node) => getBytes(node))
  let [below, left]: [Item, string] = [getBytes(root), key]
  for (;;) {
    const step = stepBelow(nodeIn(below, listed), left)
    if ('value' in step) return listed.length === 0 ? step.value : no('more nodes')
    ;({ below, left } = step)
  }
}

/** The node that a parent names by hash, or holds. Takes it from the list. */
function nodeIn(below: Item, listed: Uint8Array[]): Item[] {
  if (below instanceof Uint8Array) {
    const next = listed.shift()
    if (!next || below.length !== 32 || hashOf(next) !== hex(below)) return no('another node')
    const node = decode(next)
    return Array.isArray(node) ? node : no('no node')
  }
  if (listed[0] && hex(listed[0]) === hex(RLP.encode(below))) listed.shift()
  return below
}

const keyOf = (of: Hex): string => hashOf(getBytes(of)).slice(2)

function orNull<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof NoProof) return null
    throw error
  }
}

/** An account by its proof; null if nothing is proven. One that is not there has nothing. */
export function accountBy(stateRoot: Hex, address: Hex, nodes: readonly Hex[]): Account | null {
  return orNull(() => {
    const value = valueAt(stateRoot, keyOf(address), nodes)
    if (value === null) return { nonce: 0n, balance: 0n, storageRoot: NO_ROOT, codeHash: NO_CODE }
    const fields = decode(value)
    if (!Array.isArray(fields) || fields.length !== 4) return no('no account')
    const [nonce, balance, storageRoot, codeHash] = fields
    return {
      nonce: numberIn(nonce, 53n),
      balance: numberIn(balance, 256n),
      storageRoot: hashIn(storageRoot),
      codeHash: hashIn(codeHash),
    }
  })
}

/** A word of storage by its proof; null if nothing is proven. */
export function wordBy(storageRoot: Hex, slot: Hex, nodes: readonly Hex[]): bigint | null {
  return orNull(() => {
    // Nodes give no nodes of an empty trie, or the node of nothing.
    if (storageRoot === NO_ROOT) return 0n
    const value = valueAt(storageRoot, keyOf(slot), nodes)
    return value === null ? 0n : numberIn(decode(value), 256n)
  })
}
