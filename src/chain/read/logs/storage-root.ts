// Compares a contract after two blocks by its storage root and its balance (eth_getProof, EIP-1186): one call tells whether something happened to it
// in between. If the provider gives no proof that fits the blocks' headers, something may have happened.
import type { Address, Hash } from '../../../domain/units.ts'
import { ChainFault, orNull } from '../../faults.ts'
import type { BlockRef } from '../../port.ts'
import { EMPTY_ROOT } from '../../prove/account-proof.ts'
import { isAskedFor, type Soundness } from '../../prove/sound.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { fields, hash32, quantity } from '../../rpc/wire.ts'
import { readProvenAccount } from '../state/proven.ts'

/** How long we do not ask a provider for proofs if it gave none, or none for such blocks. */
const MUTE_MS = 60_000

/** It only saves other calls. */
const ONCE = { attempts: 1 }

/** Roots of an account without storage, which the factory never is. Providers without the state give these. */
const EMPTY: readonly string[] = [`0x${'0'.repeat(64)}`, EMPTY_ROOT]

/** A contract after one block, with what shows whether something happened to it. */
interface ContractState {
  root: Hash
  balanceWei: bigint
}

/** The root of a contract's storage after exactly that block. Throws a ChainFault if the provider gives no proof of it. */
export async function readStorageRoot(rpc: RpcReads, contract: Address, block: Hash): Promise<Hash> {
  return (await readState(rpc, contract, block)).root
}

async function readState(rpc: RpcReads, contract: Address, block: Hash): Promise<ContractState> {
  const proof = await rpc.request('eth_getProof', [contract, [], { blockHash: block, requireCanonical: true }], ONCE)
  const { storageHash, balance } = fields<'storageHash' | 'balance'>(proof, 'proof')
  const root = hash32(storageHash, 'storage root')
  if (EMPTY.includes(root))
    throw new ChainFault('the provider proves that the contract has no storage', { retryable: true })
  return { root, balanceWei: quantity(balance, 'balance') }
}

export interface FactoryStates {
  /**
   * `quiet` if the storage is the same after both blocks, and no ether has left, because a sweep of surplus changes only the balance. Incoming ether
   * leaves no log. `moved` if something happened; null if the provider gives no proof.
   */
  compare(before: BlockRef, after: BlockRef): Promise<'quiet' | 'moved' | null>
}

/** Builds the comparison for one factory. It names blocks by their hashes, so a node that lacks one says so. */
export function createFactoryStates(rpc: RpcReads, factory: Address, soundness: Soundness): FactoryStates {
  let muteUntil = 0
  /** State after the block that the next range follows. */
  let last: { block: Hash; state: ContractState } | null = null

  async function stateAfter(at: BlockRef): Promise<ContractState> {
    if (last?.block === at.hash) return last.state
    // On a chain whose headers do not recompute we take the provider's word.
    if (!isAskedFor(soundness, 'header')) return await readState(rpc, factory, at.hash)
    const account = await readProvenAccount({ rpc, soundness }, factory, at)
    if (account === null || EMPTY.includes(account.storageRoot))
      throw new ChainFault('the provider proves no storage of the contract', { retryable: true })
    return { root: account.storageRoot, balanceWei: account.balanceWei }
  }

  return {
    async compare(before, after) {
      if (performance.now() < muteUntil) return null
      const earlier = await orNull(stateAfter(before))
      const later = earlier && (await orNull(stateAfter(after)))
      if (earlier === null || later === null) {
        muteUntil = performance.now() + MUTE_MS
        return null
      }
      last = { block: after.hash, state: later }
      return earlier.root === later.root && later.balanceWei >= earlier.balanceWei ? 'quiet' : 'moved'
    },
  }
}
