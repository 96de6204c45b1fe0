// Builds the tree of an allowlist exactly as OpenZeppelin's StandardMerkleTree over (address, uint256) does, so that their tools and contracts accept
// our roots and proofs. A million rows stay in three buffers.
import { keccakOf } from '../../../chain/digest.ts'
import { NODE_BYTES, nodeCount } from '../../../domain/payers/allowlists.ts'
import type { Address, Hash } from '../../../domain/units.ts'

/** Rows of a list: the wallet, and how many nodes it may buy. */
export interface Entries {
  readonly addresses: readonly Address[]
  readonly allocations: readonly number[]
}

/** All nodes in order, and the position of each row's leaf. */
export interface AllowlistTree {
  readonly root: Hash
  readonly nodes: Buffer
  readonly leaves: Uint32Array
}

/** Builds the tree. There must be at least one row. */
export function buildTree({ addresses, allocations }: Entries): AllowlistTree {
  const count = addresses.length
  const hashes = Buffer.alloc(count * NODE_BYTES)
  const word = Buffer.alloc(2 * NODE_BYTES)
  for (let row = 0; row < count; row++) {
    word.write(addresses[row]?.slice(2) ?? '', 12, 'hex')
    word.writeUInt32BE(allocations[row] ?? 0, 60)
    hashes.set(keccakOf(keccakOf(word)), row * NODE_BYTES)
  }
  const hashAt = (row: number) => hashes.subarray(row * NODE_BYTES, (row + 1) * NODE_BYTES)
  const order = Uint32Array.from({ length: count }, (_, row) => row).sort((a, b) => hashAt(a).compare(hashAt(b)))
  const total = nodeCount(count)
  const nodes = Buffer.alloc(total * NODE_BYTES)
  const leaves = new Uint32Array(count)
  order.forEach((row, rank) => {
    // The smallest leaf is the last node.
    leaves[row] = total - 1 - rank
    nodes.set(hashAt(row), (total - 1 - rank) * NODE_BYTES)
  })
  const nodeAt = (place: number) => nodes.subarray(place * NODE_BYTES, (place + 1) * NODE_BYTES)
  for (let place = total - count - 1; place >= 0; place--) {
    const [left, right] = [nodeAt(2 * place + 1), nodeAt(2 * place + 2)]
    const pair = left.compare(right) <= 0 ? [left, right] : [right, left]
    nodes.set(keccakOf(Buffer.concat(pair)), place * NODE_BYTES)
  }
  return { root: `0x${nodeAt(0).toString('hex')}` as Hash, nodes, leaves }
}
