// Reads a payer's code at the block of the payment: none, an EIP-7702 delegation, or a contract. If the contract is a proxy, also its implementation.
// It never guesses.
import { keccak256 } from 'viem/utils'
import type { PayerCode } from '../../../domain/payers/payer.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import type { BlockRef } from '../../../ports/chain.ts'
import { orNull } from '../../../ports/faults.ts'
import { mustProve } from '../../prove/sound.ts'
import type { Rpc, RpcReads } from '../../rpc/rpc.ts'
import { address20, byHash, bytes, malformed, quantity } from '../../rpc/wire.ts'
import { agreedAnswer } from './agreement.ts'
import { type Asking, firstProven, readProven } from './proven.ts'

/** EIP-1967's slot: keccak256('eip1967.proxy.implementation') - 1. */
const EIP1967_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
/** The slot in which a Safe keeps its singleton. */
const FIRST_SLOT: `0x${string}` = `0x${'0'.repeat(64)}`
const SLOTS = [EIP1967_SLOT, FIRST_SLOT] as const
/** The code of a minimal proxy (EIP-1167). Only the address to which it forwards varies. */
const EIP1167_CODE = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/
/** The code of an account with a delegation (EIP-7702). Only the address to which it delegates varies. */
const EIP7702_CODE = /^0xef0100([0-9a-f]{40})$/

/** An account's code as of exactly that block; null if the provider has pruned the state, or lacks the block. Throws a ChainFault if no answer comes. */
export async function readPayerCode(rpc: RpcReads, payer: Address, at: BlockRef): Promise<PayerCode | null> {
  const block = byHash(at.hash)
  const replies = await rpc.batch([
    { method: 'eth_getCode', params: [payer, block] },
    ...SLOTS.map((slot) => ({ method: 'eth_getStorageAt', params: [payer, slot, block] })),
  ])
  if (!replies.every((reply) => reply.ok)) return null
  const [code, ...words] = replies.map(({ result }) => result)
  const slots = words.map((word) => quantity(word, 'word of storage')) as [bigint, bigint]
  return codeOf(bytes(code, 'code').toLowerCase() as `0x${string}`, slots)
}

/**
 * An account's code, proven against that block's header: the code (also the 23 bytes of a delegation) by its hash, and the words of storage by their
 * proofs. Null if there is no proof, or if this chain's headers cannot be proven. Throws a ProofFault if code or words do not match.
 */
async function readProvenCode(asking: Asking<RpcReads>, payer: Address, at: BlockRef): Promise<PayerCode | null> {
  if (!mustProve(asking.soundness)) return null
  return await readProven(asking, payer, at, {
    slots: SLOTS,
    call: (block) => ({ method: 'eth_getCode', params: [payer, block] }),
    read: ({ account, words, answer }) => {
      const code = bytes(answer, 'code').toLowerCase() as `0x${string}`
      if (keccak256(code) !== account.codeHash) malformed('code: it is not that of the account')
      return codeOf(code, words as [bigint, bigint])
    },
  })
}

/**
 * Asks all providers: returns what one of them proves, or else what two agree on; null if there is neither. A provider with a false proof is
 * recorded, does not count, and moves to the end of the order.
 */
export async function readSoundCode(asking: Asking<Rpc>, payer: Address, at: BlockRef): Promise<PayerCode | null> {
  const poll = await firstProven(asking, (alone) => readProvenCode(alone, payer, at))
  if (poll.proven !== null) return poll.proven
  const readings = asking.rpc.providers.map((provider) =>
    poll.liars.has(provider) ? null : orNull(readPayerCode(provider, payer, at)),
  )
  return agreedAnswer(await Promise.all(readings), (code) => JSON.stringify(code))
}

function codeOf(code: `0x${string}`, [inSlotWord, inFirstWord]: readonly [bigint, bigint]): PayerCode {
  if (code === '0x') return { kind: 'none' }
  const delegate = EIP7702_CODE.exec(code)?.[1]
  if (delegate) return { kind: 'delegation', to: address20(`0x${delegate}`, 'delegation') }
  const minimal = EIP1167_CODE.exec(code)?.[1]
  const inSlot = addressIn(inSlotWord)
  const inFirst = addressIn(inFirstWord)
  return {
    kind: 'contract',
    codeHash: keccak256(code) as Hash,
    implementation: minimal
      ? { at: 'eip1167', address: address20(`0x${minimal}`, 'implementation') }
      : inSlot
        ? { at: 'eip1967', address: inSlot }
        : inFirst && { at: 'slot0', address: inFirst },
  }
}

/** The address in a word of storage; null if the word is empty or not an address. */
function addressIn(word: bigint): Address | null {
  if (word === 0n || word >> 160n !== 0n) return null
  return address20(`0x${word.toString(16).padStart(40, '0')}`, 'address in storage')
}
