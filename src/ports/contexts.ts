// The dependencies of passes, steps and acts. A function's signature names only the ones that it uses. The composition root builds them once
// (pass-context.ts); after that none of them changes.

import type { LockName } from '../db/core/locks.ts'
import type { Pool } from '../db/core/sql.ts'
import type { FeeRules } from '../domain/fees.ts'
import type { EvidenceMode } from '../domain/observed.ts'
import type { FirstSaleTerms } from '../domain/tiers.ts'
import type { Address } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'
import type { BlockRef, ChainFacts, ChainReader } from './chain.ts'
import type { ContractReader, NodeHistory } from './contract.ts'
import type { AccountReader, SignerAccount } from './sending.ts'

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

/** The service's own accounts; an account is null if its key is not configured. `Account` limits what a function may do with them. */
export interface ServiceAccounts<Account extends { readonly address: Address } = { readonly address: Address }> {
  readonly minter: Account | null
  readonly distributor: Account | null
}

/** Names which of the two accounts is meant. */
export type AccountRole = keyof ServiceAccounts

/** The accounts for reading only: balance, nonce, fees. */
export type AccountsRead = ServiceAccounts<AccountReader>

/** The accounts with their keys. Only the passes get these. A pass hands the account that it sends from to the send step. */
export type Signers = ServiceAccounts<SignerAccount>

/** Prevents two runs of a pass at the same time, across instances. */
export interface RunLock {
  readonly lock: Lock
}

/** The check, at the start of every run, that the settings match the chain. */
export interface Preflight {
  /** Compares the settings with the chain, and throws until they match. Once they have matched, it resolves immediately. */
  readonly preflight: () => Promise<ChainFacts>
}

/** How long requests wait for the ledger to catch up. */
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

/** What it takes to follow, judge and read a ledger. It includes no key. */
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
export interface FollowRules extends TrustRules {
  readonly startBlock: number
  /** True only for the embedded chain: when it restarts from its last dump, it may be shorter than before. */
  readonly rewindsToShorterChain: boolean
  /** The mode of a new ledger, if it is known for this chain. Otherwise its newest blocks show it. */
  readonly mode?: EvidenceMode
  /** Which blocks we may survey instead of reading each one. Only tests set this, because their histories are short. */
  readonly survey?: SurveyRules
}

export interface SurveyRules {
  /** Surveys end this many blocks before the final block. */
  readonly behind: number
  /** The fewest blocks in one survey. */
  readonly blocksMin: number
}

/**
 * When a payment's block counts as settled. `guarded`: immediately, because calls have a fork guard. `finalized`: when it is final. A number: after
 * that many blocks.
 */
export type Finality = 'guarded' | 'finalized' | number

export interface FinalityRules {
  readonly finality: Finality
}

/** How far to trust a single provider. */
export interface TrustRules {
  /** True to believe what a single provider reports even if nothing proves it. */
  readonly trustsProvider: boolean
}

/** Where the ether for rounds comes from. */
export interface CreditRules {
  readonly distMode: 'treasury' | 'swaps'
}

export interface SendRules extends FeeRules {
  /** How many seconds of block time a signed call remains executable. */
  readonly validForSec: number
}

/** Settings for the payments pass's periodic checks. */
export interface UpkeepRules {
  /** Seconds between two comparisons of the ledger with the contract. */
  readonly reconcileEverySec: number
  /** We warn if a signer account's funds pay for fewer transactions than this; 0 turns the warning off. */
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

/** Runs `body` if no other run holds the lock named `name`; otherwise returns null. The signal aborts if the lock is lost. */
export type Lock = <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>) => Promise<T | null>

/** Limits for a request that waits while the ledger follows up to a block. */
export interface PollPolicy {
  /** Milliseconds to try to read a transaction. After that we report that the chain did not answer. */
  readonly readMs: number
  /** Milliseconds to wait in total for the ledger to follow, over all checks and runs. After that we answer with the state so far. */
  readonly waitMs: number
  readonly looksMax: number
  readonly pauseMs: number
}

/**
 * Once it has started, a claim takes at most 12 s: the sum of both times. With its wait in the queue it takes at most 20 s (DEADLINE_MS in
 * http/routes/payments/claim.ts). `readMs` leaves time for a second provider to answer if the first one hangs.
 */
export const REQUEST_POLL_POLICY: PollPolicy = { readMs: 8_000, waitMs: 4_000, looksMax: 40, pauseMs: 100 }

/** A run's time limit, and the check of its lock. */
export interface RunLimits {
  /** Throws if the run's lock was lost. Call it before every send. */
  checkLock(): void
  /** True if the run should start nothing new. */
  outOfTime(): boolean
}

/** What a run may build on. */
export interface Ground extends ChainFacts {
  /** The last common block while the providers' histories differ; nothing above it counts. Null while they agree. */
  readonly agreed: BlockRef | null
}

/** One run of a pass, once it has reached the chain. `agreed` is set once the run has followed. */
export interface Run extends RunLimits, Ground {
  /** Records a fault that does not stop the run. */
  reportFault(message: string): void
}

/** The addresses of the accounts whose keys are configured. */
export function addressesOf({ minter, distributor }: ServiceAccounts): Address[] {
  return [minter, distributor].flatMap((account) => (account ? [account.address] : []))
}
