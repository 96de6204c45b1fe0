// Reads an account, proven against the state root in a block's header (eth_getProof, EIP-1186). It reports a proof that contradicts the header, and
// never uses it as an answer.
import type { Address } from '../../../domain/units.ts'
import { ChainFault, ProofFault } from '../../faults.ts'
import type { AccountState, BlockRef } from '../../port.ts'
import { provenAccount, provenWord } from '../../prove/account-proof.ts'
import { isHeaderSound, noteFailed, type Soundness } from '../../prove/sound.ts'
import type { Rpc, RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { bytes, fields, hash32, list } from '../../rpc/wire.ts'

export interface Asking<T> {
  rpc: T
  soundness: Soundness
}

/** How to read an account, and what to read with it. */
interface Wanted<T> {
  read: (state: ProvenState) => T
  /** Words of its storage. */
  slots?: readonly `0x${string}`[]
  /** An additional call on that block's state. */
  call?: (block: object) => RpcCall
}

interface ProvenState {
  account: AccountState
  /** In the order of `slots`. */
  words: readonly bigint[]
  /** The answer to `call`; not proven. */
  answer: unknown
}

/**
 * An account proven against the state root of exactly that header, mapped by `read`. Null if there is no proof, or this chain's headers do not
 * recompute. Throws a ProofFault if the proof is for another state, or `read` throws a ChainFault; once account proofs have been lowered, returns
 * null for these, too.
 */
export async function readProven<T>(
  { rpc, soundness }: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
  { read, slots = [], call }: Wanted<T>,
): Promise<T | null> {
  const state = { blockHash: at.hash, requireCanonical: true }
  const [block, proof, other] = await rpc.batch([
    { method: 'eth_getBlockByHash', params: [at.hash, false] },
    { method: 'eth_getProof', params: [owner, slots, state] },
    ...(call ? [call(state)] : []),
  ])
  if (!proof?.ok || !block?.ok || block.result == null || (call && !other?.ok)) return null
  if (!isHeaderSound(soundness, block.result, at.number)) return null
  try {
    const { hash, stateRoot } = fields<'hash' | 'stateRoot'>(block.result, 'block')
    if (hash !== at.hash) throw new ChainFault(`a header of another block than ${at.hash}`, { retryable: true })
    const { accountProof, storageProof } = fields<'accountProof' | 'storageProof'>(proof.result, 'proof')
    const account = provenAccount(hash32(stateRoot, 'state root'), owner, nodesOf(accountProof))
    const proofs = slots.length > 0 ? list(storageProof, 'proof of storage') : []
    const words = slots.map((slot, index) =>
      provenWord(account.storageRoot, slot, nodesOf(fields<'proof'>(proofs[index], 'proof of storage').proof)),
    )
    return read({ account, words, answer: other?.ok ? other.result : null })
  } catch (error) {
    if (!(error instanceof ChainFault)) throw error
    if (soundness.states.get('state') === 'lowered') return null
    throw new ProofFault('state', at.number, error.message)
  }
}

const nodesOf = (proof: unknown) => list(proof, 'proof').map((node) => bytes(node, 'node of a proof'))

/** Just the account. */
export async function readProvenAccount(
  asking: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
): Promise<AccountState | null> {
  // Development chains have accounts in their first block that its root does not cover. That block has no payments.
  return at.number === 0 ? null : await readProven(asking, owner, at, { read: ({ account }) => account })
}

/**
 * Asks one provider at a time, and returns the first proof. If there is none: which providers gave no proof, and which a false one. The latter are
 * recorded and become last in order. A provider that cannot answer at the moment is in neither list.
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
