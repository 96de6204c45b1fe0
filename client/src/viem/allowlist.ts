// Verifies the service's answers about an allowlist against its root: a wallet's allocation as OpenZeppelin's MerkleProof does, a published list by
// building OpenZeppelin's StandardMerkleTree.
import { concat, encodeAbiParameters, keccak256 } from 'viem'
import type { LedgerClient } from '../client.ts'
import { nullOn } from '../errors.ts'
import type { Allowlisted, AllowlistPage, Hex } from '../types.ts'

export interface VerifiedAllocation {
  /**
   * True if the proof leads to the root. False if it does not, or if the answer is about another list or wallet. Null if the wallet is not listed,
   * because absence has no proof.
   */
  matches: boolean | null
  reported: Allowlisted
}

/**
 * Fetches how many nodes a list lets a wallet buy, and checks the proof. `root` is the root that you trust: a tier's, or the root that the operator
 * announced.
 */
export async function verifyAllowlisted(ledger: LedgerClient, root: Hex, address: Hex): Promise<VerifiedAllocation> {
  const answer = await ledger.getAllowlisted(root, address)
  const isMeant = same(answer.root, root) && same(answer.address, address)
  if (!isMeant || (answer.proof === null) !== (answer.allocation === 0)) return { matches: false, reported: answer }
  if (answer.proof === null) return { matches: null, reported: answer }
  const computedRoot = (answer.proof as Hex[]).reduce(parentOf, leafOf(answer))
  return { matches: same(computedRoot, root), reported: answer }
}

export interface VerifiedList {
  /** True if these wallets are the whole list: its root follows from them. Null if the operator has not published the list. */
  matches: boolean | null
  /** The allocation of each wallet; empty if the list is not published. */
  allocations: ReadonlyMap<string, number>
}

/** Fetches a published list page by page, and recomputes its root. From a list that matches you can see who is not on it. */
export async function verifyAllowlist(ledger: LedgerClient, root: Hex): Promise<VerifiedList> {
  const entries: AllowlistPage['entries'] = []
  for (let left = 1; left > 0; ) {
    const page = await ledger.getAllowlist(root, entries.at(-1)?.address).catch(nullOn(404))
    if (page === null) return { matches: null, allocations: new Map() }
    entries.push(...page.entries)
    left = page.entries.length === 0 ? 0 : Math.min(page.total, ENTRIES_MAX) - entries.length
  }
  return {
    matches: entries.length > 0 && same(rootOf(entries.map(leafOf).sort()), root),
    allocations: new Map(entries.map(({ address, allocation }) => [address, allocation])),
  }
}

/** The service takes no larger list. */
const ENTRIES_MAX = 1_000_000

const leafOf = ({ address, allocation }: { address: string; allocation: number }): Hex =>
  keccak256(
    keccak256(
      encodeAbiParameters(
        [{ type: 'address' }, { type: 'uint256' }],
        [address.toLowerCase() as Hex, BigInt(allocation)],
      ),
    ),
  )

/** The root over sorted leaves. They fill the tree from its end, and each inner node is the hash of the two below it. */
function rootOf(leaves: readonly Hex[]): Hex {
  const inner = leaves.length - 1
  const tree: Hex[] = [...Array<Hex>(inner), ...[...leaves].reverse()]
  for (let i = inner - 1; i >= 0; i--) tree[i] = parentOf(tree[2 * i + 1] as Hex, tree[2 * i + 2] as Hex)
  return tree[0] as Hex
}

export const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** The hash of two siblings, the smaller first. */
const parentOf = (a: Hex, b: Hex): Hex => keccak256(concat(a.toLowerCase() < b.toLowerCase() ? [a, b] : [b, a]))
