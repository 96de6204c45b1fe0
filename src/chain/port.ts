// The chain as the passes and the routes see it, as types alone: the real chain and the simulation's model both implement these. Every
// method may throw a ChainFault (see faults.ts); none answers a guess, and "not there" is null only where the docstring says so.
import type { FeeLimits, Fees } from '../domain/fees.ts'
import type { FinalWord } from '../domain/finality.ts'
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

/** The addresses that a deployment watches. Wallets and signer accounts of the ledger are named for each range. */
export interface WatchedAddresses extends Watching {
  factory: Address
}

/** One very block. */
export interface BlockRef {
  number: number
  hash: Hash
}

/** Reads through one provider alone. */
export interface ProviderReader extends ChainReader {
  readonly host: string
  /** Moves it to the end of the order for a while: it is on another chain than the ledger. */
  distrust(): void
}

/** Reads what an account had and was after one very block. */
export interface StateReader {
  /** Ether of `owner` after that very block; null if that block's state is gone. Throws if there is no answer, or none that holds. */
  balanceAt(owner: Address, at: BlockRef): Promise<BalanceReading | null>
  /** ERC-20 balance of `owner` at that very block; null if it could not be checked (never 0). Of several providers two must name it. */
  holding(token: Address, owner: Address, at: BlockRef): Promise<bigint | null>
  /** Code of `payer` after that very block, proven, or as two providers tell it (the only one); null if it could not be checked (never "none"). */
  payerCode(payer: Address, at: BlockRef): Promise<PayerCode | null>
}

/** What the state after a block has of an account. */
export interface AccountState {
  /** Transactions that it sent, contracts that it made, and authorizations that it signed and that held. */
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
  /** The logs as they were read, for `observeBlocks`. */
  logs: readonly unknown[]
}

/**
 * Reads that tell where in a range of old blocks something happened, without all of its blocks. Each rests on two providers where there are
 * so many. Null: not to be had, or they do not agree; then the blocks have to be read one by one.
 */
export interface SurveyReader {
  /** The number of providers that have to agree: two, or the only one there is. */
  readonly voices: number
  /** Accounts after blocks, proved against the state roots of their headers. */
  accountsAt(questions: readonly { number: number; accounts: readonly Address[] }[]): Promise<ProvenBlock[] | null>
  /** The blocks of a range with logs of the factory that belong to the ledger. */
  loggedBlocks(from: number, to: number): Promise<LoggedBlock[] | null>
  /** The blocks of transactions by their hashes; null for one that is in no block, or not known. */
  blocksOf(txHashes: readonly Hash[]): Promise<(number | null)[]>
  /**
   * Observes single blocks, in ascending order. `logged` has those of the range with logs: of the others among `numbers`, a bloom that says
   * otherwise is followed up.
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
  /** The same reader once for each provider; empty for a reader of one provider. */
  readonly providers: readonly ProviderReader[]
  /** The chain id, asked of the provider each time. */
  chainId(): Promise<number>
  /** The provider's newest block. `toFollow`: the caller observes up to it next. */
  head(options?: { toFollow?: boolean }): Promise<Block>
  /** The oldest of the blocks that the providers call final, or null if the chain has no such notion. Throws if none answers. */
  finalized(): Promise<FinalWord | null>
  /** The canonical block of that height, or null where the provider has none (yet). */
  block(number: number): Promise<Block | null>
  /**
   * Observes the blocks `from` to `to`, both included. `parent` is the hash that block `from` must name as its parent (null: unknown,
   * accept any). Every log is anchored to its block's hash, every receipt compared with it. A missing block, a broken parent chain, or logs
   * that a block's bloom denies or lacks make it throw a retryable ChainFault. May answer a shorter range than asked (never an empty one)
   * where a provider limits ranges. `watching` has the ledger's addresses (else those it was built with); its signer accounts are added.
   */
  observe(from: number, to: number, parent: Hash | null, watching?: Watching): Promise<ObservedRange>
  /** The first block whose timestamp is not before `time` and that block's parent, found by bisection; null when the head is older. */
  firstBlockAt(time: number, notAfter: number): Promise<{ block: Block; parent: Block | null } | null>
  /** The same by blocks that two providers tell alike, or the only one. Throws a ChainFault if they do not. */
  agreedFirstBlockAt: ChainReader['firstBlockAt']
  /** A transaction by hash: null when the provider does not know it. `blockNumber` is null while it is pending. */
  transaction(txHash: Hash): Promise<TransactionView | null>
  /** A transaction in a block, with its outcome; null if it is in none yet. Of several providers two must tell the same, else null. */
  minedTransaction(txHash: Hash): Promise<TransactionView | null>
  /** Value that a mined transaction moved to `to` by internal calls, in order; null if it cannot be traced. Of several providers two must agree. */
  innerTransfers(txHash: Hash, to: Address): Promise<InnerTransfer[] | null>
  /**
   * Inner transfers to and from these wallets in one very block, in order of execution; null where it cannot be traced. Where there are two
   * providers or more, two must give the same list.
   */
  blockTransfers(at: BlockRef, wallets: readonly Address[]): Promise<BlockTransfer[] | null>
}

