// What every pass and step is given: the ledger, the chain, the keys and the rules. Built once by the composition root.
import type { ChainReader, ContractReader, NodeHistory, Sender } from '../chain/port.ts'
import type { LockName } from '../db/locks.ts'
import type { Pool } from '../db/sql.ts'
import type { Address } from '../domain/units.ts'
import type { Log } from '../lib/log.ts'

/** When a payment's block counts as settled: behind the fork guard at once, when final, or after so many blocks. */
export type Finality = 'guarded' | 'finalized' | number

export interface Rules {
  /** First block to follow. */
  startBlock: number
  paymentAddress: Address | null
  finality: Finality
  /** Seconds of block time in which a superseded price still buys its tier. */
  priceGraceSec: number
  /** Seconds of block time for which an unreadable holding is asked again. */
  holdingRetrySec: number
  distEnabled: boolean
  distMode: 'treasury' | 'swaps'
  /** Most that is ever offered per gas, wei. */
  feeCapWei: bigint
  /** Whether the factory's block hashes agree with the provider's; without, mints wait for finalized blocks and carry no guard. */
  guardUsable: boolean
  /** Only for the embedded chain, which may come back from its last dump shorter than it was. */
  rewindsToShorterChain: boolean
  /** Seconds between two comparisons of the ledger with the contract. */
  reconcileEverySec: number
  /** A sender's funds are low when they pay for fewer transactions; 0: never. */
  fundsWarnTransactions: number
}

/** Runs `body` where nobody else runs under that name, else answers null. Its signal aborts when the lock is lost. */
export type Lock = <T>(name: LockName, body: (signal: AbortSignal) => Promise<T>) => Promise<T | null>

/** How a request waits for the ledger to follow: so long, with so many looks at most and a pause between two of them. */
export interface Patience {
  waitMs: number
  looksMax: number
  pauseMs: number
}

export interface PassContext {
  pool: Pool
  /** Connections for locks, past any pooler. */
  directUrl: string
  /** What keeps runs apart; an advisory lock over `directUrl` unless given. */
  lock?: Lock
  /** What a request waits for; as long as a caller may be kept unless given. */
  patience?: Patience
  chain: ChainReader
  contract: ContractReader
  history: NodeHistory
  /** Null where the key is not configured: then the ledger follows and judges, but sends nothing. */
  minter: Sender | null
  distributor: Sender | null
  rules: Rules
  /** Begins every run: throws for as long as the chain could not be held against the settings. Left out: it has been. */
  ready?: () => Promise<void>
  log: Log
}

/** The accounts whose keys are configured. */
export function senderAddresses({ minter, distributor }: PassContext): Address[] {
  return [minter, distributor].flatMap((sender) => (sender ? [sender.address] : []))
}

/** How long a run may go on, and whether it still holds its lock. */
export interface Run {
  /** Throws when the run's lock was lost. Asked before every send. */
  checkLock(): void
  /** True when the run should start nothing new. */
  outOfTime(): boolean
}
