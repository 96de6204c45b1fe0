// The shapes of observed blocks, in the ledger's own terms. The chain side produces them and the database side stores them; neither knows the other.
// Block times are unix seconds.
import type { WatchedWallet } from './payment-wallets.ts'
import type { Address, Hash, Wei } from './units.ts'

/** A block header with the fields that the ledger needs. `time` is its timestamp, `prevrandao` the header's mixHash. */
export interface Block {
  number: number
  hash: Hash
  parentHash: Hash
  time: number
  prevrandao: Hash
}

/** A block by its number, hash and time. */
export type DatedBlock = Pick<Block, 'number' | 'hash' | 'time'>

/** The fees of a block, wei per gas. */
export interface BlockFees {
  number: number
  /** Null on chains without EIP-1559. */
  baseFeeWei: bigint | null
  /** The median tip in the block, without transactions of our signer accounts; null if there were none, or the provider does not report them. */
  tipWei: bigint | null
}

export interface Position {
  blockNumber: number
  blockHash: Hash
  blockTime: number
  txHash: Hash
  txIndex: number
}

/** What we look for in blocks, besides the factory's events. */
export interface Watching {
  wallets: readonly WatchedWallet[]
  /** Our signer accounts, if known. */
  signers: readonly Address[]
  /** The least value that is a payment and no dust (`dustBound`); 1 if left out. */
  leastWei?: bigint | undefined
  /**
   * Up to this block, the receipts of each block must be proven, and the sender of each transaction recovered, whatever the block contains. Left out:
   * of none.
   */
  wholeTo?: number
}

/**
 * A part of blocks that a chain may prove: a header by the block's hash, the lists of transactions and receipts by their roots, accounts by the state
 * root.
 */
export type ProvenPart = 'header' | 'transactions' | 'receipts' | 'state'

/**
 * What the ledger's blocks are worth. `proven`: each followed block must match its hash, with its lists. `agreed`: this chain's blocks cannot be
 * proven, so two providers must report the same.
 */
export const EVIDENCE_MODES = ['proven', 'agreed'] as const
export type EvidenceMode = (typeof EVIDENCE_MODES)[number]

/** What backs a fact: its block's hash, two agreeing providers, or one provider's word. */
export type Proof = 'proven' | 'agreed' | 'believed'

/** An account's ether after a block, and what backs the figure. `proven` here means against the state root in the block's header. */
export interface BalanceReading {
  wei: bigint
  proof: Proof
}

/** A provider's answer that does not match what its block's hash commits to. */
export interface FailedProof {
  part: ProvenPart
  blockNumber: number
  /** The provider's host; null if there was no other provider to ask. */
  host: string | null
  /** The given and the computed value, or why they are missing. */
  says: string
}

/** What blocks of a chain show: each of the newest proves itself, or the part of one that no provider proves, and why. */
export type FoundMode =
  /** `added`: fields that the hash covers and that this version does not know. */
  | { mode: 'proven'; block: number; added: readonly string[] }
  | { mode: 'agreed'; block: number; part: ProvenPart; why: string }

/** What all providers together show about a chain's blocks. */
export interface ChainProofs {
  /** Sets the mode for all reads from now on, and the ledger's chain id. If it is `proven` and an answer fails its proof, we ask another provider, or it is a fault. */
  require(mode: EvidenceMode, chainId?: number): void
  /** What the newest blocks show, `lists` of them with transactions. Null if no two providers (or the only one) name the same blocks, or they do not answer. */
  findMode(lists?: number): Promise<FoundMode | null>
}

/** Value on its way to a payments wallet. */
export interface Incoming extends Position {
  wallet: Address
  from: Address
  valueWei: Wei
  /** False if the transaction reverted, so the value never arrived. */
  succeeded: boolean
}

/** A top-level transaction to a payments wallet: a candidate payment, whatever its value. */
export interface Transfer extends Incoming {
  /** The transaction's type (EIP-2718); 0 for a legacy one. */
  type: number
  /** True if the transaction has no signature: it is a deposit from a parent chain, or one of the chain's own. */
  isUnsigned: boolean
  /** What backs its sender, recipient and value. A transfer that can have no effect is `believed`, because we did not check it. */
  proof: Proof
  /** The referral codes in its calldata, separated by commas; null if there are none. */
  codes: string | null
}

/** A transfer to a payments wallet by a call within a transaction, as a trace shows it. */
export interface InnerTransferIn extends Incoming {
  /** Position among the transaction's inner transfers to that wallet, from 1. */
  innerIndex: number
  ref: Hash
}

/** A transfer from a payments wallet by a call within a transaction. */
export interface InnerTransferOut extends Position {
  /** Position among the transaction's inner transfers from that wallet, from 1. */
  innerIndex: number
  ref: Hash
  wallet: Address
  to: Address
  valueWei: Wei
}

/** A top-level transaction sent by a payments wallet. It paid `feeWei` even if it reverted. */
export interface Outflow extends Position {
  wallet: Address
  to: Address | null
  valueWei: Wei
  feeWei: Wei
  /** What it may have paid instead, because no hash covers the price in a receipt. */
  otherFeesWei: readonly Wei[]
  succeeded: boolean
}