/** A transfer made by a call within a transaction. */
export interface InnerTransfer {
  /** Among the transaction's inner transfers to that address, from 1. */
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
  /** Among the transaction's inner transfers to that wallet, or from it, from 1. */
  index: number
  /** The address at the other end. */
  other: Address
  valueWei: Wei
}

export interface TransactionView {
  txHash: Hash
  /** Its position in the block; without meaning while it is in none. */
  txIndex: number
  from: Address
  to: Address | null
  valueWei: Wei
  blockNumber: number | null
  blockHash: Hash | null
  /** From the receipt; null while pending, while the receipt is not available, and if it is larger than we read. */
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
  /** The zero address where ownership is offered to no account. */
  pendingOwner: Address
  minter: Address
  budget: MinterBudget
  distributor: Address
  bounds: CreditBounds
  swapsAllowanceWei: Wei
  paused: boolean
}

/** Reads for previews of the owner's calls; it cannot send. Throws where the chain cannot answer. */
export interface GovernanceReader {
  readonly factory: Address
  powers(): Promise<OwnersPowers>
  tierSupply(tierNo: number): Promise<{ minted: number; most: number }>
  expulsionPeriodSec(): Promise<number>
  /** The contract's refusal of a call made now from that account, or null where it would succeed. */
  refusalOf(call: { to: Address; data: `0x${string}` }, from: Address): Promise<string | null>
}

/** Facts about a chain, once it has been reached. */
export interface ChainFacts {
  /** True if the factory's block hashes agree with the provider's; otherwise mints wait for finalized blocks and carry no guard. */
  readonly guardUsable: boolean
}

