// The chain's blocks, accounts and transactions as the passes and the routes see them (contract.ts: the factory's state; sending.ts: our own calls). This
// file has types only: the real chain implements them, and so does the model of the simulation. Every method may throw a ChainFault (see faults.ts).
// None returns a guess. Null means "it is not there" only if the comment promises it.
import type { FinalWord } from '../domain/finality.ts'
import type { BalanceReading, Block, ChainProofs, ObservedRange, Watching } from '../domain/observed.ts'
import type { PayerCode } from '../domain/payers/payer.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'

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
   * logs only if the bloom shows that there may be some.
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
  /** A transaction in a block; null if it is in no block yet. If there are several providers, it is null unless two agree. */
  minedTransaction(txHash: Hash): Promise<MinedView | null>
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

/** A transaction in a block, with its outcome and the block's time. */
export interface MinedView extends TransactionView {
  blockNumber: number
  blockHash: Hash
  succeeded: boolean
  blockTime: number
}

/** What we know about the chain once we have reached it. */
export interface ChainFacts {
  /** True if the factory sees the same block hashes as the provider reports. If it does not, mints carry no guard and wait for final blocks. */
  readonly guardUsable: boolean
}
