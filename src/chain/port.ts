// The chain as the passes and the routes see it. Types only: the real chain and the simulation's model both implement them. Every method may throw a
// ChainFault (see faults.ts). None returns a guess, and null means "not there" only if the docstring says so.
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

/** The addresses that a deployment watches. Callers that read a range pass the ledger's wallets and signer accounts. */
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
  /** Moves it to the end of the order for a while, because it follows a different chain from the ledger's. */
  distrust(): void
}

/** Reads the state of an account after one exact block. */
export interface StateReader {
  /** Ether balance of `owner` after exactly that block; null if the state is pruned. Throws if no answer comes, or none passes verification. */
  balanceAt(owner: Address, at: BlockRef): Promise<BalanceReading | null>
  /** ERC-20 balance of `owner` at exactly that block; null if we could not check it (never 0). With several providers, two must agree. */
  holding(token: Address, owner: Address, at: BlockRef): Promise<bigint | null>
  /** Code of `payer` after exactly that block: proven, or as two providers (or the only one) report it; null if unchecked (never "none"). */
  payerCode(payer: Address, at: BlockRef): Promise<PayerCode | null>
}

/** An account's state after a block. */
export interface AccountState {
  /** Counts the transactions it sent, the contracts it created and the valid authorizations it signed. */
  nonce: number
  balanceWei: bigint
  hasCode: boolean
  codeHash: Hash
  storageRoot: Hash
}

/** A block, and the states of some accounts after it. */
export interface ProvenBlock {
  block: Block
  accounts: ReadonlyMap<Address, AccountState>
}

/** A block in which the factory logged something. We have not read the block itself yet. */
export interface LoggedBlock {
  number: number
  /** The refs in its logs. The ref of a payment is its transaction hash. */
  refs: readonly Hash[]
  /** The accounts that its logs make minter or distributor. */
  accounts: readonly Address[]
  /** The logs as we read them, for `observeBlocks`. */
  logs: readonly unknown[]
}

/**
 * Finds where in a range of old blocks something happened, without reading them all. If there are two providers, both must give the same answer. Null
 * if there is no answer, or they disagree; then we have to read the blocks one by one.
 */
export interface SurveyReader {
  /** How many providers must agree: two, or the only one there is. */
  readonly voices: number
  /** Account states after blocks, proven against the state roots of their headers. */
  accountsAt(questions: readonly { number: number; accounts: readonly Address[] }[]): Promise<ProvenBlock[] | null>
  /** The blocks of a range that hold factory logs relevant to the ledger. */
  loggedBlocks(from: number, to: number): Promise<LoggedBlock[] | null>
  /** The block number of each transaction; null if it is in no block, or unknown. */
  blocksOf(txHashes: readonly Hash[]): Promise<(number | null)[]>
  /**
   * Observes single blocks, in ascending order. `logged` lists the blocks of the range that have logs. If the bloom of any other block in `numbers`
   * indicates a log, we check that block.
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
  /** The chain id, fetched each time. */
  chainId(): Promise<number>
  /** The provider's newest block. `toFollow`: the caller will observe up to it next. */
  head(options?: { toFollow?: boolean }): Promise<Block>
  /** The oldest of the blocks that the providers call final (`leastFinal`); null if the chain has no finality. Throws if no provider answers. */
  finalized(own?: OwnHashes): Promise<FinalWord | null>
  /** The canonical block of that height; null if the provider has none (yet). */
  block(number: number): Promise<Block | null>
  /**
   * Observes the blocks `from` to `to`, both included. `parent` is the hash that block `from` must name as its parent (null: unknown, accept any).
   * Every log and receipt is checked against its block's hash. Throws a retryable ChainFault on a missing block, a broken parent chain, or logs that
   * do not match a block's bloom. May return a shorter range than requested (never an empty one) if a provider limits ranges. `watching` replaces the
   * addresses it was built with, except the signer accounts, which are added.
   */
  observe(from: number, to: number, parent: Hash | null, watching?: Watching): Promise<ObservedRange>
  /** The first block at or after `time`, and its parent, found by bisection; null if the head is older. */
  firstBlockAt(time: number, notAfter: number): Promise<{ block: Block; parent: Block | null } | null>
  /** The same, using only blocks on which two providers agree (or the only one's). Throws a ChainFault if they do not agree. */
  agreedFirstBlockAt: ChainReader['firstBlockAt']
  /** A transaction by hash; null if the provider does not know it. `blockNumber` is null while it is pending. */
  transaction(txHash: Hash): Promise<TransactionView | null>
  /** A transaction in a block, with its outcome; null if it is in none yet. If there are several providers, null unless two agree. */
  minedTransaction(txHash: Hash): Promise<TransactionView | null>
  /** Value that a mined transaction moved to `to` by inner calls, in order; null if we cannot trace it, or no two of several providers agree. */
  innerTransfers(txHash: Hash, to: Address): Promise<InnerTransfer[] | null>
  /** Inner transfers to and from these wallets in exactly one block, in order; null if we cannot trace it, or no two of several providers agree. */
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
  /** Its position in the block; meaningless while it is pending. */
  txIndex: number
  from: Address
  to: Address | null
  valueWei: Wei
  blockNumber: number | null
  blockHash: Hash | null
  /** From the receipt; null while the transaction is pending, and if the receipt is unavailable or too large for us to read. */
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

/** The settings that the contract's owner controls, all read at one block. */
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
  /** The contract's reason to reject this call if that account made it now; null if it would succeed. */
  refusalOf(call: { to: Address; data: `0x${string}` }, from: Address): Promise<string | null>
}

