// Trust, but verify: reads the chain directly and compares it with what the service says. Null means "could not be read".
import {
  type Chain,
  type Client,
  encodeAbiParameters,
  type Hash,
  keccak256,
  parseEventLogs,
  type Transport,
} from 'viem'
import { getBalance, getBlock, getTransactionReceipt, readContract } from 'viem/actions'
import type { LedgerClient, NodeId } from '../client.ts'
import type { Cover, Distribution, Hex, NodeDetail, Turn } from '../types.ts'
import { WalletError } from './errors.ts'
import { factoryAbi } from './factory.ts'

/** Any viem client with a transport: a public client, or less. */
export type ChainClient = Client<Transport, Chain | undefined>

export interface Verified<Said, Chain> {
  /** Whether the chain says the same. */
  matches: boolean
  /** Names of the fields in which they differ. */
  differences: string[]
  said: Said
  chain: Chain
  /** The block at which the chain was read: the one the service had read, where the provider still has its state. */
  blockNumber: bigint
}

export interface NodeOnChain {
  owner: Hex
  balanceWei: bigint
  creditedWei: bigint
  withdrawnWei: bigint
}

/** Compares a node's record with the contract's `nodeInfo`. Throws what the provider throws when it cannot be read. */
export async function verifyNode(
  ledger: LedgerClient,
  chain: ChainClient,
  id: NodeId,
): Promise<Verified<NodeDetail, NodeOnChain>> {
  const factory = await factoryOf(ledger)
  const said = await ledger.getNode(id)
  const read = async (at: { blockNumber: bigint } | object) => {
    const call = {
      address: factory,
      abi: factoryAbi,
      functionName: 'nodeInfo',
      args: [BigInt(said.nodeId)],
      ...at,
    } as const
    const [owner, balanceWei, creditedWei, withdrawnWei] = await readContract(chain, call)
    return { owner: owner.toLowerCase() as Hex, balanceWei, creditedWei, withdrawnWei }
  }
  const { value, blockNumber } = await readAt(chain, said.chain?.blockNumber ?? null, read)
  return compared(said, value, blockNumber, ['owner', 'balanceWei', 'creditedWei', 'withdrawnWei'])
}

export interface CoverOnChain {
  contractBalanceWei: bigint
  outstandingWei: bigint
  isSolvent: boolean
}

/** Compares the cover with the contract's balance, `outstanding()` and `isSolvent()`, all read at one block. */
export async function verifyCover(ledger: LedgerClient, chain: ChainClient): Promise<Verified<Cover, CoverOnChain>> {
  const address = await factoryOf(ledger)
  const said = await ledger.getCover()
  const read = async (at: { blockNumber: bigint } | object) => {
    const [contractBalanceWei, outstandingWei, isSolvent] = await Promise.all([
      getBalance(chain, { address, ...at }),
      readContract(chain, { address, abi: factoryAbi, functionName: 'outstanding', ...at }),
      readContract(chain, { address, abi: factoryAbi, functionName: 'isSolvent', ...at }),
    ])
    return { contractBalanceWei, outstandingWei, isSolvent }
  }
  const { value, blockNumber } = await readAt(chain, said.blockNumber, read)
  return compared(said, value, blockNumber, ['contractBalanceWei', 'outstandingWei', 'isSolvent'])
}

export interface VerifiedTurn {
  turn: Turn
  /** What the published seed and terms come to; null where the ledger has no terms for the turn. */
  expectedWei: bigint | null
  /** Whether that is what was credited; null where it cannot be computed. */
  amountMatches: boolean | null
  /** Whether the seed is the chain's: the randomness of the first block not before `due`. Null when the chain was not asked. */
  seedMatches: boolean | null
  /** Whether the contract's own `Credited` event says the same. Null when the chain was not asked. */
  creditedMatches: boolean | null
}

export interface VerifiedRound {
  /** True when nothing differs; what could not be checked is `null` in its turn and does not count as equal. */
  matches: boolean
  turns: VerifiedTurn[]
  /** Whether the amounts add up to the round's total. */
  totalMatches: boolean
}

/**
 * Recomputes each amount of a round from its published seed and terms. Given a chain, also whether the seeds are the chain's
 * and whether the round's transaction credited just that. Without one, only the arithmetic is checked.
 */
