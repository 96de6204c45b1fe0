// The chain as the passes and the routes see it, as types alone, which the real chain and the simulation's model both implement. Every method may
// throw a ChainFault (see faults.ts). None answers a guess, and "not there" is null only if the docstring says so.
import type { FeeLimits, Fees } from '../domain/fees.ts'
import type { FinalWord, OwnHashes } from '../domain/finality.ts'
import type {
  BalanceReading,
  Block,
  ChainCounters,
  ChainProofs,
  CreditBounds,
  FactoryEvent,
  MinterBudget,
  ObservedRange,
  Watching,
} from '../domain/observed.ts'
import type { PayerCode } from '../domain/payers/payer.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'

export type { ChainCounters, CreditBounds, MinterBudget } from '../domain/observed.ts'

/** The addresses that a deployment watches. Each read of a range names the ledger's wallets and signer accounts. */
export interface WatchedAddresses extends Watching {
  factory: Address
}

/** One exact block. */
export interface BlockRef {
  number: number
  hash: Hash
}

/** Reads through one provider alone. */
export interface ProviderReader extends ChainReader {
  readonly host: string
  /** Moves it to the end of the order for a while, because it is on another chain than the ledger. */
  distrust(): void
}

/** Reads the state of an account after one exact block. */
export interface StateReader {
  /** Ether of `owner` after exactly that block; null if its state is gone. Throws if there is no answer, or none that passes verification. */
  balanceAt(owner: Address, at: BlockRef): Promise<BalanceReading | null>
  /** ERC-20 balance of `owner` at exactly that block; null if it could not be checked (never 0). If there are several providers, two must agree. */
  holding(token: Address, owner: Address, at: BlockRef): Promise<bigint | null>
  /** Code of `payer` after exactly that block, proven, or as two providers (or the only one) say; null if it could not be checked (never "none"). */
  payerCode(payer: Address, at: BlockRef): Promise<PayerCode | null>
}

/** An account in the state after a block. */
export interface AccountState {
  /** Counts the transactions that it sent, contracts that it made, and valid authorizations that it signed. */
  nonce: number
  balanceWei: bigint
  hasCode: boolean
  codeHash: Hash
  storageRoot: Hash
}

/** A block, and some accounts after it. */
export interface ProvenBlock {
  block: Block
  accounts: ReadonlyMap<Address, AccountState>
}

/** A block in which the factory logged something, before the block itself was read. */
export interface LoggedBlock {
  number: number
  /** The refs that its logs name. A payment's own is the hash of its transaction. */
  refs: readonly Hash[]
  /** The accounts that its logs make minter or distributor. */
  accounts: readonly Address[]
  /** The logs as read, for `observeBlocks`. */
  logs: readonly unknown[]
}

/**
 * Reads that show where in a range of old blocks something happened, without reading all of them. Each answer rests on two providers if there are
 * two. Null if no answer is available, or they do not agree; then we have to read the blocks one by one.
 */
export interface SurveyReader {
  /** How many providers must agree: two, or the only one there is. */
  readonly voices: number
  /** Accounts after blocks, proved against the state roots of their headers. */
  accountsAt(questions: readonly { number: number; accounts: readonly Address[] }[]): Promise<ProvenBlock[] | null>
  /** The blocks of a range with logs of the factory that belong to the ledger. */
  loggedBlocks(from: number, to: number): Promise<LoggedBlock[] | null>
  /** The blocks of transactions by their hashes; null for a transaction that is in no block, or unknown. */
  blocksOf(txHashes: readonly Hash[]): Promise<(number | null)[]>
  /**
   * Observes single blocks, in ascending order. `logged` has the blocks of the range with logs. If the bloom of another one of `numbers` says
   * otherwise, we check that block.
   */
  observeBlocks(
    numbers: readonly number[],
    logged: readonly LoggedBlock[],
    watching: Watching,
  ): Promise<ObservedRange | null>
}

