// The factory's state and events as the passes and the routes read them. Types only; the rules of chain.ts hold.
import type { ChainCounters, CreditBounds, MinterBudget } from '../domain/observed.ts'
import type { PayerCode } from '../domain/payers/payer.ts'
import type { CohortState } from '../domain/schedule.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'
import type { BlockRef } from './chain.ts'

/** A node's state on the contract. */
export interface ChainNode {
  nodeId: bigint
  owner: Address
  balanceWei: Wei
  creditedWei: Wei
  withdrawnWei: Wei
  cohort: number
}

/** A cohort's state on the contract. */
export interface ChainCohort extends CohortState {
  perNodeWei: Wei
}

/** The settings that the contract's owner controls, all read at the same block. */
export interface OwnersPowers {
  blockNumber: number
  owner: Address
  /** The account to which ownership is offered; the zero address if it is not offered. */
  pendingOwner: Address
  minter: Address
  budget: MinterBudget
  distributor: Address
  bounds: CreditBounds
  swapsAllowanceWei: Wei
  paused: boolean
}

/** Reads what previews of the owner's calls need; it cannot send. Throws if the chain cannot answer. */
export interface GovernanceReader {
  readonly factory: Address
  powers(): Promise<OwnersPowers>
  tierSupply(tierNo: number): Promise<{ minted: number; most: number }>
  expulsionPeriodSec(): Promise<number>
  /** Why the contract would reject this call if the account `from` made it now; null if the call would succeed. */
  refusalOf(call: { to: Address; data: `0x${string}` }, from: Address): Promise<string | null>
}

/** What a transaction minted, according to its receipt. */
export interface MintReceipt {
  /** The block, as the provider reports it. Null if the receipt is larger than that of any mint, so that we did not read it. */
  block: BlockRef | null
  succeeded: boolean
  nodes: { nodeId: bigint; mintedTo: Address }[]
}

/** The block of a log, as a provider reports it. */
export interface LogPlace {
  blockNumber: number
  blockHash: Hash
}

/** Where events of a node and of a cohort are, for the reconciler, and the nodes that a transaction minted. */
export interface NodeHistory {
  /** Null while the provider has the transaction in no block. */
  mintReceipt(txHash: Hash): Promise<MintReceipt | null>
  /** The logs of a node's mint, transfers, withdrawals and expulsion in blocks `from` to `to`: a list from each provider that answers. */
  logsOfNode(nodeId: bigint, from: number, to: number): Promise<LogPlace[][]>
  /** The logs of a cohort's credits and of its turns that were not owed, in blocks `from` to `to`: a list from each provider that answers. */
  logsOfCohort(cohort: number, from: number, to: number): Promise<LogPlace[][]>
}

/** The contract's state, for the passes. Throws if the chain cannot answer. A limit or a pause is the widest that any provider names. */
export interface ContractReader {
  readonly factory: Address
  counters(atBlock: number): Promise<ChainCounters>
  /** The nodes `firstId` to `firstId + count - 1` as of that block; fewer if not all of these ids are minted. */
  nodes(firstId: bigint, count: number, at: BlockRef): Promise<ChainNode[]>
  cohorts(cohorts: number[], at: BlockRef): Promise<ChainCohort[]>
  /** The node minted for this ref as of that block; null if there is none. */
  nodeOfRef(ref: Hash, atBlock: number): Promise<bigint | null>
  maxPerWallet(): Promise<number>
  /** How many nodes a tier has as of that block, without expelled ones, and how many it may have at most. */
  tierSupply(tierNo: number, at: number | 'latest'): ReturnType<GovernanceReader['tierSupply']>
  budget(atBlock: number): Promise<MinterBudget>
  bounds(atBlock: number): Promise<CreditBounds>
  paused(atBlock: number): Promise<boolean>
  /** What the contract and the provider report about an address that buyers may have to pay. */
  walletFacts(
    wallet: Address,
  ): Promise<{ chainId: number; minter: Address; distributor: Address; hasCode: boolean; isTraceable: boolean }>
  /** The account that may credit rounds. Null if the owner has named none; then no turn is paid or skipped. */
  distributor(atBlock: number): Promise<Address | null>
  /** The shortest interval that a new cohort may have. */
  leastIntervalSec(): Promise<number>
  balance(of: Address, atBlock?: number): Promise<Wei>
  /** True if there is code at the factory's address as of that block. Throws if that block's state is not available. */
  isDeployed(atBlock: number): Promise<boolean>
  /** The factory's storage root as of exactly that block; null if not available. As long as the root is the same, the storage has not changed. */
  storageRoot(block: Hash): Promise<Hash | null>
  /** How much of its surplus the factory may spend on the next rounds; 0 unless the owner has allowed more. */
  swapsAllowance(): Promise<Wei>
}

/** A node's state as of a block. */
export interface NodeReading extends Omit<ChainNode, 'nodeId' | 'cohort'> {
  blockNumber: number
}

/** Reads for the public API. Null means "we could not check", and is never an error. Each read answers within its time limit. */
export interface Readings {
  /** A node's state on the chain as of the given block; null if we could not read it. Reads of several callers share one request. */
  node(nodeId: bigint, atBlock: number): Promise<NodeReading | null>
  /** `checkedAt`: when we asked the chain, in milliseconds since 1970. A cached answer keeps its original time. */
  cover(): Promise<{
    contractBalanceWei: Wei
    outstandingWei: Wei
    isSolvent: boolean
    blockNumber: number
    checkedAt: number
  } | null>
  /** The distributor's balance; also null if no distributor is configured. */
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
  maxPerWallet(): Promise<number | null>
  nodesOf(owner: Address): Promise<readonly bigint[] | null>
  /** Reads a wallet that is about to buy, and its balance of a token. Each field may be null on its own. */
  buyer(wallet: Address, token: Address | null): Promise<BuyerReading>
  tracesWork(): Promise<boolean>
}

/** A wallet that is about to buy, at one block. */
export interface BuyerReading {
  blockNumber: number | null
  balanceWei: Wei | null
  /** The gas price at present, per unit of gas. */
  gasPriceWei: Wei | null
  /** The most nodes that the contract lets one wallet hold. */
  walletMax: number | null
  code: PayerCode | null
  /** Null also if the caller named no token. */
  heldWei: bigint | null
}
