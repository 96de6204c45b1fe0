// The dependencies that passes, steps and acts work with. A function names in its signature only those that it uses. The composition root builds them
// once (pass-context.ts), and none changes after that.
import type {
  AccountReader,
  ChainFacts,
  ChainReader,
  ContractReader,
  NodeHistory,
  SignerAccount,
} from '../chain/port.ts'
import type { LockName } from '../db/core/locks.ts'
import type { Pool } from '../db/core/sql.ts'
import type { FeeRules } from '../domain/fees.ts'
import type { FirstSaleTerms } from '../domain/tiers.ts'
import type { Address } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'

/** The ledger's database. */
export interface LedgerDb {
  readonly pool: Pool
}

/** Reads blocks, transactions and balances. */
export interface ChainRead {
  readonly chain: ChainReader
}

/** Reads the state of the factory. */
export interface FactoryRead {
  readonly contract: ContractReader
}

/** Reads the events of single nodes, to repair what the ledger lacks. */
export interface NodeHistoryRead {
  readonly history: NodeHistory
}

/** The service's own accounts, with what `Account` lets a function do with them; null if a key is not configured. */
export interface ServiceAccounts<Account extends { readonly address: Address } = { readonly address: Address }> {
  readonly minter: Account | null
  readonly distributor: Account | null
}

/** Distinguishes the two accounts. */
export type AccountRole = keyof ServiceAccounts

/** The accounts for reading from the chain: balance, nonce, fees. */
export type AccountsRead = ServiceAccounts<AccountReader>

/** The accounts with their keys. Only the passes get them; each passes the account it sends from to the send step. */
export type Signers = ServiceAccounts<SignerAccount>

/** Keeps runs of a pass apart, across instances. */
export interface RunLock {
  readonly lock: Lock
}

/** The check at the start of every run: the settings must fit the chain. */
export interface Preflight {
  /** Resolves at once if it has succeeded before. Throws as long as it could not compare the chain with the settings. */
  readonly preflight: () => Promise<ChainFacts>
}

/** How requests wait for the ledger to follow. */
export interface Polling {
  readonly pollPolicy: PollPolicy
}

/** The settings that a function obeys: some of the groups below. */
export interface RuledBy<Group> {
  readonly rules: Group
}

export interface Logging {
  readonly log: Log
}

/** What following, judging and reading a ledger need; no key is among it. */
export interface LedgerContext
  extends LedgerDb,
    ChainRead,
    FactoryRead,
    NodeHistoryRead,
    Polling,
    RuledBy<Rules>,
    Logging {}

/** Everything that the composition root has for the passes. No function takes all of it. */
export interface PassContext extends LedgerContext, Signers, RunLock, Preflight {}

/** The rules of following. */
export interface FollowRules {
  /** First block to follow. */
  readonly startBlock: number
  /** Only for the embedded chain, which may come back from its last dump shorter than it was. */
  readonly rewindsToShorterChain: boolean
  /** Which blocks may be surveyed instead of read. Only tests set it, because their histories are short. */
  readonly survey?: SurveyRules
}

export interface SurveyRules {
  /** How far a block must be behind the final one. */
  readonly behind: number
  /** The fewest blocks at once. */
  readonly blocksMin: number
}

/** When a payment's block counts as settled: at once behind the fork guard, when final, or after this many blocks. */
export type Finality = 'guarded' | 'finalized' | number

export interface FinalityRules {
  readonly finality: Finality
}

/** How far to trust a provider that is the only one. */
export interface TrustRules {
  /** True to believe it when nothing proves what it says. */
  readonly trustsProvider: boolean
}

/** The source of the ether for rounds. */
export interface CreditRules {
  readonly distMode: 'treasury' | 'swaps'
}

export interface SendRules extends FeeRules {
  /** Seconds of block time after which a signed call can no longer be executed. */
  readonly validForSec: number
}

/** The payments pass's other duties. */
export interface UpkeepRules {
  /** Seconds between two comparisons of the ledger with the contract. */
  readonly reconcileEverySec: number
  /** A signer account's funds are low if they pay for fewer transactions than this; 0 for never. */
  readonly fundsWarnTransactions: number
}

/** All of them. */
export interface Rules
  extends FollowRules,
    FirstSaleTerms,
    FinalityRules,
    TrustRules,
    CreditRules,
    SendRules,
    UpkeepRules {}

/** Runs `body` if no other run holds the lock of that name, else returns null. Its signal aborts if the lock is lost. */
export type Lock = <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>) => Promise<T | null>

/** The limits of a request that makes the ledger follow to a block. */
export interface PollPolicy {
  /** The longest time to read a transaction; after it we report that the chain could not be asked. */
  readonly readMs: number
  /** The longest wait for the ledger to follow, over all looks and runs together; after it the answer is the state so far. */
  readonly waitMs: number
  readonly looksMax: number
  readonly pauseMs: number
}

/**
 * A claim takes at most 12 s once it starts, the sum of both times; its whole answer, with its wait in the queue, 20 s (DEADLINE_MS in
 * http/routes/payments/claim.ts). `readMs` is long enough for the next provider to answer if one hangs.
 */
export const REQUEST_POLL_POLICY: PollPolicy = { readMs: 8_000, waitMs: 4_000, looksMax: 40, pauseMs: 100 }

/** The time limit of a run, and its hold on the lock. */
export interface RunLimits {
  /** Throws if the run's lock was lost. Called before every send. */
  checkLock(): void
  /** True if the run should start nothing new. */
  outOfTime(): boolean
}

/** One run of a pass, on a chain that has been reached. */
export interface Run extends RunLimits, ChainFacts {
  /** Records a fault that does not stop the run. */
  reportFault(message: string): void
}

/** The addresses of the accounts whose keys are configured. */
export function addressesOf({ minter, distributor }: ServiceAccounts): Address[] {
  return [minter, distributor].flatMap((account) => (account ? [account.address] : []))
}
