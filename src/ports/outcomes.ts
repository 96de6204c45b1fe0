// Results of the passes, as the cron routes and the CLI show them, and the small interface through which routes call the passes. A refusal is
// returned as a value; a fault is thrown, as a ChainFault or a database error.
import type { Address, Hash, Wei } from '../domain/units.ts'

/**
 * What the signer did in a run; null if there was nothing to sign. `notSigned`: it refused at least once, so a payment or a round waits for the
 * signer. `roleLost`: on the contract, the role belongs to another account.
 */
export type SignerAnswer = 'signed' | 'notSigned' | 'roleLost' | null

/** Which of the minter's budgets ran out (nodes or cohorts) while work was waiting; null if neither did, or there was nothing to send. */
export type BudgetAnswer = 'nodes' | 'cohorts' | null

/** GET|POST /api/cron/payments. `ran` is false if another run held the lock. A count is null if the run ended before counting it. */
export interface PaymentsOutcome {
  ran: boolean
  /** The first and the last block that this run stored; null if it stored none. */
  fromBlock: number | null
  toBlock: number | null
  headBlock: number | null
  /** Transfers to payments wallets that this run stored. */
  detected: number | null
  /** Mints of nodes that this run stored. */
  minted: number | null
  /** Payments that this run held. */
  held: number | null
  /** Payments that still wait: seen, accepted or minting. */
  pending: number | null
  /** Entries that this run repaired from the chain. */
  reconciled: number | null
  /** What the minter's signer did. */
  signer: SignerAnswer
  budgetSpent: BudgetAnswer
  durationMs: number | null
}

/**
 * Why a credit pass sent no round. If the signer did not sign, the reason is `pending`, and `signer` shows it. `unpaidNodes`: each due cohort has a
 * node with neither payment nor grant.
 */
export type CreditReason = null | 'disabled' | 'paused' | 'nothingDue' | 'unpaidNodes' | 'underfunded' | 'pending'

/** GET|POST /api/cron/credit. A count is null if the run ended before counting it. If `ran` is false, all counts are null. */
export interface CreditOutcome {
  ran: boolean
  reason: CreditReason
  /** The number of the round that was sent or is pending. */
  distributionId: number | null
  nodeCount: number | null
  totalWei: Wei | null
  /** Nodes in the cohorts that were due at the start of the run. */
  dueNodes: number | null
  txHash: Hash | null
  /** What the distributor's signer did. */
  signer: SignerAnswer
  durationMs: number | null
}

/**
 * The result of following the chain up to a claimed transaction. `known`: the ledger has a payment for it; read the payment there. `following`: the
 * ledger did not reach the transaction's block within the time of a request; the payment counts as `seen`. `dust`: the transfer is recorded, but not
 * as a payment.
 */
export type ClaimOutcome =
  | { kind: 'known' }
  | { kind: 'dust' }
  | { kind: 'following'; from: string; valueWei: Wei; blockNumber: number }
  | { kind: 'notFound' }
  | { kind: 'pending' }
  | { kind: 'notASale'; why: string }

/** A node from a `NodeMinted` log. The ledger has followed to the block of that log. */
export interface FoundNode {
  nodeId: bigint
  /** The owner in the log. */
  mintedTo: Address
  /** The owner according to the contract now (`nodeInfo`). */
  ownerNow: Address
  /** True if the ledger did not have it before this lookup. */
  created: boolean
}

/**
 * The result of following the chain up to a mint. `following`: the ledger did not reach the mint's block within the time of a request, because
 * another run holds the lock; try again. `notFound` can also mean that a transaction is in no block yet, or in a block that is not the ledger's.
 * `failed` and `noMint` occur only if the caller named a transaction.
 */
export type SyncOutcome =
  | { kind: 'followed'; nodes: FoundNode[] }
  | { kind: 'following' }
  | { kind: 'notFound' }
  | { kind: 'failed' }
  | { kind: 'noMint' }

/** Finds a wallet's minted nodes on chain and follows to their blocks, for POST /api/nodes/sync. It writes only through the follower. */
export interface Syncer {
  /** The nodes that a transaction minted on our factory. Throws a ChainFault if the chain does not answer. */
  byTransaction(txHash: Hash, wallet: Address): Promise<SyncOutcome>
  /** The node with that id on chain; `notFound` if it was not minted. Throws a ChainFault if the chain does not answer. */
  byNodeId(nodeId: bigint): Promise<SyncOutcome>
}

/** The passes as the routes and the timer see them. Each may be called at any time, from any instance. */
export interface Passes {
  payments(): Promise<PaymentsOutcome>
  /**
   * `followed` is the outcome of the payments pass that has just ended. If nothing is due at the head that it saw, we do not ask the provider again.
   */
  credit(followed?: PaymentsOutcome | null): Promise<CreditOutcome>
  /** Looks up a payment on chain, follows to its block and starts its mint. Throws a ChainFault if the chain does not answer. */
  claim(txHash: Hash): Promise<ClaimOutcome>
}
