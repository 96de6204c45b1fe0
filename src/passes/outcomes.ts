// Results of the passes, as the cron routes and the command line show them, and the small interface that the routes may call. A refusal is a value; a
// fault is thrown as a ChainFault or a database error.
import type { Address, Hash, Wei } from '../domain/units.ts'

/**
 * The signer's answer in a run; null if there was nothing to sign. One refusal is enough for `notSigned`, because a payment or a round then waits for
 * the signer. `roleLost`: the contract knows another account in its role.
 */
export type SignerAnswer = 'signed' | 'notSigned' | 'roleLost' | null

/** The part of the minter's budget that is spent while work waits for it; null if it sufficed, or there was nothing to send. */
export type BudgetAnswer = 'nodes' | 'cohorts' | null

/** GET|POST /api/cron/payments. `ran: false` means that another run held the lock. A count that a run did not make is null. */
export interface PaymentsOutcome {
  ran: boolean
  /** First and last block stored by this run; null if there was none. */
  fromBlock: number | null
  toBlock: number | null
  headBlock: number | null
  /** Transfers to the payments wallet stored by this run. */
  detected: number | null
  /** Nodes that this run saw minted. */
  minted: number | null
  /** Payments held by this run. */
  held: number | null
  /** Payments that still wait: seen, accepted or minting. */
  pending: number | null
  /** Nodes found on chain and inserted by the reconciler in this run. */
  reconciled: number | null
  /** The minter's answer. */
  signer: SignerAnswer
  budgetSpent: BudgetAnswer
  durationMs: number | null
}

/**
 * Why a credit pass sent no round. `pending` also if the signer did not sign; then `signer` says so. `unpaidNodes`: each due cohort holds a node with
 * neither payment nor grant.
 */
export type CreditReason = null | 'disabled' | 'paused' | 'nothingDue' | 'unpaidNodes' | 'underfunded' | 'pending'

/** GET|POST /api/cron/credit. A count that a run did not make is null; with `ran: false` all are. */
export interface CreditOutcome {
  ran: boolean
  reason: CreditReason
  /** The round that was sent, or is outstanding. */
  distributionId: number | null
  nodeCount: number | null
  totalWei: Wei | null
  /** Nodes due at the start of the run. */
  dueNodes: number | null
  txHash: Hash | null
  /** The distributor's answer. */
  signer: SignerAnswer
  durationMs: number | null
}

/**
 * The result of following the chain up to a claimed transaction. `known`: the ledger holds a payment for it (read it there). `following`: the ledger
 * has not reached its block within the time of a request; the payment is `seen`. `dust`: it is in the books, but is no payment.
 */
export type ClaimOutcome =
  | { kind: 'known' }
  | { kind: 'dust' }
  | { kind: 'following'; from: string; valueWei: Wei; blockNumber: number }
  | { kind: 'notFound' }
  | { kind: 'pending' }
  | { kind: 'notASale'; why: string }

/** A node that the chain's `NodeMinted` log names, after the ledger has followed to that log's block. */
export interface FoundNode {
  nodeId: bigint
  /** The owner that the log names. */
  mintedTo: Address
  /** The owner that `nodeInfo` names now. */
  ownerNow: Address
  /** True if the ledger did not have it before this lookup. */
  created: boolean
}

/**
 * The result of following the chain up to a mint. `following` means that the ledger has not reached the mint's block within the time of a request
 * (another run is working on it), so ask again. `notFound` can also mean that a transaction is in no block yet, or in none of the ledger's. `failed`
 * and `noMint` apply only to a transaction.
 */
export type SyncOutcome =
  | { kind: 'followed'; nodes: FoundNode[] }
  | { kind: 'following' }
  | { kind: 'notFound' }
  | { kind: 'failed' }
  | { kind: 'noMint' }

/** Looks minted nodes up on chain for a wallet and follows to them, for POST /api/nodes/sync. Writes only through the follower. */
export interface Syncer {
  /** The nodes that a transaction minted on our factory. Throws a ChainFault if the chain cannot be asked. */
  byTransaction(txHash: Hash, wallet: Address): Promise<SyncOutcome>
  /** The node with that chain id; `notFound` if none was minted. Throws a ChainFault if the chain cannot be asked. */
  byNodeId(nodeId: bigint, wallet: Address): Promise<SyncOutcome>
}

/** The passes as the routes and the timer see them. Each is safe to call at any time, from any instance. */
export interface Passes {
  payments(): Promise<PaymentsOutcome>
  /** `followed` is the payments pass that has just ended. If nothing is due by what it saw, we do not ask the provider again. */
  credit(followed?: PaymentsOutcome | null): Promise<CreditOutcome>
  /** Looks a payment up on chain, follows to its block and starts its mint. Throws a ChainFault if the chain cannot be asked. */
  claim(txHash: Hash): Promise<ClaimOutcome>
}
