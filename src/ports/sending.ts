// The calls that the service signs, and the accounts that sign and send them. Types only; the rules of chain.ts hold.
import type { FeeLimits, Fees } from '../domain/fees.ts'
import type { Opening } from '../domain/schedule.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'

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
