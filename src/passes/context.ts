// The parts that passes, steps and acts work with. A function names in its signature just the parts that it uses; the composition root
// builds them once (pass-context.ts), and no part changes after that.
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

/** The service's own accounts by what `Account` lets a function do with them; null where a key is not configured. */
export interface ServiceAccounts<Account extends { readonly address: Address } = { readonly address: Address }> {
  readonly minter: Account | null
  readonly distributor: Account | null
}

/** Distinguishes the two accounts. */
export type AccountRole = keyof ServiceAccounts

/** The accounts as readings of the chain: balance, nonce, fees. */
export type AccountsRead = ServiceAccounts<AccountReader>

/** The accounts with their keys. Only the passes are given them; each hands the one it sends with to the send step. */
export type Signers = ServiceAccounts<SignerAccount>

/** Keeps runs of a pass apart, across instances. */
export interface RunLock {
  readonly lock: Lock
}

/** The check that begins every run: the settings must fit the chain. */
export interface Preflight {
  /** Resolves at once when it has succeeded before. Throws for as long as the chain could not be held against the settings. */
  readonly preflight: () => Promise<ChainFacts>
}

/** The way that requests wait for the ledger to follow. */
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

/** The parts that following, judging and reading a ledger need; no key is among them. */
export interface LedgerContext
  extends LedgerDb,
    ChainRead,
    FactoryRead,
    NodeHistoryRead,
    Polling,
    RuledBy<Rules>,
    Logging {}

/** Everything the composition root has for the passes. No function asks for all of it. */
export interface PassContext extends LedgerContext, Signers, RunLock, Preflight {}

/** The rules of following. */
export interface FollowRules {
  /** First block to follow. */
  readonly startBlock: number
  /** Only for the embedded chain, which may come back from its last dump shorter than it was. */
  readonly rewindsToShorterChain: boolean
  /** Which blocks may be surveyed in place of being read; left out but in tests, whose histories are short. */
  readonly survey?: SurveyRules
}

export interface SurveyRules {
  /** Those that are so far behind the final block. */
  readonly behind: number
  /** Not fewer than these at once. */
  readonly blocksMin: number
}

/** The point at which a payment's block counts as settled: behind the fork guard at once, when final, or after so many blocks. */
export type Finality = 'guarded' | 'finalized' | number

export interface FinalityRules {
  readonly finality: Finality
}

/** What the only provider's word is worth. */
export interface TrustRules {
  /** It is believed in what nothing proves. */
  readonly trustsProvider: boolean
}

/** From which ether rounds are credited. */
export interface CreditRules {
  readonly distMode: 'treasury' | 'swaps'
}

export interface SendRules extends FeeRules {
  /** Seconds of block time after which a call that was signed can no longer be carried out. */
  readonly validForSec: number
}

/** The payments pass's duties besides payments. */
export interface UpkeepRules {
  /** Seconds between two comparisons of the ledger with the contract. */
  readonly reconcileEverySec: number
  /** A signer account's funds are low when they pay for fewer transactions; 0: never. */
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

/** Runs `body` if no other run holds the lock of that name, else answers null. Its signal aborts when the lock is lost. */
export type Lock = <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>) => Promise<T | null>

/** The limits of a request that has the ledger follow to something. */
export interface PollPolicy {
  /** The longest time for reading a transaction: past it the chain could not be asked. */
  readonly readMs: number
  /** The longest wait for the ledger to follow, over all looks and runs together: past it the answer is the state so far. */
  readonly waitMs: number
  readonly looksMax: number
  readonly pauseMs: number
}

/**
 * A claim whose turn has come takes 12 s at most, the sum of both times; its whole answer, with its wait in line, 20 s (DEADLINE_MS in
 * http/routes/payments/claim.ts). `readMs` is long enough for the next provider's answer where one hangs.
 */
export const REQUEST_POLL_POLICY: PollPolicy = { readMs: 8_000, waitMs: 4_000, looksMax: 40, pauseMs: 100 }

/** The time limit of a run, and its hold on the lock. */
export interface RunLimits {
  /** Throws when the run's lock was lost. Asked before every send. */
  checkLock(): void
  /** True when the run should start nothing new. */
  outOfTime(): boolean
}

/** One run of a pass, on a chain that has been reached. */
export interface Run extends RunLimits, ChainFacts {
  /** Puts a fault on the run's record that does not stop it. */
  reportFault(message: string): void
}

/** The addresses of the accounts whose keys are configured. */
export function addressesOf({ minter, distributor }: ServiceAccounts): Address[] {
  return [minter, distributor].flatMap((account) => (account ? [account.address] : []))
}