/** A transaction of one of our signer accounts (minter, distributor), or of any account to the factory, found in a block. */
export interface SenderTransaction extends Position {
  sender: Address
  nonce: number
  succeeded: boolean
  gasUsed: bigint
  feeWei: Wei
  /** The address that was called; null if the transaction created a contract. */
  to: Address | null
  /** Ether that the transaction moved; 0 if it reverted. */
  valueWei: Wei
  /** The transaction's type (EIP-2718); 0 for a legacy one. */
  type: number
  /** What backs its sender, recipient, nonce and value. */
  proof: Proof
}

/** A top-level withdraw or withdrawAll call to the factory that reverted; nothing moved. */
export interface FailedWithdrawal extends Position {
  caller: Address
  nodeIds: bigint[]
  to: Address
  /** The requested amount; null for withdrawAll. */
  amountWei: Wei | null
}

/** A log of the factory, in chain order (block, log index). A mint's `proof` shows what backs it; if it is missing, only one provider reports it. */
export type FactoryEvent = Position & { logIndex: number } & (
    | { kind: 'nodeMinted'; nodeId: bigint; owner: Address; ref: Hash; cohort: number; proof?: Proof }
    | { kind: 'mintSkipped'; ref: Hash; reason: number }
    /** An order for `to` was skipped, because its ref already belongs to node `nodeId`, which another wallet owns. */
    | { kind: 'refTaken'; ref: Hash; nodeId: bigint; to: Address }
    /** The node moved from cohort `cohort` to the closed cohort, with its credits until then. */
    | { kind: 'nodeExpelled'; nodeId: bigint; ref: Hash; cohort: number; creditedWei: Wei }
    | { kind: 'transfer'; nodeId: bigint; from: Address; to: Address }
    | { kind: 'cohortOpened'; cohort: number; tierNo: number; firstDue: number; intervalSec: number }
    | { kind: 'intervalSet'; cohort: number; intervalSec: number }
    | {
        kind: 'credited'
        round: number
        cohort: number
        /** The due time of the first turn paid, and how many turns from it on were paid. */
        due: number
        turns: number
        /** The sum over these turns. */
        amountPerNodeWei: Wei
        nodeCount: number
      }
    /** Turns that were not owed, from `due` on. */
    | { kind: 'turnsSkipped'; round: number; cohort: number; due: number; turns: number }
    /** The round was paid from surplus. If a round lacks this event, the distributor sent its ether. */
    | { kind: 'surplusSpent'; round: number; amountWei: Wei; allowanceWei: Wei }
    | { kind: 'withdrawn'; nodeId: bigint; owner: Address; to: Address; amountWei: Wei; withdrawnTotalWei: Wei }
    /** An act of the contract's owner, or incoming ether: the event's own name and arguments, addresses in lower case, numbers in decimal. */
    | { kind: 'ownerAct'; name: OwnerActName; detail: Readonly<Record<string, string>> }
  )

/**
 * Names of events about permissions (keys, budgets, bounds, allowance, caps of tiers, windows, pause, ownership), and about ether owed to no node.
 */
export const OWNER_ACTS = [
  'MinterSet',
  'MinterRefilled',
  'DistributorSet',
  'BoundsSet',
  'SwapsAllowanceSet',
  'TierCapped',
  'NotOwedSet',
  'Paused',
  'Unpaused',
  'Swept',
  'EtherReceived',
  'OwnershipTransferStarted',
  'OwnershipTransferred',
] as const
export type OwnerActName = (typeof OWNER_ACTS)[number]

/** The accounts to which an owner's act gave a role. */
export function accountsNamed(
  name: OwnerActName,
  { minter, distributor }: Readonly<Record<string, string>>,
): Address[] {
  if (name === 'MinterSet') return [minter as Address]
  return name === 'DistributorSet' ? [distributor as Address] : []
}

/** Everything that the ledger needs from a contiguous range of blocks, whose parent hashes were checked. */
export interface ObservedRange {
  /**
   * True if we did not read all blocks of the range. `blocks` then has the blocks that we read, and the last. We proved that the others contain
   * nothing that moved value or changed the factory.
   */
  isSurveyed?: true
  /** The addresses for which the range was read. If the ledger's addresses have changed since, it must be read again. */
  watching: Watching
  /** Answers that failed their proof and that another provider's answer replaced. */
  failedProofs?: readonly FailedProof[]
  blocks: Block[]
  /** The fees of the last blocks of the range, at most `FEE_BLOCKS`. */
  fees: BlockFees[]
  transfers: Transfer[]
  outflows: Outflow[]
  sent: SenderTransaction[]
  failedWithdrawals: FailedWithdrawal[]
  events: FactoryEvent[]
}

/** The contract's counters, all read at one block. */
export interface ChainCounters {
  blockNumber: number
  lastNodeId: bigint
  round: number
  outstandingWei: Wei
  contractBalanceWei: Wei
  isSolvent: boolean
  paused: boolean
}

/** The minter's remaining budget, read at one block. */
export interface MinterBudget {
  nodes: number
  cohorts: number
  /** The highest cohort number; the next opened cohort follows it. */
  lastCohort: number
}

/** The smallest and the largest credit allowed for a node in one turn. */
export interface CreditBounds {
  floorWei: Wei
  ceilingWei: Wei
}