/** Reads blocks for the follower. */
export interface ChainReader extends StateReader {
  readonly survey: SurveyReader
  readonly proofs: ChainProofs
  /** The same reader for each provider; empty for a reader of one provider. */
  readonly providers: readonly ProviderReader[]
  /** The chain id; asks the provider each time. */
  chainId(): Promise<number>
  /** The provider's newest block. `toFollow`: the caller observes up to it next. */
  head(options?: { toFollow?: boolean }): Promise<Block>
  /** The oldest of the blocks that the providers call final (`leastFinal`); null if the chain has no finality. Throws if none answers. */
  finalized(own?: OwnHashes): Promise<FinalWord | null>
  /** The canonical block of that height; null if the provider has none (yet). */
  block(number: number): Promise<Block | null>
  /**
   * Observes the blocks `from` to `to`, both included. `parent` is the hash that block `from` must name as its parent (null: unknown, accept any).
   * Every log is anchored to its block's hash, every receipt compared with it. A missing block, a broken parent chain, or logs that a block's bloom
   * denies or lacks make it throw a retryable ChainFault. May return a shorter range than requested (never an empty one) if a provider limits ranges.
   * `watching` has the ledger's addresses (else those it was built with); its signer accounts are added.
   */
  observe(from: number, to: number, parent: Hash | null, watching?: Watching): Promise<ObservedRange>
  /** The first block whose timestamp is not before `time` and that block's parent, found by bisection; null if the head is older. */
  firstBlockAt(time: number, notAfter: number): Promise<{ block: Block; parent: Block | null } | null>
  /** The same, with blocks on which two providers agree, or from the only one. Throws a ChainFault if they do not agree. */
  agreedFirstBlockAt: ChainReader['firstBlockAt']
  /** A transaction by hash; null if the provider does not know it. `blockNumber` is null while it is pending. */
  transaction(txHash: Hash): Promise<TransactionView | null>
  /** A transaction in a block, with its outcome; null if it is in none yet. If there are several providers, null unless two agree. */
  minedTransaction(txHash: Hash): Promise<TransactionView | null>
  /** Value that a mined transaction moved to `to` by inner calls, in order; null if it cannot be traced, or if no two of several providers agree. */
  innerTransfers(txHash: Hash, to: Address): Promise<InnerTransfer[] | null>
  /** Inner transfers to and from these wallets in exactly one block, in order; null if it cannot be traced, or if no two of several agree. */
  blockTransfers(at: BlockRef, wallets: readonly Address[]): Promise<BlockTransfer[] | null>
}

/** A transfer made by a call within a transaction. */
export interface InnerTransfer {
  /** Position among the transaction's inner transfers to that address, from 1. */
  index: number
  from: Address
  valueWei: Wei
}

/** A transfer to a wallet, or from it, by a call within a transaction of a block. */
export interface BlockTransfer {
  txHash: Hash
  txIndex: number
  direction: 'in' | 'out'
  wallet: Address
  /** Position among the transaction's inner transfers to that wallet, or from it, from 1. */
  index: number
  /** The address at the other end. */
  other: Address
  valueWei: Wei
}

export interface TransactionView {
  txHash: Hash
  /** Its position in the block; meaningless while it is in none. */
  txIndex: number
  from: Address
  to: Address | null
  valueWei: Wei
  blockNumber: number | null
  blockHash: Hash | null
  /** From the receipt; null while the transaction is pending, while the receipt is not available, and if it is larger than we read. */
  succeeded: boolean | null
}

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
export interface ChainCohort {
  cohort: number
  tierNo: number
  perNodeWei: Wei
  size: number
  nextDue: number
  intervalSec: number
}

/** The decisions of the contract's owner, all read at one block. */
export interface OwnersPowers {
  blockNumber: number
  owner: Address
  /** The zero address if ownership is not offered to anyone. */
  pendingOwner: Address
  minter: Address
  budget: MinterBudget
  distributor: Address
  bounds: CreditBounds
  swapsAllowanceWei: Wei
  paused: boolean
}

/** Reads for previews of the owner's calls; it cannot send. Throws if the chain cannot answer. */
export interface GovernanceReader {
  readonly factory: Address
  powers(): Promise<OwnersPowers>
  tierSupply(tierNo: number): Promise<{ minted: number; most: number }>
  expulsionPeriodSec(): Promise<number>
  /** The contract's refusal of a call made now from that account; null if it would succeed. */
  refusalOf(call: { to: Address; data: `0x${string}` }, from: Address): Promise<string | null>
}