export async function verifyRound(
  ledger: LedgerClient,
  round: Distribution | number,
  chain?: ChainClient,
): Promise<VerifiedRound> {
  const distribution = typeof round === 'number' ? await findRound(ledger, round) : round
  const events = chain ? await creditedIn(chain, await factoryOf(ledger), distribution.txHash) : null
  const turns = await Promise.all(distribution.turns.map((turn) => verifyTurn(turn, chain ?? null, events)))
  const sumWei = distribution.turns.reduce((sum, turn) => sum + turn.amountWei * BigInt(turn.nodeCount), 0n)
  const totalMatches = sumWei === distribution.totalWei
  const isRight = ({ amountMatches, seedMatches, creditedMatches }: VerifiedTurn) =>
    amountMatches === true && (!chain || (seedMatches === true && creditedMatches === true))
  return { matches: totalMatches && turns.every(isRight), turns, totalMatches }
}

/** The amount that a turn's published seed and terms come to; null where the ledger has none. */
export function recompute({ seed, cohort, dueSec, minWei, maxWei, payoutBps }: Turn): bigint | null {
  if (seed === null || minWei === null || maxWei === null || payoutBps === null) return null
  const types = [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }] as const
  const drawn = BigInt(keccak256(encodeAbiParameters(types, [seed, BigInt(cohort), BigInt(dueSec)])))
  const draw = minWei + (drawn % (maxWei - minWei + 1n))
  return (draw * BigInt(payoutBps)) / 10_000n
}

type CreditedEvent = Awaited<ReturnType<typeof creditedIn>>[number]

async function verifyTurn(
  turn: Turn,
  chain: ChainClient | null,
  events: CreditedEvent[] | null,
): Promise<VerifiedTurn> {
  const expectedWei = recompute(turn)
  const event = events?.find(({ args }) => args.cohort === BigInt(turn.cohort) && args.due === BigInt(turn.dueSec))
  return {
    turn,
    expectedWei,
    amountMatches: expectedWei === null ? null : expectedWei === turn.amountWei,
    seedMatches: chain ? await seedIsTheChains(turn, chain) : null,
    creditedMatches: events
      ? event?.args.amountPerNode === turn.amountWei && event.args.nodeCount === BigInt(turn.nodeCount)
      : null,
  }
}

async function seedIsTheChains({ seed, seedBlock, dueSec }: Turn, chain: ChainClient): Promise<boolean | null> {
  if (seed === null || seedBlock === null) return null
  const [block, parent] = await Promise.all([
    getBlock(chain, { blockNumber: BigInt(seedBlock) }),
    seedBlock === 0 ? null : getBlock(chain, { blockNumber: BigInt(seedBlock - 1) }),
  ])
  const due = BigInt(dueSec)
  const isFirst = block.timestamp >= due && (parent === null || parent.timestamp < due)
  // Where the randomness is constant, the block's hash stands in.
  const isConstant = BigInt(block.mixHash) === 0n || block.mixHash === parent?.mixHash
  return isFirst && seed === (isConstant ? block.hash : block.mixHash)
}

async function creditedIn(chain: ChainClient, factory: Hex, hash: Hash) {
  const { logs } = await getTransactionReceipt(chain, { hash })
  const ours = logs.filter(({ address }) => address.toLowerCase() === factory)
  return parseEventLogs({ abi: factoryAbi, eventName: 'Credited', logs: ours })
}

/** The API lists the newest 200 rounds. */
async function findRound(ledger: LedgerClient, id: number): Promise<Distribution> {
  const found = (await ledger.getDistributions({ limit: 200 })).find((round) => round.id === id)
  if (!found) throw new RangeError(`Round ${id} is not among the newest 200 that the service lists.`)
  return found
}

async function factoryOf(ledger: LedgerClient): Promise<Hex> {
  const { factoryAddress } = await ledger.getWellKnown()
  if (factoryAddress === null) throw new WalletError('notDeployed', 'The service names no contract.')
  return factoryAddress
}

/** Reads at the block the service read at; at the newest where it names none, or the provider has dropped that state. */
async function readAt<T>(
  chain: ChainClient,
  at: number | null,
  read: (at: { blockNumber: bigint } | object) => Promise<T>,
): Promise<{ value: T; blockNumber: bigint }> {
  if (at !== null) {
    try {
      return { value: await read({ blockNumber: BigInt(at) }), blockNumber: BigInt(at) }
    } catch {
      // Full nodes keep the states of the last 128 blocks or so.
    }
  }
  const { number } = await getBlock(chain)
  return { value: await read({ blockNumber: number }), blockNumber: number }
}

function compared<Said extends object, Chain extends object>(
  said: Said,
  chain: Chain,
  blockNumber: bigint,
  fields: (keyof Said & keyof Chain & string)[],
): Verified<Said, Chain> {
  const differences = fields.filter((field) => (said[field] as unknown) !== chain[field])
  return { matches: differences.length === 0, differences, said, chain, blockNumber }
}
