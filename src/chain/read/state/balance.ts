// Reads an account's ether after one very block by its proof (eth_getProof) against the state root of that block's header. If no provider gives one,
// two must tell the same, and the only one is believed. It never answers a guess, nor the state of another block.
import { VOICES } from '../../../domain/finality.ts'
import type { BalanceReading } from '../../../domain/observed.ts'
import type { Address } from '../../../domain/units.ts'
import { ChainFault, orNull, ProofFault } from '../../faults.ts'
import type { AccountState, BlockRef } from '../../port.ts'
import { provenAccount } from '../../prove/account-proof.ts'
import { proveHeader } from '../../prove/header.ts'
import { assertSound, noteFailed, type Soundness } from '../../prove/sound.ts'
import { isLimit } from '../../rpc/provider.ts'
import type { Rpc, RpcReads } from '../../rpc/rpc.ts'
import { bytes, fields, hash32, header, list, quantity, toQuantity } from '../../rpc/wire.ts'
import { agreedAnswer } from './agreement.ts'

interface Asking<T> {
  rpc: T
  soundness: Soundness
}

/** Of whichever provider answers, or of one alone. Null if that block's state is gone. Throws a ChainFault if what it says does not hold. */
export async function readBalance(
  asking: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
): Promise<BalanceReading | null> {
  const provenWei = await readProven(asking, owner, at)
  if (provenWei !== null) return { wei: provenWei, proof: 'proven' }
  const wei = await readTold(asking.rpc, owner, at)
  return wei === null ? null : { wei, proof: 'believed' }
}

/** Of all providers. Null if that block's state is gone. Throws a ChainFault if what they say does not hold. */
export async function readSoundBalance(
  asking: Asking<Rpc>,
  owner: Address,
  at: BlockRef,
): Promise<BalanceReading | null> {
  const { providers } = asking.rpc
  if (providers.length < VOICES) return await alone(asking, () => readBalance(asking, owner, at))
  let voices: readonly RpcReads[] = providers
  try {
    const wei = await readProven(asking, owner, at)
    if (wei !== null) return { wei, proof: 'proven' }
  } catch (error) {
    if (!(error instanceof ProofFault)) throw error
    const asked = await readOneByOne(asking, owner, at)
    if ('wei' in asked) return { wei: asked.wei, proof: 'proven' }
    if (asked.honest.length < VOICES) throw error
    voices = asked.honest
  }
  const wei = await readAgreed(voices, owner, at)
  return wei === null ? null : { wei, proof: 'agreed' }
}

/** Has an answer of the only provider told that does not hold. */
async function alone<T>({ rpc, soundness }: Asking<Rpc>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProofFault) noteFailed(soundness, error, rpc.hosts[0] as string)
    throw error
  }
}

/** What the first of them proves; else those that say nothing false. One that does is told, and asked last from now on. */
async function readOneByOne(
  { rpc, soundness }: Asking<Rpc>,
  owner: Address,
  at: BlockRef,
): Promise<{ wei: bigint } | { honest: RpcReads[] }> {
  const honest: RpcReads[] = []
  for (const provider of rpc.providers) {
    try {
      const wei = await readProven({ rpc: provider, soundness }, owner, at)
      if (wei !== null) return { wei }
      honest.push(provider)
    } catch (error) {
      if (!(error instanceof ChainFault)) throw error
      if (!(error instanceof ProofFault)) continue
      noteFailed(soundness, error, provider.host)
      provider.distrust()
    }
  }
  return { honest }
}

/** As two of them tell it. Null if too few have that state to disagree about it. */
async function readAgreed(providers: readonly RpcReads[], owner: Address, at: BlockRef): Promise<bigint | null> {
  const said = await Promise.all(
    providers.map((provider) => orNull(readTold(provider, owner, at).then((wei) => ({ wei })))),
  )
  const told = said.map((answer) => answer?.wei ?? null)
  const agreed = agreedAnswer(told, (wei) => wei)
  const isGone = !said.includes(null) && told.filter((wei) => wei !== null).length < VOICES
  if (agreed === null && !isGone)
    throw new ChainFault(`two providers do not tell the same balance after block ${at.number}`, { retryable: true })
  return agreed
}

const readProven = async (asking: Asking<RpcReads>, owner: Address, at: BlockRef) =>
  (await readProvenAccount(asking, owner, at))?.balanceWei ?? null

/**
 * An account by a proof against the state root of that very header. Null if there is no proof, or this chain's headers do not recompute. Throws a ProofFault if
 * it is of another state.
 */
export async function readProvenAccount(
  { rpc, soundness }: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
): Promise<AccountState | null> {
  // Development chains put accounts into their first block that its root does not have. Nobody is paid there.
  if (at.number === 0) return null
  const [block, proof] = await rpc.batch([
    { method: 'eth_getBlockByHash', params: [at.hash, false] },
    { method: 'eth_getProof', params: [owner, [], { blockHash: at.hash, requireCanonical: true }] },
  ])
  if (!proof?.ok || !block?.ok || block.result == null) return null
  assertSound(soundness, block.result, at.number)
  if (proveHeader(block.result).kind !== 'proven') return null
  const { hash, stateRoot } = fields<'hash' | 'stateRoot'>(block.result, 'block')
  try {
    if (hash !== at.hash) throw new ChainFault(`a header of another block than ${at.hash}`, { retryable: true })
    const nodes = list(fields<'accountProof'>(proof.result, 'proof').accountProof, 'proof')
    const path = nodes.map((node) => bytes(node, 'node of a proof'))
    return provenAccount(hash32(stateRoot, 'state root'), owner, path)
  } catch (error) {
    throw error instanceof ChainFault ? new ProofFault('state', at.number, error.message) : error
  }
}

/** As a provider tells it. Null if that block is there and its state is not. Throws a ChainFault if that is unclear. */
async function readTold(rpc: RpcReads, owner: Address, at: BlockRef): Promise<bigint | null> {
  const byHash = await rpc.call('eth_getBalance', [owner, { blockHash: at.hash, requireCanonical: true }])
  if (byHash.ok) return quantity(byHash.result, 'balance')
  const [byNumber, block] = await rpc.batch([
    { method: 'eth_getBalance', params: [owner, toQuantity(at.number)] },
    { method: 'eth_getBlockByNumber', params: [toQuantity(at.number), false] },
  ])
  if (!byNumber || !block?.ok || block.result == null || header(block.result).hash !== at.hash) {
    throw new ChainFault(`the provider does not have block ${at.number} as ${at.hash}`, { retryable: true })
  }
  if (byNumber.ok) return quantity(byNumber.result, 'balance')
  if (isLimit(byNumber.error)) throw new ChainFault('the provider is too busy for a balance', { retryable: true })
  return null
}
