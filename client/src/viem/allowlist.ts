// Verifies the service's answer about an allowlist against its root, as OpenZeppelin's MerkleProof does. Makes no further request.
import { concat, encodeAbiParameters, keccak256 } from 'viem'
import type { LedgerClient } from '../client.ts'
import type { Allowlisted, Hex } from '../types.ts'

export interface VerifiedAllocation {
  /**
   * True if the proof leads to the root. False if it does not, or if the answer is about another list or wallet. Null if the wallet is not listed,
   * because absence has no proof.
   */
  matches: boolean | null
  said: Allowlisted
}

/**
 * Fetches how many nodes a list lets a wallet buy, and checks the proof. `root` is the root that you trust: a tier's, or the root that the operator
 * announced.
 */
export async function verifyAllowlisted(ledger: LedgerClient, root: Hex, address: Hex): Promise<VerifiedAllocation> {
  const answer = await ledger.getAllowlisted(root, address)
  const isMeant = same(answer.root, root) && same(answer.address, address)
  if (!isMeant || (answer.proof === null) !== (answer.allocation === 0)) return { matches: false, said: answer }
  if (answer.proof === null) return { matches: null, said: answer }
  const leaf = encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [address, BigInt(answer.allocation)])
  const computedRoot = (answer.proof as Hex[]).reduce(parentOf, keccak256(keccak256(leaf)))
  return { matches: same(computedRoot, root), said: answer }
}

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** The hash of two siblings, the smaller first. */
const parentOf = (a: Hex, b: Hex): Hex => keccak256(concat(a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]))
