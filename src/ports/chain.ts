// The chain as the passes and the routes see it. This file has types only: the real chain implements them, and so does the model of the simulation.
// Every method may throw a ChainFault (see faults.ts). None returns a guess. Null means "it is not there" only if the comment says so.
import type { FeeLimits, Fees } from '../domain/fees.ts'
import type { FinalWord } from '../domain/finality.ts'
import type {
  BalanceReading,
  Block,
  ChainCounters,
  ChainProofs,
  CreditBounds,
  MinterBudget,
  ObservedRange,
  Watching,
} from '../domain/observed.ts'
import type { PayerCode } from '../domain/payers/payer.ts'
import type { CohortState, Opening } from '../domain/schedule.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'

export type { ChainCounters, CreditBounds, MinterBudget } from '../domain/observed.ts'

/** The addresses that a deployment watches. A caller that reads a range passes the ledger's wallets and signer accounts. */
export interface WatchedAddresses extends Watching {
  factory: Address
}

/** One exact block, by number and hash. */
export interface BlockRef {
  number: number
  hash: Hash
}

/** Reads from one provider only. */
export interface ProviderReader extends ChainReader {
  readonly host: string
  /** Moves the provider to the end of the order for a while, because it follows a different chain from the ledger's. */
  distrust(): void
}

/** Reads the state of an account as of one exact block, at the end of that block. */
export interface StateReader {
  /** Ether balance of `owner` as of that block; null if the state is pruned. Throws if no provider answers, or if no answer can be verified. */
  balanceAt(owner: Address, at: BlockRef): Promise<BalanceReading | null>
  /** ERC-20 balance of `owner` as of that block; null (never 0) if we could not check it. If there are several providers, two must agree. */
  holding(token: Address, owner: Address, at: BlockRef): Promise<bigint | null>
  /** Code of `payer` as of that block: proven, or as two providers report it, or as the only one does. Null means unchecked, never "no code". */
  payerCode(payer: Address, at: BlockRef): Promise<PayerCode | null>
}

/** An account's state at the end of a block. */
export interface AccountState {
  /** How many transactions it sent, contracts it created, and valid authorizations it signed, in total. */
  nonce: number
  balanceWei: bigint
  hasCode: boolean
  codeHash: Hash
  storageRoot: Hash
}

/** A block, and the states of some accounts at its end. */
export interface ProvenBlock {
  block: Block
  accounts: ReadonlyMap<Address, AccountState>
}

/** A block in which the factory logged something. We have read the logs, but not the block. */
export interface LoggedBlock {
  number: number
  /** The refs in the block's logs. The ref of a payment is the hash of its transaction. */
  refs: readonly Hash[]
  /** The accounts that the block's logs make minter or distributor. */
  accounts: readonly Address[]
  /** The logs in the form in which we read them, for `observeBlocks`. */
  logs: readonly unknown[]
}

/**
 * Finds where in a range of old blocks something happened, without reading all the blocks. If there are two providers, both must give the same
 * answer. A result is null if there is no answer, or if they disagree; we then have to read the blocks one by one.
 */
export interface SurveyReader {
  /** How many providers must agree: two, or the only one there is. */
  readonly voices: number
  /** The states of accounts as of some blocks, proven against the state roots in the blocks' headers. */
  accountsAt(questions: readonly { number: number; accounts: readonly Address[] }[]): Promise<ProvenBlock[] | null>
  /** The blocks of a range that have factory logs which matter to the ledger. */
  loggedBlocks(from: number, to: number): Promise<LoggedBlock[] | null>
  /** For each transaction, the number of its block; null if it is in no block, or unknown. */
  blocksOf(txHashes: readonly Hash[]): Promise<(number | null)[]>
  /**
   * Observes single blocks, in ascending order. `logged` lists the blocks of the range that have logs. For the other blocks in `numbers`, we ask for
   * logs only if the bloom says that there may be some.
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
  /** A reader of the same chain for each provider. Empty if this reader itself uses only one provider. */
  readonly providers: readonly ProviderReader[]
  /** The chain id, asked for each time. */
  chainId(): Promise<number>
  /** The provider's newest block. `toFollow`: true if the caller will observe blocks up to it next. */
  head(options?: { toFollow?: boolean }): Promise<Block>
  /** The oldest of the blocks that the providers call final (`leastFinal`); null if the chain has no finality. Throws if no provider answers. */
  finalized(): Promise<FinalWord | null>
  /** The canonical block with that number; null if the provider has none (yet). */
  block(number: number): Promise<Block | null>
  /**
   * Observes the blocks `from` to `to`, both included. `parent` is the hash that block `from` must name as its parent; null accepts any. Every log
   * and receipt is checked against its block's hash. Throws a retryable ChainFault if a block is missing, the blocks do not follow each other, or
   * logs do not match a block's bloom. If a provider limits ranges, it may return a shorter range, but never an empty one. `watching` replaces the
   * addresses with which the reader was built; signer accounts are added instead.
   */
  observe(from: number, to: number, parent: Hash | null, watching?: Watching): Promise<ObservedRange>
  /** The first block at or after `time`, and its parent, found by bisection. Null if block `notAfter` is older than `time`. */
  firstBlockAt(time: number, notAfter: number): Promise<{ block: Block; parent: Block | null } | null>
  /** Like `firstBlockAt`, but only with blocks on which two providers agree (or the only one's). Throws a ChainFault if they do not agree. */
  agreedFirstBlockAt: ChainReader['firstBlockAt']
  /** A transaction by its hash; null if the provider does not know it. While it is pending, `blockNumber` is null. */
  transaction(txHash: Hash): Promise<TransactionView | null>
  /** A transaction in a block, with its outcome and the block's time; null if it is in no block yet. If there are several providers, it is null unless two agree. */
  minedTransaction(txHash: Hash): Promise<(TransactionView & { blockTime: number }) | null>
  /** What a mined transaction moved to `to` by inner calls, in order; null if we cannot trace it, or no two of several providers agree. */
  innerTransfers(txHash: Hash, to: Address): Promise<InnerTransfer[] | null>
  /** Inner transfers to and from these wallets in one exact block, in order; null if we cannot trace it, or no two of several providers agree. */
  blockTransfers(at: BlockRef, wallets: readonly Address[]): Promise<BlockTransfer[] | null>
}

