// Reads the code of a payer at its payment's block: none, a delegation of EIP-7702, or a contract, with the implementation of a proxy. It
// never answers a guess.
import { keccak256 } from 'viem/utils'
import type { PayerCode } from '../../../domain/payers/payer.ts'
import type { Address, Hash } from '../../../domain/units.ts'
import type { BlockRef } from '../../port.ts'
import type { RpcCall, RpcReads } from '../../rpc/rpc.ts'
import { address20, bytes, header, quantity, toQuantity } from '../../rpc/wire.ts'

/** The slot of EIP-1967: keccak256('eip1967.proxy.implementation') - 1. */
const EIP1967_SLOT = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc'
/** A Safe keeps its singleton in its first slot. */
const FIRST_SLOT = `0x${'0'.repeat(64)}`
/** The whole code of a minimal proxy (EIP-1167), around the address it forwards to. */
const EIP1167_CODE = /^0x363d3d373d3d3d363d73([0-9a-f]{40})5af43d82803e903d91602b57fd5bf3$/
/** The whole code of a delegating account (EIP-7702). */
const EIP7702_CODE = /^0xef0100([0-9a-f]{40})$/

/** The code of an account after that very block; null where the provider no longer has its state. Throws a ChainFault for no answer. */
export async function readPayerCode(rpc: RpcReads, payer: Address, at: BlockRef): Promise<PayerCode | null> {
  const answers = await readAt(rpc, at, (block) => [
    { method: 'eth_getCode', params: [payer, block] },
    { method: 'eth_getStorageAt', params: [payer, EIP1967_SLOT, block] },
    { method: 'eth_getStorageAt', params: [payer, FIRST_SLOT, block] },
  ])
  if (answers === null) return null
  const code = bytes(answers[0], 'code').toLowerCase() as `0x${string}`
  if (code === '0x') return { kind: 'none' }
  const delegate = EIP7702_CODE.exec(code)?.[1]
  if (delegate) return { kind: 'delegation', to: address20(`0x${delegate}`, 'delegation') }
  const minimal = EIP1167_CODE.exec(code)?.[1]
  const inSlot = addressIn(answers[1])
  const inFirst = addressIn(answers[2])
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

/** The address in a word of storage; null where it is empty, or something else. */
function addressIn(answer: unknown): Address | null {
  const word = quantity(answer, 'word of storage')
  if (word === 0n || word >> 160n !== 0n) return null
  return address20(`0x${word.toString(16).padStart(40, '0')}`, 'address in storage')
}

/** Reads after one very block, by its hash; by its number where a provider takes none (EIP-1898), while that block has this hash. */
async function readAt(
  rpc: RpcReads,
  at: BlockRef,
  callsAt: (block: unknown) => RpcCall[],
): Promise<readonly unknown[] | null> {
  const byHash = await rpc.batch(callsAt({ blockHash: at.hash, requireCanonical: true }))
  if (byHash.every((reply) => reply.ok)) return byHash.map((reply) => reply.ok && reply.result)
  const number = toQuantity(at.number)
  const [block, ...byNumber] = await rpc.batch([
    { method: 'eth_getBlockByNumber', params: [number, false] },
    ...callsAt(number),
  ])
  if (!block?.ok || block.result == null || header(block.result).hash !== at.hash) return null
  return byNumber.every((reply) => reply.ok) ? byNumber.map((reply) => reply.ok && reply.result) : null
}
