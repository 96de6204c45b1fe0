// The draw of a turn as the contract's readers can recompute it, from the seed that the round publishes.
import { encodeAbiParameters, keccak256 } from 'viem'
import type { Hash } from '../domain/units.ts'

/** keccak256(abi.encode(seed, cohort, due)) as a number; `due` in unix seconds. */
export function turnDigest(seed: Hash, cohort: number, due: number): bigint {
  const encoded = encodeAbiParameters(
    [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
    [seed, BigInt(cohort), BigInt(due)],
  )
  return BigInt(keccak256(encoded))
}
