// The dependencies of passes, steps and acts. A function names in its signature only those that it uses. The composition root builds them once
// (pass-context.ts); none changes after that.
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

/** Reads single nodes' events, to repair what the ledger lacks. */
export interface NodeHistoryRead {
  readonly history: NodeHistory
}

/** The service's own accounts; null if the key is not configured. `Account` is what a function may do with them. */
export interface ServiceAccounts<Account extends { readonly address: Address } = { readonly address: Address }> {
  readonly minter: Account | null
  readonly distributor: Account | null
}

/** Distinguishes the two accounts. */
export type AccountRole = keyof ServiceAccounts

/** The accounts for reading only: balance, nonce, fees. */
export type AccountsRead = ServiceAccounts<AccountReader>

/** The accounts with their keys. Only the passes get them. Each hands the account that it sends from to the send step. */
export type Signers = ServiceAccounts<SignerAccount>

/** Prevents two runs of a pass at once, across instances. */
export interface RunLock {
  readonly lock: Lock
}

/** The check at the start of every run that the settings match the chain. */
export interface Preflight {
  /** Resolves immediately once it has succeeded. Throws until it has compared the settings with the chain. */
  readonly preflight: () => Promise<ChainFacts>
}

/** How requests wait for the ledger to catch up. */
export interface Polling {
  readonly pollPolicy: PollPolicy
}

/** The settings that a function uses: some of the groups below. */
export interface RuledBy<Group> {
  readonly rules: Group
}

export interface Logging {
  readonly log: Log
}

/** What following, judging and reading a ledger need; it includes no key. */
export interface LedgerContext
  extends LedgerDb,
    ChainRead,
    FactoryRead,
    NodeHistoryRead,
    Polling,
    RuledBy<Rules>,
    Logging {}

/** Everything that the composition root builds for the passes. No function takes all of it. */
export interface PassContext extends LedgerContext, Signers, RunLock, Preflight {}

/** Settings for following the chain. */
export interface FollowRules {
  /** The first block to follow. */
  readonly startBlock: number
  /** True only for the embedded chain, which may be shorter after a restart from its last dump. */
  readonly rewindsToShorterChain: boolean
  /** Which blocks we may survey instead of reading them. Only tests set it, because their histories are short. */
  readonly survey?: SurveyRules
}

export interface SurveyRules {
  /** How many blocks behind the final one a block must be. */
  readonly behind: number
  /** The fewest blocks in one survey. */
  readonly blocksMin: number
}

/** When a payment's block counts as settled: immediately, with a fork guard; when final; or after this many blocks. */
export type Finality = 'guarded' | 'finalized' | number

export interface FinalityRules {
  readonly finality: Finality
}

/** How far to trust a single provider. */
export interface TrustRules {
  /** True to believe what it says even if nothing proves it. */
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

/** Settings for the payments pass's periodic checks. */
export interface UpkeepRules {
  /** Seconds between two comparisons of the ledger with the contract. */
  readonly reconcileEverySec: number
  /** A signer account's funds are low if they pay for fewer transactions than this; 0 turns the warning off. */
  readonly fundsWarnTransactions: number
}

/** All settings. */
export interface Rules
  extends FollowRules,
    FirstSaleTerms,
    FinalityRules,
    TrustRules,
    CreditRules,
    SendRules,
    UpkeepRules {}

/** Runs `body` if no other run holds the lock of that name; otherwise returns null. The signal aborts if the lock is lost. */
export type Lock = <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>) => Promise<T | null>

/** Limits for a request that makes the ledger follow to a block. */
export interface PollPolicy {
  /** How long we try to read a transaction. After that we report that the chain did not answer. */
  readonly readMs: number
  /** How long we wait in total for the ledger to follow, over all checks and runs. After that the answer is the state so far. */
  readonly waitMs: number
  readonly looksMax: number
  readonly pauseMs: number
}

/**
 * Once it starts, a claim takes at most 12 s, the sum of both times; including its wait in the queue, 20 s (DEADLINE_MS in
 * http/routes/payments/claim.ts). `readMs` leaves time for the next provider to answer if one hangs.
 */
export const REQUEST_POLL_POLICY: PollPolicy = { readMs: 8_000, waitMs: 4_000, looksMax: 40, pauseMs: 100 }

/** A run's time limit and its lock. */
export interface RunLimits {
  /** Throws if the run's lock was lost. Called before every send. */
  checkLock(): void
  /** True if the run should start nothing new. */
  outOfTime(): boolean
}

/** One run of a pass, on a chain that we have reached. */
export interface Run extends RunLimits, ChainFacts {
  /** Records a fault that does not stop the run. */
  reportFault(message: string): void
}

/** The addresses of the accounts whose keys are configured. */
export function addressesOf({ minter, distributor }: ServiceAccounts): Address[] {
  return [minter, distributor].flatMap((account) => (account ? [account.address] : []))
}
