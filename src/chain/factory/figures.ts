// The largest figures that the contract can hold, by its own types (contracts/src/Packed.sol, NodeFactory.sol). A provider that answers a larger one
// answers for another contract, or lies. No such figure may reach the database, whose columns are not wider.
import { malformed } from '../rpc/wire.ts'

const bits = (count: number): bigint => 2n ** BigInt(count) - 1n

export const MOST = {
  nodeId: bits(32),
  nodes: bits(32),
  cohort: bits(16),
  tier: bits(16),
  round: bits(48),
  // Seconds.
  due: bits(40),
  interval: bits(32),
  turns: bits(41),
  skipReason: bits(8),
  /** Wei per node: of a round, or of a node in total. */
  perNode: bits(80),
} as const
export type Figure = keyof typeof MOST

/** The figure; throws a retryable ChainFault if the contract cannot have it. */
export function figure(value: bigint, kind: Figure): bigint {
  return value <= MOST[kind] ? value : malformed(`figure of the contract (${kind})`)
}

/** The same as a number. Every figure but wei fits into one. */
export const figureNumber = (value: bigint, kind: Exclude<Figure, 'perNode'>): number => Number(figure(value, kind))
