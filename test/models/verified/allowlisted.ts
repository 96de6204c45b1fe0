// Whether an answer about an allowlist is borne out by its root: a second reading of client/README.md and api/openapi.yaml ("the list's root is that of
// OpenZeppelin's StandardMerkleTree over (address, uint256)"), and of OpenZeppelin's description of that tree.
import { AbiCoder, concat, keccak256 } from 'ethers'
import type { Allowlisted } from '../../../client/src/index.ts'
import { nodesOf } from '../tree.ts'
import { sameText } from './chain.ts'

// Choices in what the documents leave open:
// - An answer about another list or wallet is false, whatever else it says.
// - A wallet that is not listed may buy none, and has no proof. An answer with one of the two contradicts itself: false.
// - What cannot stand in the tree (a part of a proof without 32 bytes, a number that is no uint256) leads to no root: false.

const isHash = (value: unknown): value is string => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value)

/** The hash of a leaf, twice, so that no inner node can be taken for one. */
function leafOf(address: string, allocation: number): string {
  return keccak256(
    keccak256(AbiCoder.defaultAbiCoder().encode(['address', 'uint256'], [address.toLowerCase(), allocation])),
  )
}

/** The smaller of two stands first. */
function parentOf(one: string, other: string): string {
  return keccak256(concat(BigInt(one) < BigInt(other) ? [one, other] : [other, one]))
}

export function allocationMatches(root: string, address: string, said: Allowlisted): boolean | null {
  if (!sameText(said.root, root) || !sameText(said.address, address)) return false
  if ((said.proof === null) !== (said.allocation === 0)) return false
  if (said.proof === null) return null
  if (!Array.isArray(said.proof) || !said.proof.every(isHash)) return false
  if (!Number.isSafeInteger(said.allocation) || said.allocation < 0) return false
  let hash = leafOf(address, said.allocation)
  for (const beside of said.proof) hash = parentOf(hash, beside)
  return sameText(hash, root)
}

/** Whether a published list is all that its root covers. A list of nobody has no root. */
export const listMatches = (root: string, wallets: { address: string; allocation: number }[]): boolean =>
  wallets.length > 0 && sameText(nodesOf(wallets)[0], root)

/** A tree over some wallets: the hashes beside each on its way to the root. */
export function treeOf(wallets: readonly { address: string; allocation: number }[]) {
  const layers = [wallets.map(({ address, allocation }) => leafOf(address, allocation))]
  for (let layer = layers[0] as string[]; layer.length > 1; layers.push(layer)) {
    const pairs = Array.from({ length: Math.ceil(layer.length / 2) }, (_, index) =>
      layer.slice(2 * index, 2 * index + 2),
    )
    layer = pairs.map(([one, other]) => (other ? parentOf(one as string, other) : (one as string)))
  }
  const proofOf = (leaf: number) => layers.flatMap((layer, height) => layer[(leaf >> height) ^ 1] ?? [])
  return { root: layers.at(-1)?.[0] as `0x${string}`, proofOf }
}
