// Reads the state of an account as of one exact block: its ether, its balance of a token, its code. It never guesses: it returns null if the port
// allows it, and otherwise throws a ChainFault.
import { type Address, wei } from '../../../domain/units.ts'
import type { BlockRef, StateReader } from '../../../ports/chain.ts'
import { orNull } from '../../../ports/faults.ts'
import type { Soundness } from '../../prove/sound.ts'
import { ofEach, type Rpc, type RpcReads } from '../../rpc/rpc.ts'
import { byHash, quantity } from '../../rpc/wire.ts'
import { agreedAnswer } from './agreement.ts'
import { readBalance } from './balance.ts'
import { readPayerCode } from './payer-code.ts'

/** The selector of balanceOf(address), the only function that we call on a token (ERC-20). */
const BALANCE_OF = '0x70a08231'

/** Creates reads from whichever provider answers, or from a given one. */
export function stateThrough(rpc: RpcReads, soundness: Soundness): StateReader {
  return {
    balanceAt: (owner, at) => readBalance({ rpc, soundness }, owner, at),
    holding: (token, owner, at) => orNull(readHolding(rpc, token, owner, at)),
    payerCode: (payer, at) => orNull(readPayerCode(rpc, payer, at)),
  }
}

/** Creates reads of what decides about a purchase. They ask all providers, because a single one must not decide. */
export function agreedState(rpc: Rpc): Pick<StateReader, 'holding' | 'payerCode'> {
  return {
    holding: async (token, owner, at) =>
      agreedAnswer(await ofEach(rpc, (provider) => readHolding(provider, token, owner, at)), (amountWei) => amountWei),
    payerCode: async (payer, at) =>
      agreedAnswer(await ofEach(rpc, (provider) => readPayerCode(provider, payer, at)), (code) => JSON.stringify(code)),
  }
}

/** A token balance. Null if there is no answer, or if the answer is not a uint256. */
async function readHolding(rpc: RpcReads, token: Address, owner: Address, at: BlockRef): Promise<bigint | null> {
  const data = BALANCE_OF + owner.slice(2).padStart(64, '0')
  const reply = await rpc.call('eth_call', [{ to: token, data }, byHash(at.hash)])
  return reply.ok ? readAmount(reply.result) : null
}

/**
 * The amount that a token returned; null, never zero, if it is not exactly one word. An address without code returns less than a word; more than a
 * word is not a balance.
 */
function readAmount(result: unknown): bigint | null {
  if (typeof result !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(result)) return null
  return wei(quantity(result, 'balance'))
}
