// Checks an account's proof (eth_getProof, EIP-1186) against the state root of a block. A proof is a path of trie nodes: each node names the next one
// by digest (yellow paper, appendix D). This file returns only what the root commits to, and ignores everything else that the provider reports. This is
// our own code, because the maintained library (@ethereumjs/mpt) is a complete trie under MPL-2.0 with five dependencies. test/chain/prove checks it
// with a real node's proofs, test/chain/fuzz with forged ones.
import { fromRlp, keccak256, toRlp } from 'viem/utils'
import type { Address, Hash } from '../../domain/units.ts'
import type { AccountState } from '../../ports/chain.ts'
import { hash32, malformed, safeNumber } from '../rpc/wire.ts'

type Hex = `0x${string}`
type Rlp = ReturnType<typeof fromRlp<'hex'>>

/** keccak256 of no bytes: the code hash of an account without code. */
const NO_CODE = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470'
/** The root of an empty trie: the storage root of an account without storage. */
export const EMPTY_ROOT = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

const BRANCH_ITEMS = 17
const PATH_ITEMS = 2
/** Flags in the first digit of a path. ODD: the path has an odd number of digits. LEAF: its node is a leaf. */
const ODD = 1
const LEAF = 2

/** The state of an account that never sent or received anything, and so is not in the trie. */
const ABSENT: AccountState = { nonce: 0, balanceWei: 0n, hasCode: false, codeHash: NO_CODE, storageRoot: EMPTY_ROOT }

/** The account as the root commits to it. Throws a retryable ChainFault if the nodes prove neither the account nor its absence. */
export function provenAccount(stateRoot: Hash, address: Address, nodes: readonly Hex[]): AccountState {
  const value = provenValue(stateRoot, keccak256(address), nodes)
  if (value === null) return ABSENT
  const account = decode(value)
  if (!isListOf(account, 4)) return malformed('proof')
  const [nonce, balance, storageRoot, codeHash] = account.map(word) as [Hex, Hex, Hex, Hex]
  return {
    nonce: safeNumber(amountOf(nonce), 'proof'),
    balanceWei: amountOf(balance),
    hasCode: codeHash !== NO_CODE,
    codeHash: hash32(codeHash, 'proof'),
    storageRoot: hash32(storageRoot, 'proof'),
  }
}

/** A word of an account's storage, as the storage root commits to it. Throws in the same cases as `provenAccount`. */
export function provenWord(storageRoot: Hash, slot: Hex, nodes: readonly Hex[]): bigint {
  if (storageRoot === EMPTY_ROOT) return 0n
  const value = provenValue(storageRoot, keccak256(slot), nodes)
  return value === null ? 0n : amountOf(word(decode(value)))
}

/** The value of a 32-byte key; null if the nodes prove that the key has no value. */
function provenValue(root: Hash, key: Hex, nodes: readonly Hex[]): Hex | null {
  let reference: Rlp = root
  let remainder = key.slice(2)
  let usedCount = 0
  for (;;) {
    const node = nodeOf(reference, nodes[usedCount])
    if (node.isListed) usedCount++
    const step = stepThrough(node.items, remainder)
    if (step.next === null) return usedCount === nodes.length ? step.value : malformed('proof')
    reference = step.next
    remainder = step.remainder
  }
}

/**
 * The node to which its parent refers: by digest, or by embedding it if it has fewer than 32 bytes. Some clients list an embedded node as well,
 * others do not.
 */
function nodeOf(reference: Rlp, listedNode: Hex | undefined): { items: Rlp; isListed: boolean } {
  if (typeof reference !== 'string')
    return { items: reference, isListed: listedNode?.toLowerCase() === toRlp(reference as Hex[]) }
  if (listedNode === undefined) return malformed('proof')
  if (keccak256(listedNode) !== reference) return malformed('proof')
  return { items: decode(listedNode), isListed: true }
}

/** A provider that makes up both the header and the proof may send any bytes. RLP has one encoding for each value. */
function decode(bytes: Hex): Rlp {
  let item: Rlp
  try {
    item = fromRlp(bytes)
  } catch {
    return malformed('proof')
  }
  return toRlp(item as Hex[]) === bytes.toLowerCase() ? item : malformed('proof')
}

/** `next`: the digest of the next node, or the node itself if it is embedded. `value`: what the path ends in; null if there is nothing. */
type Step = { next: Rlp; remainder: string } | { next: null; value: Hex | null }

const NOTHING: Step = { next: null, value: null }

function stepThrough(node: Rlp, remainder: string): Step {
  if (isListOf(node, BRANCH_ITEMS)) {
    const next = node[Number.parseInt(remainder.charAt(0), 16)] ?? malformed('proof')
    return next === '0x' ? NOTHING : { next, remainder: remainder.slice(1) }
  }
  if (!isListOf(node, PATH_ITEMS)) return malformed('proof')
  const path = word(node[0]).slice(2)
  if (!/^[02]0|^[13]/.test(path)) return malformed('proof')
  const flags = Number.parseInt(path.charAt(0), 16)
  const digits = path.slice((flags & ODD) === 0 ? 2 : 1)
  if ((flags & LEAF) !== 0) return { next: null, value: digits === remainder ? word(node[1]) : null }
  if (digits === '') return malformed('proof')
  return remainder.startsWith(digits) ? { next: node[1] as Rlp, remainder: remainder.slice(digits.length) } : NOTHING
}

function isListOf(node: Rlp, items: number): node is readonly Rlp[] & Rlp {
  return Array.isArray(node) && node.length === items
}

function word(item: Rlp | undefined): Hex {
  return typeof item === 'string' ? item : malformed('proof')
}

/** A number of at most 256 bits, without leading zeros. */
function amountOf(word: Hex): bigint {
  if (word.length > 66 || word.startsWith('0x00')) return malformed('proof')
  return word === '0x' ? 0n : BigInt(word)
}
