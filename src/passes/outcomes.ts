// Results of the passes, as the cron routes and the CLI show them, and the small interface that routes may call. A refusal is a value; a fault is
// thrown, as a ChainFault or a database error.
import type { Address, Hash, Wei } from '../domain/units.ts'

/**
 * What the signer did in a run; null if there was nothing to sign. One refusal is enough for `notSigned`, because a payment or a round then waits for
 * the signer. `roleLost`: on the contract, the role belongs to another account.
 */
export type SignerAnswer = 'signed' | 'notSigned' | 'roleLost' | null

/** The part of the minter's budget that is spent while work is waiting; null if the budget sufficed, or there was nothing to send. */
export type BudgetAnswer = 'nodes' | 'cohorts' | null

/** GET|POST /api/cron/payments. `ran: false` means that another run held the lock. A count is null if the run did not get that far. */
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
  /** Payments that are still waiting: seen, accepted or minting. */
  pending: number | null
  /** Entries that this run repaired from the chain. */
  reconciled: number | null
  /** What the minter's signer did. */
  signer: SignerAnswer
  budgetSpent: BudgetAnswer
  durationMs: number | null
}

/**
 * Why a credit pass sent no round. It is `pending`, too, if the signer did not sign; then `signer` shows that. `unpaidNodes`: each due cohort has a
 * node with neither payment nor grant.
 */
export type CreditReason = null | 'disabled' | 'paused' | 'nothingDue' | 'unpaidNodes' | 'underfunded' | 'pending'

/** GET|POST /api/cron/credit. A count is null if the run did not get that far; with `ran: false` all are. */
export interface CreditOutcome {
  ran: boolean
  reason: CreditReason
  /** The round that was sent or is outstanding. */
  distributionId: number | null
  nodeCount: number | null
  totalWei: Wei | null
  /** Nodes due at the start of the run. */
  dueNodes: number | null
  txHash: Hash | null
  /** What the distributor's signer did. */
  signer: SignerAnswer
  durationMs: number | null
}

/**
 * The result of following the chain up to a claimed transaction. `known`: the ledger has a payment for it (read it there). `following`: the ledger
 * did not reach its block within the time of a request; the payment counts as `seen`. `dust`: it is recorded, but not as a payment.
 */
export type ClaimOutcome =
  | { kind: 'known' }
  | { kind: 'dust' }
  | { kind: 'following'; from: string; valueWei: Wei; blockNumber: number }
  | { kind: 'notFound' }
  | { kind: 'pending' }
  | { kind: 'notASale'; why: string }

/** A node from a `NodeMinted` log, once the ledger has followed to the log's block. */
export interface FoundNode {
  nodeId: bigint
  /** The owner in the log. */
  mintedTo: Address
  /** The owner that `nodeInfo` returns now. */
  ownerNow: Address
  /** True if the ledger did not have it before this lookup. */
  created: boolean
}

/**
 * The result of following the chain up to a mint. `following`: the ledger did not reach the mint's block within the time of a request (another run is
 * working on it), so ask again. `notFound` can also mean that a transaction is in no block yet, or in a block that is not the ledger's. `failed` and
 * `noMint` apply only to a transaction.
 */
export type SyncOutcome =
  | { kind: 'followed'; nodes: FoundNode[] }
  | { kind: 'following' }
  | { kind: 'notFound' }
  | { kind: 'failed' }
  | { kind: 'noMint' }

/** Looks up a wallet's minted nodes on chain and follows to them, for POST /api/nodes/sync. Writes only through the follower. */
export interface Syncer {
  /** The nodes that a transaction minted on our factory. Throws a ChainFault if the chain does not answer. */
  byTransaction(txHash: Hash, wallet: Address): Promise<SyncOutcome>
  /** The node with that id on chain; `notFound` if none was minted. Throws a ChainFault if the chain does not answer. */
  byNodeId(nodeId: bigint, wallet: Address): Promise<SyncOutcome>
}

/** The passes as the routes and the timer see them. Any may be called at any time, from any instance. */
export interface Passes {
  payments(): Promise<PaymentsOutcome>
  /** `followed` is the outcome of the payments pass that has just ended. If nothing is due at its head, we do not ask the provider again. */
  credit(followed?: PaymentsOutcome | null): Promise<CreditOutcome>
  /** Looks up a payment on chain, follows to its block and starts its mint. Throws a ChainFault if the chain does not answer. */
  claim(txHash: Hash): Promise<ClaimOutcome>
}
