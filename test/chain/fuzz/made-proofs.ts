// Proofs that a liar may make up together with their root: for a key, each kind of node (yellow paper, appendix D), right and with one difference.
import { RLP } from '@ethereumjs/rlp'
import { getBytes, hexlify, keccak256 } from 'ethers'
import type { Hex } from '../../models/proofs/items.ts'

export type Item = Uint8Array | Item[]
/** The first node, and those under it in their order. */
type Made = [first: Item, ...below: Item[]]

const NOTHING = new Uint8Array()
const hexOf = (node: Item) => hexlify(RLP.encode(node)) as Hex
const nameOf = (node: Item): Uint8Array => getBytes(keccak256(hexOf(node)))
export const bytesIn = (digits: string): Uint8Array => getBytes(`0x${digits}`)

/** A path in its compact form (appendix C). `flag` is 0 or 2. */
const path = (flag: number, digits: string): Uint8Array =>
  bytesIn(digits.length % 2 === 0 ? `${flag}0${digits}` : `${flag + 1}${digits}`)
const leaf = (digits: string, value: Item): Item => [path(2, digits), value]
const other = (digit: string): string => (digit === '0' ? '1' : '0')

function branch(digit: string, item: Item, length = 17): Item {
  return Array.from({ length }, (_, at): Item => (at === Number.parseInt(digit, 16) ? item : NOTHING))
}

/** A single node, whose path has each flag, and these digits or others. */
function* leaves(key: string, value: Item): Generator<Made> {
  const last = key.slice(-1)
  const digits = [key, `${other(key.charAt(0))}${key.slice(1)}`, `${key.slice(0, -1)}${other(last)}`]
  for (const each of [...digits, key.slice(2), key.slice(0, -2), `${key}00`, ''])
    for (const flags of ['00', '01', '0f', '20', '21', '40', '60', '80']) yield [[bytesIn(flags + each), value]]
  for (const each of [key.slice(1), key.slice(0, -1), `${key}0`])
    for (const flag of ['1', '3', '5', '7', 'f']) yield [[bytesIn(flag + each), value]]
  const whole = path(2, key)
  for (const node of [[NOTHING, value], [[whole], value], [whole, [value]], [whole, NOTHING], [whole], whole])
    yield [node]
  yield [[whole, value, value]]
}

/** A branch, what it names or holds at the key's first digit, and what is there instead. */
function* branches(key: string, value: Item): Generator<Made> {
  const digit = key.charAt(0)
  const below = leaf(key.slice(1), value)
  const name = nameOf(below)
  for (const length of [15, 16, 17, 18]) yield [branch(digit, name, length), below]
  for (const named of [NOTHING, name.slice(1), bytesIn('00'), Uint8Array.of(...name, 0), nameOf([below])])
    yield [branch(digit, named), below]
  yield [branch(other(digit), name), below]
  yield [branch(digit, NOTHING)]
  yield [branch(digit, below)]
  yield [branch(digit, below), below]
}

/** A node for some digits, and under it the end of the key or a branch. */
function* extensions(key: string, value: Item): Generator<Made> {
  for (const count of [0, 1, 2, 63, 64]) {
    const [taken, left] = [key.slice(0, count), key.slice(count)]
    const end = leaf(left, value)
    const fork = branch(left.charAt(0) || '0', left === '' ? value : leaf(left.slice(1), value))
    for (const digits of [taken, taken && `${taken.slice(0, -1)}${other(taken.slice(-1))}`])
      for (const below of [end, fork]) {
        yield [[path(0, digits), nameOf(below)], below]
        yield [[path(0, digits), below]]
      }
  }
}

/** A proof of a value, with its root: every kind, and with nodes left out, doubled or in capitals. */
export function* madeProofs(key: string, value: Item): Generator<{ root: Hex; nodes: Hex[] }> {
  for (const made of [...leaves(key, value), ...branches(key, value), ...extensions(key, value)]) {
    const root = keccak256(hexOf(made[0])) as Hex
    const nodes = made.map(hexOf)
    const last = nodes.at(-1) as Hex
    const capitals = nodes.map((node) => `0x${node.slice(2).toUpperCase()}` as Hex)
    for (const written of [nodes, nodes.slice(0, -1), [...nodes, last], capitals]) yield { root, nodes: written }
  }
  yield* notCanonical(value)
}

/** Bytes that no encoder writes, and the root of the trie that has nothing. */
function* notCanonical(value: Item): Generator<{ root: Hex; nodes: Hex[] }> {
  const bytes = hexOf(value).slice(2)
  for (const node of ['0x', '0x80', '0xc0', '0x8101', '0xf80101', `0x${bytes}00`, `0x${bytes.slice(0, -2)}`] as Hex[])
    for (const root of [keccak256('0x80'), keccak256(node)] as Hex[]) {
      yield { root, nodes: [] }
      yield { root, nodes: [node] }
    }
}

/** A leaf of these bytes at the key. */
export function madeLeaf(key: string, bytes: Uint8Array): { root: Hex; nodes: Hex[] } {
  const node = hexOf(leaf(key, bytes))
  return { root: keccak256(node) as Hex, nodes: [node] }
}
