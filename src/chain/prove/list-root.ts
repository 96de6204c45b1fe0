// The root of an ordered list, as a block's header has it for transactions and receipts: a Merkle-Patricia trie that maps the RLP of each index to
// the bytes of the item (yellow paper, appendix D, and section 4.4.3). It stores no nodes, and hashes them from the leaves up. This is our own code,
// because the maintained library (@ethereumjs/mpt) is a complete trie with a store and four dependencies; the tests compare against it.
import type { Hash } from '../../domain/units.ts'
import { type Breath, breath } from './breath.ts'
import { EMPTY, hashOf, type Item, keccak, minimal, rlp } from './items.ts'

/** If a node has fewer bytes than this, its parent embeds the node instead of its hash. */
const EMBEDDED_BYTES = 32
const BRANCHES = 16

/** A value, and the hex digits of its key. */
interface Entry {
  readonly path: readonly number[]
  readonly value: Uint8Array
}

/** The root of a list of encoded items. */
export async function listRoot(values: readonly Uint8Array[], pause: Breath = breath()): Promise<Hash> {
  if (values.length === 0) return hashOf(rlp(EMPTY))
  const entries = values.map((value, index): Entry => ({ path: digitsOf(rlp(minimal(BigInt(index)))), value }))
  return hashOf(rlp(await nodeOf(entries, 0, pause)))
}

const digitsOf = (bytes: Uint8Array) => Array.from(bytes).flatMap((byte) => [byte >> 4, byte & 15])

/** The node for entries that share their first `depth` digits. No key is the beginning of another key, so branches have no values. */
async function nodeOf(entries: readonly Entry[], depth: number, pause: Breath): Promise<Item> {
  const [first] = entries as [Entry]
  if (entries.length === 1) return [compact(first.path.slice(depth), true), first.value]
  const sharedDepth = sharedDigits(entries, depth)
  if (sharedDepth > depth)
    return [compact(first.path.slice(depth, sharedDepth), false), await childOf(entries, sharedDepth, pause)]
  const children: Item[] = Array.from({ length: BRANCHES + 1 }, () => EMPTY)
  for (const [digit, under] of Map.groupBy(entries, ({ path }) => path[depth] as number)) {
    children[digit] = await childOf(under, depth + 1, pause)
  }
  return children
}

async function childOf(entries: readonly Entry[], depth: number, pause: Breath): Promise<Item> {
  const node = await nodeOf(entries, depth, pause)
  await pause()
  const bytes = rlp(node)
  return bytes.length < EMBEDDED_BYTES ? node : keccak(bytes)
}

/** How many leading digits all entries share. They differ before the end of any. */
function sharedDigits(entries: readonly Entry[], depth: number): number {
  const [first, ...others] = entries as [Entry, ...Entry[]]
  let sharedDepth = depth
  while (others.every((other) => other.path[sharedDepth] === first.path[sharedDepth])) sharedDepth++
  return sharedDepth
}

/**
 * Digits packed into bytes. The flag in front shows whether there is an odd number of digits, and whether they end at a leaf (yellow paper, appendix
 * C).
 */
function compact(digits: readonly number[], isLeaf: boolean): Uint8Array {
  const flag = isLeaf ? 2 : 0
  const nibbles = digits.length % 2 === 0 ? [flag, 0, ...digits] : [flag + 1, ...digits]
  return Uint8Array.from(
    { length: nibbles.length / 2 },
    (_, at) => ((nibbles[2 * at] ?? 0) << 4) | (nibbles[2 * at + 1] ?? 0),
  )
}
