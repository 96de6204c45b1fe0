// Reads an account, proven against the state root in a block's header (eth_getProof, EIP-1186). If a proof contradicts the header, it reports that,
// and never uses the proof.
import type { Address } from '../../../domain/units.ts'
import type { AccountState, BlockRef } from '../../../ports/chain.ts'
import { ChainFault, ProofFault } from '../../../ports/faults.ts'
import { provenAccount, provenWord } from '../../prove/account-proof.ts'
import type { Fields } from '../../prove/items.ts'
import { isHeaderSound, noteFailed, type Soundness } from '../../prove/sound.ts'
import type { Rpc, RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { byHash, bytes, fields, hash32, list } from '../../rpc/wire.ts'

export interface Asking<T> {
  rpc: T
  soundness: Soundness
}

/** How to read an account, and what else to read with it. */
interface Wanted<T> {
  read: (state: ProvenState) => T
  /** The slots of its storage to read. */
  slots?: readonly `0x${string}`[]
  /** Another call, made on the same state. */
  call?: (block: object) => RpcCall
}

interface ProvenState {
  account: AccountState
  /** The words in `slots`, in the same order. */
  words: readonly bigint[]
  /** What `call` returned; this is not proven. */
  answer: unknown
}

/**
 * Reads an account, proven against the state root of exactly that block, and passes it through `read`. Null if there is no proof, or if this chain's
 * headers cannot be proven. Throws a ProofFault if the proof twice does not match that state, or if `read` twice throws a ChainFault.
 */
export async function readProven<T>(
  asking: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
  target: Wanted<T>,
): Promise<T | null> {
  try {
    return await readOnce(asking, owner, at, target)
  } catch (error) {
    if (!(error instanceof ProofFault)) throw error
    // A busy anvil once answered with the state of another block, which is no reason to wake an operator.
    return await readOnce(asking, owner, at, target)
  }
}

async function readOnce<T>(
  { rpc, soundness }: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
  { read, slots = [], call }: Wanted<T>,
): Promise<T | null> {
  const state = byHash(at.hash)
  const [block, proof, other] = await rpc.batch([
    { method: 'eth_getBlockByHash', params: [at.hash, false] },
    { method: 'eth_getProof', params: [owner, slots, state] },
    ...(call ? [call(state)] : []),
  ])
  if (!proof?.ok || !block?.ok || block.result == null || (call && !other?.ok)) return null
  const { accountProof, storageProof }: Fields = Object(proof.result)
  if (!isFilled(accountProof) || (slots.length > 0 && !isFilled(storageProof))) return null
  if (!isHeaderSound(soundness, block.result, at.number)) return null
  try {
    const { hash, stateRoot } = fields<'hash' | 'stateRoot'>(block.result, 'block')
    if (hash32(hash, 'block hash') !== at.hash) throw new ChainFault(`a header of a block other than ${at.hash}`)
    const account = provenAccount(hash32(stateRoot, 'state root'), owner, nodesOf(accountProof))
    const words = slots.map((slot, index) => {
      const { proof: nodes } = fields<'proof'>((storageProof as unknown[])[index], 'proof of storage')
      return provenWord(account.storageRoot, slot, nodesOf(nodes))
    })
    return read({ account, words, answer: other?.ok ? other.result : null })
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    throw new ProofFault('state', at.number, error.message)
  }
}

/** A provider that returns no nodes at all proves nothing, neither that it is right nor that it lies. */
const isFilled = (proof: unknown) => Array.isArray(proof) && proof.length > 0

const nodesOf = (proof: unknown) => list(proof, 'proof').map((node) => bytes(node, 'node of a proof'))

export async function readProvenAccount(
  asking: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
): Promise<AccountState | null> {
  // On development chains, the root of the first block does not cover all accounts in it. That block has no payments.
  return at.number === 0 ? null : await readProven(asking, owner, at, { read: ({ account }) => account })
}

/**
 * Asks one provider after another, and returns the first proof. If there is none, returns the providers that gave no proof (`silent`) and those that
 * gave a false one (`liars`). A liar is recorded, and moves to the end of the order. A provider that cannot answer at the moment is in neither list.
 */
export async function firstProven<T>(
  { rpc, soundness }: Asking<Rpc>,
  read: (asking: Asking<RpcReads>) => Promise<T | null>,
): Promise<{ proven: T } | { proven: null; silent: readonly RpcReads[]; liars: ReadonlySet<RpcReads> }> {
  const silent: RpcReads[] = []
  const liars = new Set<RpcReads>()
  for (const provider of rpc.providers) {
    try {
      const proven = await read({ rpc: provider, soundness })
      if (proven !== null) return { proven }
      silent.push(provider)
    } catch (error) {
      if (!(error instanceof ChainFault)) throw error
      if (!(error instanceof ProofFault)) continue
      noteFailed(soundness, error, provider.host)
      provider.distrust()
      liars.add(provider)
    }
  }
  return { proven: null, silent, liars }
}
