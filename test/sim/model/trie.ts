// A Merkle Patricia trie of accounts, as chains keep their state (yellow paper, appendix D): what stands behind eth_getProof on chains of our own
// making. Built whole, for few accounts; its proofs are held to the check that those of a real node pass (test/chain/state/account-proof.test.ts).
import { type Hex, keccak256, numberToHex, toRlp } from 'viem'

export interface TrieAccount {
  nonce: number
  balanceWei: bigint
  storageRoot: Hex
  codeHash: Hex
}

export interface StateTrie {
  root: Hex
  /** The nodes on the way to an address, from the root on. */
  proof(address: Hex): Hex[]
}

export const NO_CODE_HASH: Hex = keccak256('0x')
export const EMPTY_ROOT: Hex = keccak256(toRlp('0x'))

interface Entry {
  /** What is left of the key, in hex digits. */
  path: string
  value: Hex
}

/** A node of RLP, with those below it by the next digits of the key. */
interface Node {
  rlp: Hex
  path: string
  below: Map<string, Node>
}

/** Builds the trie of a state. */
export function buildStateTrie(accounts: Iterable<readonly [address: Hex, account: TrieAccount]>): StateTrie {
  const entries = [...accounts].map(([address, account]) => ({ path: pathOf(address), value: encode(account) }))
  const top = entries.length === 0 ? null : build(entries)
  return {
    root: top ? keccak256(top.rlp) : EMPTY_ROOT,
    proof(address) {
      const nodes: Hex[] = []
      let left = pathOf(address)
      for (let node = top ?? undefined; node; ) {
        nodes.push(node.rlp)
        if (!left.startsWith(node.path)) break
        left = left.slice(node.path.length)
        const next: Node | undefined = node.below.get(node.path === '' ? left.charAt(0) : '')
        if (node.path === '') left = left.slice(1)
        node = next
      }
      return nodes
    },
  }
}

const pathOf = (address: Hex) => keccak256(address).slice(2)
const word = (value: bigint | number): Hex => (BigInt(value) === 0n ? '0x' : even(numberToHex(value)))
const even = (hex: Hex): Hex => (hex.length % 2 === 0 ? hex : `0x0${hex.slice(2)}`)

function encode({ nonce, balanceWei, storageRoot, codeHash }: TrieAccount): Hex {
  return toRlp([word(nonce), word(balanceWei), storageRoot, codeHash])
}

function build(entries: readonly Entry[]): Node {
  const [first] = entries as [Entry]
  if (entries.length === 1)
    return { rlp: toRlp([compact(first.path, true), first.value]), path: first.path, below: new Map() }
  const shared = sharedLength(entries)
  if (shared > 0) {
    const child = build(entries.map(({ path, value }) => ({ path: path.slice(shared), value })))
    const path = first.path.slice(0, shared)
    return { rlp: toRlp([compact(path, false), keccak256(child.rlp)]), path, below: new Map([['', child]]) }
  }
  const below = new Map<string, Node>()
  for (const digit of '0123456789abcdef') {
    const under = entries.filter(({ path }) => path.startsWith(digit))
    if (under.length > 0) below.set(digit, build(under.map(({ path, value }) => ({ path: path.slice(1), value }))))
  }
  const items = [...'0123456789abcdef'].map((digit): Hex => {
    const child = below.get(digit)
    return child ? keccak256(child.rlp) : '0x'
  })
  return { rlp: toRlp([...items, '0x']), path: '', below }
}

function sharedLength(entries: readonly Entry[]): number {
  const [first] = entries as [Entry]
  let length = 0
  while (entries.every(({ path }) => path.charAt(length) === first.path.charAt(length))) length++
  return length
}

/** A path with the digits that say whether it is a leaf's and of odd length. */
function compact(path: string, isLeaf: boolean): Hex {
  const flag = (isLeaf ? 2 : 0) + (path.length % 2)
  return `0x${flag}${path.length % 2 === 0 ? '0' : ''}${path}`
}
