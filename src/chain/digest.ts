// The ledger's own digests: the draw of a turn, which can be recomputed from the round's published seed, and the name of a payments
// wallet's residue; and that of a text.
import { encodeAbiParameters, keccak256, stringToBytes } from 'viem/utils'
import type { Address, Hash } from '../domain/units.ts'

/** keccak256(abi.encode(seed, cohort, due)) as a number; `due` in unix seconds. */
export function turnDigest(seed: Hash, cohort: number, due: number): bigint {
  const encoded = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
    [seed, BigInt(cohort), BigInt(due)],
  )
  return BigInt(keccak256(encoded))
}

/** The `ref` of an inner transfer: keccak256(abi.encode(transaction, wallet, index)), which no transaction's own hash can be. */
export function innerRef(txHash: Hash, wallet: Address, index: number): Hash {
  const encoded = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'address' }, { type: 'uint256' }],
    [txHash, wallet, BigInt(index)],
  )
  return keccak256(encoded)
}

/** Its former `ref`, which did not name the wallet. What has it keeps it: db/payments/identity.ts decides. */
function formerInnerRef(txHash: Hash, index: number): Hash {
  return keccak256(encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [txHash, BigInt(index)]))
}

/** The two refs that an inner transfer may have. */
export const innerRefs = (txHash: Hash, wallet: Address, index: number) => ({
  ref: innerRef(txHash, wallet, index),
  formerRef: formerInnerRef(txHash, index),
})

/** Names a residue of the payments wallet: the same residue has the same name in any ledger that follows this chain. */
export function residueRef(chainId: number, wallet: Address, blockHash: Hash, residueWei: bigint): Hash {
  const encoded = encodeAbiParameters(
    [{ type: 'uint256' }, { type: 'address' }, { type: 'bytes32' }, { type: 'int256' }],
    [BigInt(chainId), wallet, blockHash, residueWei],
  )
  return keccak256(encoded)
}

/** keccak256 of a text's UTF-8. */
export const textDigest = (text: string): Hash => keccak256(stringToBytes(text))
