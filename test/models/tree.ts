// An allowlist's Merkle tree, by docs/ADMIN.md (Allowlists) and api/openapi.yaml (getAllowlisted): OpenZeppelin's StandardMerkleTree over
// `(address, uint256)`. A leaf is keccak256(keccak256(abi.encode(address, allocation))). The leaves are sorted by hash and lie at the end of the array of
// nodes, the last one first; a node is the hash of its two children, the smaller first, and the root is number 0.
import { keccak256 } from 'viem'

type Hash = `0x${string}`
export interface Row {
  address: string
  allocation: number
}

function leafOf(row: Row): Hash {
  const account = row.address.toLowerCase().slice(2).padStart(64, '0')
  const amount = row.allocation.toString(16).padStart(64, '0')
  return keccak256(keccak256(`0x${account}${amount}`))
}

const pair = (a: Hash, b: Hash): Hash =>
  BigInt(a) <= BigInt(b) ? keccak256(`${a}${b.slice(2)}` as Hash) : keccak256(`${b}${a.slice(2)}` as Hash)

/** Every node of the tree, the root first. */
export function nodesOf(rows: Row[]): Hash[] {
  const leaves = rows.map(leafOf).sort((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1))
  const nodes: Hash[] = Array.from({ length: 2 * leaves.length - 1 })
  for (let i = 0; i < leaves.length; i++) nodes[nodes.length - 1 - i] = leaves[i] as Hash
  for (let i = nodes.length - 1 - leaves.length; i >= 0; i--) {
    nodes[i] = pair(nodes[2 * i + 1] as Hash, nodes[2 * i + 2] as Hash)
  }
  return nodes
}

/** The siblings from a row's leaf up to the root. */
export function proofOf(rows: Row[], row: Row): Hash[] | null {
  const nodes = nodesOf(rows)
  let place = nodes.lastIndexOf(leafOf(row))
  if (place < rows.length - 1) return null
  const proof: Hash[] = []
  while (place > 0) {
    proof.push(nodes[place % 2 === 1 ? place + 1 : place - 1] as Hash)
    place = Math.floor((place - 1) / 2)
  }
  return proof
}

/** Whether a proof leads from a row to a root, as OpenZeppelin's MerkleProof checks it. */
export function proves(root: Hash, row: Row, proof: Hash[]): boolean {
  let hash = leafOf(row)
  for (const one of proof) hash = pair(hash, one)
  return hash === root
}