/** What a transaction minted, by its receipt. */
export interface MintReceipt {
  /** Its block, by the provider's word. Null where the receipt is larger than that of any mint, and was not read. */
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

/** Contract state for the passes; throws where the chain cannot answer. */
export interface ContractReader {
  readonly factory: Address
  counters(atBlock: number): Promise<ChainCounters>
  /** Nodes firstId .. firstId + count - 1 after that very block, shortened at the last one minted. */
  nodes(firstId: bigint, count: number, at: BlockRef): Promise<ChainNode[]>
  /** Cohorts after that very block. */
  cohorts(cohorts: number[], at: BlockRef): Promise<ChainCohort[]>
  /** Node minted for this ref, or null. */
  nodeOfRef(ref: Hash): Promise<bigint | null>
  maxPerWallet(): Promise<number>
  budget(atBlock: number): Promise<MinterBudget>
  bounds(atBlock: number): Promise<CreditBounds>
  /** The contract's and the provider's facts about an address that buyers may be asked to pay to. */
  walletFacts(
    wallet: Address,
  ): Promise<{ chainId: number; minter: Address; distributor: Address; hasCode: boolean; isTraceable: boolean }>
  /** The account that may credit rounds; null where the owner has named none, so that no turn is paid or skipped. */
  distributor(atBlock: number): Promise<Address | null>
  /** The least interval a cohort may be opened with. */
  leastIntervalSec(): Promise<number>
  balance(of: Address, atBlock?: number): Promise<Wei>
  /** True if there is code at the factory's address after that block. Throws where that block's state is not available. */
  isDeployed(atBlock: number): Promise<boolean>
  /** The root of its storage after that very block: where it is the same, nothing of it has changed. Null where it is not to be had. */
  storageRoot(block: Hash): Promise<Hash | null>
  /** The part of its surplus that the factory may spend on the next rounds (0 unless the owner allowed it). */
  swapsAllowance(): Promise<Wei>
}

/** Reads for the public API: null means "could not check" and is never an error. Each is answered within its time limit. */
export interface Readings {
  /** Nodes' chain state at the given block, coalesced with other callers; null when unreadable. */
  node(
    nodeId: bigint,
    atBlock: number,
  ): Promise<{ owner: Address; balanceWei: Wei; creditedWei: Wei; withdrawnWei: Wei; blockNumber: number } | null>
  /** `checkedAt` is when the chain was asked, milliseconds since 1970: a remembered answer keeps its own. */
  cover(): Promise<{
    contractBalanceWei: Wei
    outstandingWei: Wei
    isSolvent: boolean
    blockNumber: number
    checkedAt: number
  } | null>
  /** The distributor's balance; null also when none is configured. */
  distributorBalanceWei(): Promise<Wei | null>
  paused(): Promise<boolean | null>
  maxPerWallet(): Promise<number | null>
  nodesOf(owner: Address): Promise<readonly bigint[] | null>
  /** Reads a wallet that is about to buy, and of its holding of a token; each reading is null by itself. */
  buyer(wallet: Address, token: Address | null): Promise<BuyerReading>
}

/** A wallet that is about to buy, at one block. */
export interface BuyerReading {
  blockNumber: number | null
  balanceWei: Wei | null
  /** For each unit of gas, at present. */
  gasPriceWei: Wei | null
  /** The contract's cap per wallet. */
  walletMax: number | null
  code: PayerCode | null
  /** Null also where no token was asked about. */
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
/** A cohort's part of a round, from its pending turn `firstDue` on: turns not owed, then turns paid. */
export interface CohortCredit {
  cohort: number
  firstDue: number
  skipped: number
  paid: number
  /** For all of the turns that are paid. */
  amountPerNodeWei: Wei
}

/**
 * A call to the factory before it is signed. `validUntil` is the last block time, unix seconds, at which it can be carried out. `guard` is
 * null only where a block hash cannot be checked on chain.
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

/** The outcome of a broadcast: classified by type and code first, by text last. */
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
  /** The same by every provider; null where one has no answer. */
  nonces(): Promise<(number | null)[]>
  balance(): Promise<Wei>
  /**
   * Current fees for a new transaction: room for the base fee to double, or the cap where that is less and still pays for the next block.
   * Above the cap only where nothing below would do. Tip and base fee are believed up to their limits.
   */
  fees(limits?: FeeLimits): Promise<Fees>
}

/** The same account with its key. The only thing that can send. */
export interface SignerAccount extends AccountReader {
  /** Transactions of this account mined as of one block, by every provider; null where one has no answer or no such block. */
  noncesAt(block: Hash): Promise<(number | null)[]>
  /** The hash of a block by every provider, or as the contract knows it after block `at`; null if one has no answer or no such block. */
  hashesOf(block: number, at?: number): Promise<(Hash | null)[]>
  /** Simulates and estimates the call without its guard (a guard on the head cannot be checked by eth_call). */
  estimate(call: FactoryCall): Promise<EstimateOutcome>
  /** Signs; sends nothing. */
  sign(call: FactoryCall, options: { nonce: number; gasLimit: bigint; fees: Fees }): Promise<SignedTransaction>
  /** Broadcasts the same bytes to every provider. The transport never retries it. */
  broadcast(raw: `0x${string}`): Promise<SendOutcome>
}
