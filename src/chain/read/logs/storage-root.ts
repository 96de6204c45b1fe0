// Compares a contract's storage after two blocks by its root (eth_getProof, EIP-1186): equal roots say that nothing in it has changed in between,
// at the price of one call. It never takes "not to be had" for "unchanged".
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault, orNull } from '../../faults.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { fields, hash32 } from '../../rpc/wire.ts'

/** The time for which a provider that gives no proof, or not of such blocks, is not asked for one. */
const MUTE_MS = 60_000

/** It only saves other calls. */
const ONCE = { attempts: 1 }

/** Roots of an account without storage, which the factory never is: what a provider says that has no state to look at. */
const EMPTY: readonly string[] = [
  `0x${'0'.repeat(64)}`,
  '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421',
]

/** The root of a contract's storage after that very block. Throws a ChainFault where the provider gives no proof of it. */
export async function readStorageRoot(rpc: RpcReads, contract: Address, block: Hash): Promise<Hash> {
  const proof = await rpc.request('eth_getProof', [contract, [], { blockHash: block, requireCanonical: true }], ONCE)
  const root = hash32(fields<'storageHash'>(proof, 'proof').storageHash, 'storage root')
  if (EMPTY.includes(root))
    throw new ChainFault('the provider proves that the contract has no storage', { retryable: true })
  return root
}

export interface StorageRoots {
  /** True where the storage after both blocks is the same; false where it is not, or is not to be had. */
  isSame(before: Hash, after: Hash): Promise<boolean>
}

/** Builds the comparison for one contract. Blocks are named by their hashes, so that a node that lacks one says so. */
export function createStorageRoots(rpc: RpcReads, contract: Address): StorageRoots {
  let muteUntil = 0
  /** Of the block that the next range follows on. */
  let last: { block: Hash; root: Hash } | null = null

  const rootAfter = async (block: Hash) =>
    last?.block === block ? last.root : await readStorageRoot(rpc, contract, block)

  return {
    async isSame(before, after) {
      if (performance.now() < muteUntil) return false
      const earlier = await orNull(rootAfter(before))
      const later = earlier && (await orNull(rootAfter(after)))
      if (earlier === null || later === null) {
        muteUntil = performance.now() + MUTE_MS
        return false
      }
      last = { block: after, root: later }
      return earlier === later
    },
  }
}
