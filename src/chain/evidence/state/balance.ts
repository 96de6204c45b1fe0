// Reads an account's ether as of one exact block, and proves it (eth_getProof) against the state root in that block's header. If no provider returns
// a proof, two must agree; if only one is configured, we have to trust it. It never returns a guess, or the state of another block.
import { canAgree, VOICES } from '../../../domain/finality.ts'
import type { BalanceReading } from '../../../domain/observed.ts'
import type { Address } from '../../../domain/units.ts'
import type { BlockRef } from '../../../ports/chain.ts'
import { ChainFault, orNull, ProofFault } from '../../../ports/faults.ts'
import { noteFailed } from '../../prove/sound.ts'
import { isGone } from '../../rpc/absence.ts'
import { ofEach, type Rpc, type RpcReads, resultOf } from '../../rpc/rpc.ts'
import { byHash, quantity } from '../../rpc/wire.ts'
import { agreedAnswer } from './agreement.ts'
import { type Asking, firstProven, readProvenAccount } from './proven.ts'

/** Reads from whichever provider answers, or from a given one. Null if the state is pruned. Throws a ChainFault if the answer cannot be verified. */
export async function readBalance(
  asking: Asking<RpcReads>,
  owner: Address,
  at: BlockRef,
): Promise<BalanceReading | null> {
  const provenWei = await provenBalance(asking, owner, at)
  if (provenWei !== null) return { wei: provenWei, proof: 'proven' }
  const wei = await readTold(asking.rpc, owner, at)
  return wei === null ? null : { wei, proof: 'believed' }
}

/** Asks all providers. Null if the state is pruned. Throws a ChainFault if their answers cannot be verified. */
export async function readSoundBalance(
  asking: Asking<Rpc>,
  owner: Address,
  at: BlockRef,
): Promise<BalanceReading | null> {
  const { providers } = asking.rpc
  if (!canAgree(asking.rpc)) return await alone(asking, () => readBalance(asking, owner, at))
  // The provider that is first in order mostly proves it.
  const first = await orNull(provenBalance(asking, owner, at))
  if (first !== null) return { wei: first, proof: 'proven' }
  const poll = await firstProven(asking, (alone) => provenBalance(alone, owner, at))
  if (poll.proven !== null) return { wei: poll.proven, proof: 'proven' }
  if (poll.liars.size > 0 && poll.silent.length < VOICES)
    throw new ProofFault('state', at.number, 'no provider proves the balance')
  const wei = await readAgreed(poll.liars.size > 0 ? poll.silent : providers, owner, at)
  return wei === null ? null : { wei, proof: 'agreed' }
}

/** Reads from the only provider. If its proof is false, records that, and throws the fault. */
async function alone<T>({ rpc, soundness }: Asking<Rpc>, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof ProofFault) noteFailed(soundness, error, rpc.hosts[0] as string)
    throw error
  }
}

/** The balance that two providers report. Null if fewer than two still have the state. */
async function readAgreed(providers: readonly RpcReads[], owner: Address, at: BlockRef): Promise<bigint | null> {
  const answers = await ofEach({ providers }, async (provider) => ({ wei: await readTold(provider, owner, at) }))
  const balances = answers.map((answer) => answer?.wei ?? null)
  const agreedWei = agreedAnswer(balances, (wei) => wei)
  const isGone = !answers.includes(null) && balances.filter((wei) => wei !== null).length < VOICES
  if (agreedWei === null && !isGone)
    throw new ChainFault(`no two providers agree on the balance after block ${at.number}`)
  return agreedWei
}

const provenBalance = async (asking: Asking<RpcReads>, owner: Address, at: BlockRef) =>
  (await readProvenAccount(asking, owner, at))?.balanceWei ?? null

/** The balance that one provider reports. Null if it has the block but has pruned the state. Throws a ChainFault if we cannot tell. */
async function readTold(rpc: RpcReads, owner: Address, at: BlockRef): Promise<bigint | null> {
  const reply = await rpc.call('eth_getBalance', [owner, byHash(at.hash)])
  return !reply.ok && isGone(reply.error) ? null : quantity(resultOf('eth_getBalance', reply), 'balance')
}
