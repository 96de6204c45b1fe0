// An allowlist: wallets with the number of nodes that each may buy, identified by the root of a Merkle tree over them. The tree has the layout of
// OpenZeppelin's StandardMerkleTree: the root first, children of node i at 2i + 1 and 2i + 2, leaves at the end.

/** The largest number of rows of a list. We have not measured larger lists. */
export const ENTRIES_MAX = 1_000_000
/** The largest number of nodes that a row may allow, because the database stores a 32-bit integer. */
export const ALLOCATION_MAX = 2 ** 31 - 1
/** The largest number of rows that a route accepts: each has up to 48 bytes, in a body of 16 KiB. */
export const POSTED_ENTRIES_MAX = 300
/** Bytes of a node of the tree. */
export const NODE_BYTES = 32

/** How many nodes the tree over this many leaves has. */
export const nodeCount = (leaves: number): number => 2 * leaves - 1

/** The positions of the nodes that prove the node at `place`: its sibling, its parent's sibling, and so on below the root. */
export function proofPlaces(place: number): number[] {
  const places: number[] = []
  for (let at = place; at > 0; at = (at - 1) >> 1) places.push(at % 2 === 1 ? at + 1 : at - 1)
  return places
}