/** A transfer made by a call within a transaction. */
export interface InnerTransfer {
  /** Position among the transaction's inner transfers to that address; the first is 1. */
  index: number
  from: Address
  valueWei: Wei
}

/** A transfer to or from a wallet, made by a call within a transaction of a block. */
export interface BlockTransfer {
  txHash: Hash
  txIndex: number
  direction: 'in' | 'out'
  wallet: Address
  /** Position among the transaction's inner transfers to that wallet, or among those from it; the first is 1. */
  index: number
  /** The address from which the value came, or to which it went. */
  other: Address
  valueWei: Wei
}

export interface TransactionView {
  txHash: Hash
  /** The position of the transaction in its block; meaningless while it is pending. */
  txIndex: number
  from: Address
  to: Address | null
  valueWei: Wei
  blockNumber: number | null
  blockHash: Hash | null
  /** From the receipt. Null while the transaction is pending, or if the receipt is not available or too large for us to read. */
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

/** What we know about the chain once we have reached it. */
export interface ChainFacts {
  /** True if the factory sees the same block hashes as the provider reports. If it does not, mints carry no guard and wait for final blocks. */
  readonly guardUsable: boolean
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
  /** What the contract and the provider say about an address that buyers may have to pay. */
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

export interface MintOrder {
  to: Address
  cohort: number
  ref: Hash
}
/** What a round does for a cohort, from its pending turn `firstDue` on: first it skips the turns that are not owed, then it pays turns. */
export interface CohortCredit {
  cohort: number
  firstDue: number
  skipped: number
  paid: number
  /** The sum over all turns that it pays. */
  amountPerNodeWei: Wei
}

/**
 * A call to the factory that is not signed yet. `validUntil` is the last block time (unix seconds) at which it can be executed. `guard` is null only
 * if the contract cannot check block hashes on this chain.
 */
export type FactoryCall = { validUntil: number } & (
  | {
      kind: 'openCohorts'
      /** The number of the first cohort, which must be the next one on the contract. */
      first: number
      openings: Opening[]
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

/** The outcome of a broadcast. It is classified by type and code first, and by text only if these are not enough. */
export type SendOutcome =
  | { kind: 'accepted' }
  | { kind: 'unknown'; detail: string }
  | { kind: 'nonceTooLow' }
  | { kind: 'underpriced' }
  | { kind: 'feeTooLow' }
  | { kind: 'insufficientFunds' }
  | { kind: 'overGasCap' }

/** The outcome of simulating a call before it is signed. */
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
  /** Like `nonce`, from every provider; null for a provider that does not answer. */
  nonces(): Promise<(number | null)[]>
  balance(): Promise<Wei>
  /**
   * The fees that a new transaction should offer: room for the base fee to double, or the cap if that is lower and still pays for the next block.
   * They exceed the cap only if nothing below it would be mined. We trust the provider's tip and base fee only up to their limits.
   */
  fees(limits?: FeeLimits): Promise<Fees>
}

/** The account with its key. No other object can send. */
export interface SignerAccount extends AccountReader {
  /** The number of this account's transactions as of a block, from every provider; null for a provider that does not answer or lacks the block. */
  noncesAt(block: Hash): Promise<(number | null)[]>
  /** A block's hash as the contract sees it as of block `at`, from every provider; null for a provider that does not answer. */
  guardsAt(block: number, at: number): Promise<(Hash | null)[]>
  /** Simulates the call and estimates its gas. It leaves out the guard, because eth_call cannot check a guard on the head. */
  estimate(call: FactoryCall): Promise<EstimateOutcome>
  /** Signs the call; does not send it. */
  sign(call: FactoryCall, options: { nonce: number; gasLimit: bigint; fees: Fees }): Promise<SignedTransaction>
  /** Sends the same bytes to every provider. The transport never repeats this. */
  broadcast(raw: `0x${string}`): Promise<SendOutcome>
}
