// A Merkle Patricia trie (yellow paper, appendix D): the accounts behind eth_getProof and stateRoot on our own chains, and the
// ordered lists behind the roots of transactions and receipts. An insertion does not change the earlier trie, and hashes only
// what is new. Its proofs pass the same check as a real node's (test/chain/prove/account-proof.test.ts).
import type { Hash } from '../../../src/domain/units.ts'
import type { Hex } from '../../support/anvil.ts'
import { fromHex, hashOf, keccak, quantity, rlp, toHex } from './encode.ts'

export interface TrieAccount {
  nonce: number
  balanceWei: bigint
  storageRoot: Hex
  codeHash: Hex
}

export interface StateTrie {
  root: Hash
  put(address: Hex, account: TrieAccount): StateTrie
  /** The nodes on the path to an address, from the root on. */
  proof(address: Hex): Hex[]
}

export const NO_CODE_HASH: Hash = hashOf(Buffer.alloc(0))
export const EMPTY_ROOT: Hash = hashOf(rlp(Buffer.alloc(0)))

/** A leaf with its value, or a branch, with an extension before it if it has a path. No key of ours is a prefix of another one. */
interface Node {
  /** Digits that all keys below share from here on. */
  path: string
  value: Uint8Array | null
  below: readonly (Node | undefined)[]
  /** Its nodes in hashed form, the extension first, and the hash by which its parent refers to it: computed once. */
  encoded?: Uint8Array[]
  hash?: Uint8Array
}

/** Builds the trie of a state. */
export function buildStateTrie(accounts: Iterable<readonly [address: Hex, account: TrieAccount]>): StateTrie {
  let trie = trieOf(undefined)
  for (const [address, account] of accounts) trie = trie.put(address, account)
  return trie
}

/** The trie of an account's nonzero words of storage. */
export function storageTrie(words: ReadonlyMap<Hex, Hex>): { root: Hash; proof(slot: Hex): Hex[] } {
  let top: Node | undefined
  for (const [slot, word] of words) top = put(top, pathOf(slot), rlp(quantity(BigInt(word))))
  return { root: rootOf(top), proof: (slot) => proofIn(top, slot) }
}

/** The root of a list, as headers have it for transactions and receipts. */
export function listRoot(items: readonly Uint8Array[]): Hash {
  let top: Node | undefined
  for (const [index, item] of items.entries()) top = put(top, Buffer.from(rlp(quantity(index))).toString('hex'), item)
  return rootOf(top)
}

function trieOf(top: Node | undefined): StateTrie {
  return {
    get root() {
      return rootOf(top)
    },
    put: (address, account) => trieOf(put(top, pathOf(address), encode(account))),
    proof: (address) => proofIn(top, address),
  }
}

/** The nodes on the path to a key, from the root on. */
function proofIn(top: Node | undefined, key: Hex): Hex[] {
  const nodes: Hex[] = []
  let left = pathOf(key)
  for (let node = top; node; ) {
    const [first, second] = encodedOf(node)
    nodes.push(toHex(first as Uint8Array))
    if (!left.startsWith(node.path)) break
    if (second) nodes.push(toHex(second))
    left = left.slice(node.path.length)
    node = node.below[digitAt(left, 0)]
    left = left.slice(1)
  }
  return nodes
}

const rootOf = (top: Node | undefined) => (top ? (toHex(referenceOf(top)) as Hash) : EMPTY_ROOT)

const paths = new Map<Hex, string>()

function pathOf(key: Hex): string {
  const path = paths.get(key) ?? keccak(fromHex(key)).toString('hex')
  paths.set(key, path)
  return path
}

function encode({ nonce, balanceWei, storageRoot, codeHash }: TrieAccount): Uint8Array {
  return rlp([quantity(nonce), quantity(balanceWei), fromHex(storageRoot), fromHex(codeHash)])
}

const NONE: readonly undefined[] = Array<undefined>(16).fill(undefined)
const digitAt = (path: string, at: number) => Number.parseInt(path.charAt(at), 16)

function put(node: Node | undefined, path: string, value: Uint8Array): Node {
  if (!node) return { path, value, below: NONE }
  let shared = 0
  while (shared < node.path.length && path[shared] === node.path[shared]) shared++
  const rest = path.slice(shared + 1)
  if (shared < node.path.length) {
    const moved: Node = { path: node.path.slice(shared + 1), value: node.value, below: node.below }
    const below = NONE.with(digitAt(node.path, shared), moved as never)
    return {
      path: path.slice(0, shared),
      value: null,
      below: below.with(digitAt(path, shared), put(undefined, rest, value) as never),
    }
  }
  if (node.value) return { path, value, below: NONE }
  const digit = digitAt(path, shared)
  return { path: node.path, value: null, below: node.below.with(digit, put(node.below[digit], rest, value)) }
}

function encodedOf(node: Node): Uint8Array[] {
  if (node.encoded) return node.encoded
  if (node.value) node.encoded = [rlp([compact(node.path, true), node.value])]
  else {
    const empty = Buffer.alloc(0)
    const branch = rlp([...node.below.map((child) => (child ? referenceOf(child) : empty)), empty])
    node.encoded = node.path === '' ? [branch] : [rlp([compact(node.path, false), keccak(branch)]), branch]
  }
  return node.encoded
}

/** The parent's reference to a node. One of fewer than 32 bytes would be inline; our values are longer. */
function referenceOf(node: Node): Uint8Array {
  node.hash ??= keccak(encodedOf(node)[0] as Uint8Array)
  return node.hash
}

/** A path with the digits that say whether it is a leaf's and of odd length. */
function compact(path: string, isLeaf: boolean): Buffer {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2)
  return Buffer.from(`${flag}${path.length % 2 === 0 ? '0' : ''}${path}`, 'hex')
}
