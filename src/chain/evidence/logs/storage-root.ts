// Finds out with one call per block whether a contract changed between two blocks: compares its storage root and its balance (eth_getProof,
// EIP-1186). Without a proof that matches the blocks' headers, we assume that it may have changed.
import type { Address, Hash } from '../../../domain/units.ts'
import type { BlockRef } from '../../../ports/chain.ts'
import { ChainFault, ProofFault } from '../../../ports/faults.ts'
import { EMPTY_ROOT } from '../../prove/account-proof.ts'
import { mustProve, noteFailed, type Soundness } from '../../prove/sound.ts'
import type { RpcReads } from '../../rpc/rpc.ts'
import { byHash, fields, hash32, quantity } from '../../rpc/wire.ts'
import { readProvenAccount } from '../state/proven.ts'

/** How long we stop asking for proofs after a provider returned none for a block. */
const MUTE_MS = 60_000

/** A single attempt, because the proof only saves other calls. */
const ONCE = { attempts: 1 }

/**
 * Storage roots of an account without storage. The factory always has storage, so a provider that returns one of these roots does not have the state.
 */
const EMPTY: readonly string[] = [`0x${'0'.repeat(64)}`, EMPTY_ROOT]

/** What we compare of a contract, as of one block. */
interface ContractState {
  root: Hash
  balanceWei: bigint
}

/** A contract's storage root as of exactly that block. Throws a ChainFault if the provider returns no proof of it. */
export async function readStorageRoot(rpc: RpcReads, contract: Address, block: Hash): Promise<Hash> {
  return (await readState(rpc, contract, block)).root
}

async function readState(rpc: RpcReads, contract: Address, block: Hash): Promise<ContractState> {
  const proof = await rpc.request('eth_getProof', [contract, [], byHash(block)], ONCE)
  const { storageHash, balance } = fields<'storageHash' | 'balance'>(proof, 'proof')
  const root = hash32(storageHash, 'storage root')
  if (EMPTY.includes(root)) throw new ChainFault('the provider proves that the contract has no storage')
  return { root, balanceWei: quantity(balance, 'balance') }
}

export interface FactoryStates {
  /**
   * `quiet` if storage and balance are the same after both blocks: a sweep of surplus and a plain transfer of ether change only the balance. `moved`
   * if something changed; null if the provider returns no proof.
   */
  compare(before: BlockRef, after: BlockRef): Promise<'quiet' | 'moved' | null>
}

/** Creates the comparison for one factory. It names blocks by hash, so a provider that lacks a block must report that. */
export function createFactoryStates(rpc: RpcReads, factory: Address, soundness: Soundness): FactoryStates {
  let muteUntil = 0
  /** The state after the last block of the previous range, because the next range starts from it. */
  let last: { block: Hash; state: ContractState } | null = null

  async function stateAfter(at: BlockRef): Promise<ContractState> {
    if (last?.block === at.hash) return last.state
    // If this chain's headers cannot be proven, we have to trust the provider.
    if (!mustProve(soundness)) return await readState(rpc, factory, at.hash)
    const account = await readProvenAccount({ rpc, soundness }, factory, at)
    if (account === null || EMPTY.includes(account.storageRoot))
      throw new ChainFault('the provider did not prove the contract’s storage')
    return { root: account.storageRoot, balanceWei: account.balanceWei }
  }

  /** The same, but null if the provider does not prove it. A false proof is reported, because only a lie looks like that. */
  async function provenAfter(at: BlockRef): Promise<ContractState | null> {
    try {
      return await stateAfter(at)
    } catch (error) {
      if (!(error instanceof ChainFault)) throw error
      if (error instanceof ProofFault) noteFailed(soundness, error, rpc.firstHost())
      return null
    }
  }

  return {
    async compare(before, after) {
      if (performance.now() < muteUntil) return null
      const earlier = await provenAfter(before)
      const later = earlier && (await provenAfter(after))
      if (earlier === null || later === null) {
        muteUntil = performance.now() + MUTE_MS
        return null
      }
      last = { block: after.hash, state: later }
      return earlier.root === later.root && later.balanceWei === earlier.balanceWei ? 'quiet' : 'moved'
    },
  }
}