/** Facts about a chain, once it has been reached. */
export interface ChainFacts {
  /** True if the factory's block hashes agree with the provider's; otherwise mints wait for finalized blocks and carry no guard. */
  readonly guardUsable: boolean
}

/** What a transaction minted, by its receipt. */
export interface MintReceipt {
  /** Its block, as the provider says. Null if the receipt is larger than that of any mint, so we did not read it. */
  block: BlockRef | null
  succeeded: boolean
  nodes: { nodeId: bigint; mintedTo: Address }[]
}

/** One node's events, for the reconciler, and the nodes of a transaction. */
export interface NodeHistory {
  /** Null while the transaction is in no block that the provider knows. */
  mintReceipt(txHash: Hash): Promise<MintReceipt | null>
  /** Its mint, transfers, withdrawals and expulsion in blocks `from` to `to`, in chain order. */
  eventsOf(nodeId: bigint, from: number, to: number): Promise<FactoryEvent[]>
  /** The credits of a cohort in one block, in chain order. */
  creditsIn(cohort: number, block: number): Promise<FactoryEvent[]>
}

/** Contract state for the passes; throws if the chain cannot answer. */
export interface ContractReader {
  readonly factory: Address
  counters(atBlock: number): Promise<ChainCounters>
  /** Nodes firstId .. firstId + count - 1 after exactly that block, up to the last one minted. */
  nodes(firstId: bigint, count: number, at: BlockRef): Promise<ChainNode[]>
  /** Cohorts after exactly that block. */
  cohorts(cohorts: number[], at: BlockRef): Promise<ChainCohort[]>
  /** Node minted for this ref, or null. */
  nodeOfRef(ref: Hash): Promise<bigint | null>
  maxPerWallet(): Promise<number>
  /** Nodes of a tier after that block, without those that were expelled, and how many it may ever have. */
  tierSupply(tierNo: number, atBlock: number): ReturnType<GovernanceReader['tierSupply']>
  budget(atBlock: number): Promise<MinterBudget>
  bounds(atBlock: number): Promise<CreditBounds>
  /** The contract's and the provider's facts about an address that buyers may have to pay to. */
  walletFacts(
    wallet: Address,
  ): Promise<{ chainId: number; minter: Address; distributor: Address; hasCode: boolean; isTraceable: boolean }>
  /** The account that may credit rounds; null if the owner has named none, so no turn is paid or skipped. */
  distributor(atBlock: number): Promise<Address | null>
  /** The shortest interval with which a cohort may be opened. */
  leastIntervalSec(): Promise<number>
  balance(of: Address, atBlock?: number): Promise<Wei>
  /** True if there is code at the factory's address after that block. Throws if that block's state is not available. */
  isDeployed(atBlock: number): Promise<boolean>
  /** The root of its storage after exactly that block. If it is the same, nothing in it has changed. Null if not available. */
  storageRoot(block: Hash): Promise<Hash | null>
  /** The part of its surplus that the factory may spend on the next rounds (0 unless the owner allowed it). */
  swapsAllowance(): Promise<Wei>
}

/** Reads for the public API. Null means "could not check" and is never an error. Each answers within its time limit. */
export interface Readings {
  /** Nodes' chain state at the given block, coalesced with other callers; null if unreadable. */
  node(
    nodeId: bigint,
    atBlock: number,
  ): Promise<{ owner: Address; balanceWei: Wei; creditedWei: Wei; withdrawnWei: Wei; blockNumber: number } | null>
  /** `checkedAt` is when we asked the chain, milliseconds since 1970; a cached answer keeps its own. */
  cover(): Promise<{
    contractBalanceWei: Wei
    outstandingWei: Wei
    isSolvent: boolean
    blockNumber: number
    checkedAt: number
  } | null>
  /** The distributor's balance; also null if none is configured. */
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
  maxPerWallet(): Promise<number | null>
  nodesOf(owner: Address): Promise<readonly bigint[] | null>
  /** Reads a wallet that is about to buy, and its holding of a token; each reading may be null on its own. */
  buyer(wallet: Address, token: Address | null): Promise<BuyerReading>
  tracesAgree(): Promise<boolean>
}

