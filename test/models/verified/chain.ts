// A chain as plain data: all that a verifier may ask of a provider.

export type Hex = `0x${string}`

export interface PlainBlock {
  timeSec: number
  hash: Hex
  /** Null if the chain has no such field. */
  mixHash: Hex | null
}

export interface PlainLog {
  address: Hex
  event: 'Credited' | 'SurplusSpent' | 'IntervalSet'
  /** The arguments in the order of the contract's interface. */
  values: readonly bigint[]
}

export interface PlainTransaction {
  hash: Hex
  blockNumber: number
  logs: readonly PlainLog[]
}

/** What a contract says of itself from a block on. */
export interface PlainState {
  fromBlock: number
  address: Hex
  balanceWei: bigint
  outstandingWei: bigint
  isSolvent: boolean
  /** By id. */
  nodes: Readonly<
    Record<string, { owner: Hex; balanceWei: bigint; creditedWei: bigint; withdrawnWei: bigint; cohort: number }>
  >
  /** The interval of each open cohort. */
  intervals: Readonly<Record<number, number>>
}

export interface PlainChain {
  chainId: number
  /** By number; the last one is the head. */
  blocks: readonly PlainBlock[]
  /** In the order of the chain. */
  transactions: readonly PlainTransaction[]
  /** In the order of the chain. */
  states: readonly PlainState[]
  /** The provider has no earlier blocks, and no state of blocks before `stateFrom`. */
  blocksFrom: number
  stateFrom: number
  servesLogs: boolean
}

/** What the service says of where it reads. */
export interface SaidPlace {
  chainId: number
  factoryAddress: Hex | null
}

/** What the caller knows. */
export interface Trusted {
  chainId?: number
  factoryAddress?: string
  maxAge?: { blocks?: number; sec?: number }
}

export const sameText = (one: unknown, other: unknown): boolean =>
  typeof one === 'string' && typeof other === 'string' && one.toLowerCase() === other.toLowerCase()

export const headOf = (chain: PlainChain): number => chain.blocks.length - 1

export function stateAt(chain: PlainChain, address: string, blockNumber: number): PlainState | null {
  const states = chain.states.filter((state) => sameText(state.address, address) && state.fromBlock <= blockNumber)
  return states.at(-1) ?? null
}

/** What differs between the place that the service names and the one that the caller knows. */
export function placeDifferences(said: SaidPlace, trusted: Trusted): string[] {
  const differences: string[] = []
  if (trusted.chainId !== undefined && said.chainId !== trusted.chainId) differences.push('chainId')
  if (trusted.factoryAddress !== undefined && !sameText(said.factoryAddress, trusted.factoryAddress))
    differences.push('factoryAddress')
  return differences
}

/** An error with a code, as the client's documents name it. */
class Refusal extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** @throws if the provider is on another chain. */
export function assertChain(chain: PlainChain, { chainId }: Trusted): void {
  if (chainId !== undefined && chainId !== chain.chainId) throw new Refusal('wrongChain')
}

/** The contract to read. @throws if there is none. */
export function contractOf(said: SaidPlace, trusted: Trusted): string {
  const contract = trusted.factoryAddress ?? said.factoryAddress
  if (contract === null) throw new Refusal('notDeployed')
  return contract
}