/** Facts about the chain, available once we have reached it. */
export interface ChainFacts {
  /** True if the factory's block hashes agree with the provider's; otherwise mints wait for finalized blocks and carry no guard. */
  readonly guardUsable: boolean
}

/** What a transaction minted, according to its receipt. */
export interface MintReceipt {
  /** Its block, as the provider reports it. Null if the receipt is larger than any mint's, so we did not read it. */
  block: BlockRef | null
  succeeded: boolean
  nodes: { nodeId: bigint; mintedTo: Address }[]
}

/** One node's events, for the reconciler, and the nodes that a transaction minted. */
export interface NodeHistory {
  /** Null while the transaction is in no block that the provider has. */
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
  /** Nodes of a tier after that block, not counting expelled ones, and the tier's maximum. */
  tierSupply(tierNo: number, atBlock: number): ReturnType<GovernanceReader['tierSupply']>
  budget(atBlock: number): Promise<MinterBudget>
  bounds(atBlock: number): Promise<CreditBounds>
  /** What the contract and the provider report about an address that buyers may have to pay to. */
  walletFacts(
    wallet: Address,
  ): Promise<{ chainId: number; minter: Address; distributor: Address; hasCode: boolean; isTraceable: boolean }>
  /** The account that may credit rounds; null if the owner has named none, in which case no turn is paid or skipped. */
  distributor(atBlock: number): Promise<Address | null>
  /** The shortest interval a new cohort may have. */
  leastIntervalSec(): Promise<number>
  balance(of: Address, atBlock?: number): Promise<Wei>
  /** True if there is code at the factory's address after that block. Throws if that block's state is not available. */
  isDeployed(atBlock: number): Promise<boolean>
  /** The factory's storage root after exactly that block. If two roots are equal, its storage has not changed. Null if unavailable. */
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
  /** Reads a wallet that is about to buy, and its balance of a token; each field may be null on its own. */
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
/** A cohort's part of a round, starting at its pending turn `firstDue`: first the turns not owed, then the turns paid. */
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
      /** The first cohort's number, which must be the contract's next one. */
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

/** The outcome of simulating the call before signing it. */
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
  /** The same from every provider; null for one that does not answer. */
  nonces(): Promise<(number | null)[]>
  balance(): Promise<Wei>
  /**
   * Current fees for a new transaction: room for the base fee to double, or the cap if that is lower and still pays for the next block. Above the cap
   * only if nothing below it would get in. We trust the provider's tip and base fee up to their limits.
   */
  fees(limits?: FeeLimits): Promise<Fees>
}

/** The same account with its key. Nothing else can send. */
export interface SignerAccount extends AccountReader {
  /** Transactions of this account mined as of one block, from every provider; null for one that does not answer or lacks the block. */
  noncesAt(block: Hash): Promise<(number | null)[]>
  /** The hash of a block from every provider, or as the contract sees it after block `at`; null for one that does not answer or lacks the block. */
  hashesOf(block: number, at?: number): Promise<(Hash | null)[]>
  /** Simulates the call and estimates its gas, without the guard (eth_call cannot check a guard on the head). */
  estimate(call: FactoryCall): Promise<EstimateOutcome>
  /** Signs; sends nothing. */
  sign(call: FactoryCall, options: { nonce: number; gasLimit: bigint; fees: Fees }): Promise<SignedTransaction>
  /** Broadcasts the same bytes to every provider. The transport never retries it. */
  broadcast(raw: `0x${string}`): Promise<SendOutcome>
}