/** A wallet that is about to buy, at one block. */
export interface BuyerReading {
  blockNumber: number | null
  balanceWei: Wei | null
  /** Per unit of gas, now. */
  gasPriceWei: Wei | null
  /** The contract's cap per wallet. */
  walletMax: number | null
  code: PayerCode | null
  /** Also null if the caller named no token. */
  heldWei: bigint | null
}

export interface MintOrder {
  to: Address
  cohort: number
  ref: Hash
}
export interface CohortOpening {
  tierNo: number
  firstDue: number
  intervalSec: number
}
/** A cohort's part of a round, from its pending turn `firstDue` on: first turns not owed, then turns paid. */
export interface CohortCredit {
  cohort: number
  firstDue: number
  skipped: number
  paid: number
  /** The sum over all paid turns. */
  amountPerNodeWei: Wei
}

/**
 * A call to the factory before signing. `validUntil` is the last block time, unix seconds, at which it can be executed. `guard` is null only if a
 * block hash cannot be checked on chain.
 */
export type FactoryCall = { validUntil: number } & (
  | {
      kind: 'openCohorts'
      /** The number of the first of them, which must be the contract's next. */
      first: number
      openings: CohortOpening[]
    }
  | { kind: 'mint'; orders: MintOrder[]; guard: { number: number; hash: Hash } | null }
  | {
      kind: 'credit'
      round: number
      credits: CohortCredit[]
      valueWei: Wei
      guard: { number: number; hash: Hash } | null
    }
)

/** A signed transaction, ready to be stored and sent. */
export interface SignedTransaction {
  txHash: Hash
  raw: `0x${string}`
  nonce: number
  fees: Fees
}

/** The outcome of a broadcast, classified by type and code first, by text last. */
export type SendOutcome =
  | { kind: 'accepted' }
  | { kind: 'unknown'; detail: string }
  | { kind: 'nonceTooLow' }
  | { kind: 'underpriced' }
  | { kind: 'feeTooLow' }
  | { kind: 'insufficientFunds' }
  | { kind: 'overGasCap' }

/** The outcome of a simulation of the call before it was signed. */
export type EstimateOutcome =
  | { kind: 'ok'; gas: bigint }
  | { kind: 'reverts'; error: string }
  | { kind: 'insufficientFunds' }
  | { kind: 'overGasCap' }

/** One of the service's own accounts on the chain. It cannot send. */
export interface AccountReader {
  readonly address: Address
  /** Transactions of this account mined at the provider's latest block. */
  nonce(): Promise<number>
  /** The same from every provider; null for one without an answer. */
  nonces(): Promise<(number | null)[]>
  balance(): Promise<Wei>
  /**
   * Current fees for a new transaction: room for the base fee to double, or the cap if that is less and still pays for the next block. Above the cap
   * only if nothing below would do. We believe tip and base fee up to their limits.
   */
  fees(limits?: FeeLimits): Promise<Fees>
}

/** The same account with its key. The only thing that can send. */
export interface SignerAccount extends AccountReader {
  /** Transactions of this account mined as of one block, from every provider; null for one without an answer or such a block. */
  noncesAt(block: Hash): Promise<(number | null)[]>
  /** The hash of a block from every provider, or as the contract knows it after block `at`; null for one without an answer or such a block. */
  hashesOf(block: number, at?: number): Promise<(Hash | null)[]>
  /** Simulates and estimates the call without its guard (a guard on the head cannot be checked by eth_call). */
  estimate(call: FactoryCall): Promise<EstimateOutcome>
  /** Signs; sends nothing. */
  sign(call: FactoryCall, options: { nonce: number; gasLimit: bigint; fees: Fees }): Promise<SignedTransaction>
  /** Broadcasts the same bytes to every provider. The transport never retries it. */
  broadcast(raw: `0x${string}`): Promise<SendOutcome>
}
