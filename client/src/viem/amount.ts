// Recomputes the amount of a turn from its published data. Reads nothing.
import { encodeAbiParameters, keccak256 } from 'viem'
import type { SingleTurn } from '../types.ts'

/**
 * The amount that follows from a turn's published seed and terms. Null if they are missing, or if the turn represents
 * several.
 */
export function recompute(turn: SingleTurn & { count?: number }): bigint | null {
  const { seed, cohort, dueSec, minWei, maxWei, payoutBps, count = 1 } = turn
  if (count !== 1 || seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  if (maxWei < minWei) return null
  const types = [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const entropy = BigInt(keccak256(encodeAbiParameters(types, [seed, BigInt(cohort), BigInt(dueSec)])))
  const draw = minWei + (entropy % (maxWei - minWei + 1n))
  return (draw * BigInt(payoutBps)) / 10_000n
}
