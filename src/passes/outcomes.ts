// Answers of the passes, as the cron routes and the command line show them, and the small surface that the routes may
// call. A refusal is a value; a fault is thrown as a ChainFault or a database error.
import type { Address, Hash, Wei } from '../domain/units.ts'

/**
 * The signer's answer in a run; null where there was nothing to sign. One refusal is enough for `notSigned`: a payment or
 * a round waits for the signer.
 */
export type SignerAnswer = 'signed' | 'notSigned' | null

/** The part of the minter's budget that is spent while work waits for it; null where it sufficed, or nothing was to be sent. */
export type BudgetAnswer = 'nodes' | 'cohorts' | null

/** GET|POST /api/cron/payments. `ran: false` means that another run held the lock. What a run did not count is null. */
export interface PaymentsOutcome {
  ran: boolean
  /** First and last block stored by this run; null when none was. */
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
 * The reason that a credit pass sent no round. `pending` also if the signer did not sign: `signer` says so. `unpaidNodes`: each cohort that is due
 * holds a node with neither payment nor grant.
 */
export type CreditReason = null | 'disabled' | 'paused' | 'nothingDue' | 'unpaidNodes' | 'underfunded' | 'pending'

/** GET|POST /api/cron/credit. What a run did not count is null: all of it with `ran: false`. */
export interface CreditOutcome {
  ran: boolean
  reason: CreditReason
  /** The round that was sent, or is outstanding. */
  distributionId: number | null
  nodeCount: number | null
  totalWei: Wei | null
  /** Nodes due when the run began. */
  dueNodes: number | null
  txHash: Hash | null
  /** The distributor's answer. */
  signer: SignerAnswer
  durationMs: number | null
}

/**
 * The result of following the chain up to a claimed transaction. `known`: the ledger holds a payment for it (read it there).
 * `following`: the ledger has not reached its block in the time a request may take; the payment is `seen`. `dust`: it is in the
 * books, and no payment.
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
  /** Whom the log names. */
  mintedTo: Address
  /** Whom `nodeInfo` names now. */
  ownerNow: Address
  /** True when the ledger did not have it before this lookup. */
  created: boolean
}

/**
 * The result of following the chain up to a mint. `following` means that the ledger has not reached the mint's block in the time a
 * request may take (another run is at it): ask again. `notFound` is also said of a transaction that is in no block yet, or in none of the
 * ledger's. `failed` and `noMint` are only said of a transaction.
 */
export type SyncOutcome =
  | { kind: 'followed'; nodes: FoundNode[] }
  | { kind: 'following' }
  | { kind: 'notFound' }
  | { kind: 'failed' }
  | { kind: 'noMint' }

/** Looks minted nodes up on chain for a wallet and follows to them: what POST /api/nodes/sync asks. Writes only through the follower. */
export interface Syncer {
  /** The nodes that a transaction minted on our factory. Throws a ChainFault when the chain cannot be asked. */
  byTransaction(txHash: Hash, wallet: Address): Promise<SyncOutcome>
  /** The node of that chain id: `notFound` when none was minted. Throws a ChainFault when the chain cannot be asked. */
  byNodeId(nodeId: bigint, wallet: Address): Promise<SyncOutcome>
}

/** The passes as the routes and the timer see them. Each is safe to call at any time, from any instance. */
export interface Passes {
  payments(): Promise<PaymentsOutcome>
  /** `followed`: the payments pass that ended just now; where nothing is due by what it saw, the provider is not asked again. */
  credit(followed?: PaymentsOutcome | null): Promise<CreditOutcome>
  /** Looks a payment up on chain, follows to its block and starts its mint. Throws a ChainFault when the chain cannot be asked. */
  claim(txHash: Hash): Promise<ClaimOutcome>
}
