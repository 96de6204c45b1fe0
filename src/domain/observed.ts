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

/** The fees of a block, wei per gas. */
export interface BlockFees {
  number: number
  /** Null on chains without EIP-1559. */
  baseFeeWei: bigint | null
  /** The median tip that accounts other than our signer accounts paid in it; null if there were none, or the provider does not report them. */
  tipWei: bigint | null
}

/** A position in the chain. */
export interface Position {
  blockNumber: number
  blockHash: Hash
  blockTime: number
  txHash: Hash
  txIndex: number
}

/** What we look for in blocks, besides the factory. */
export interface Watching {
  wallets: readonly WatchedWallet[]
  /** Our signer accounts, if known. */
  signers: readonly Address[]
  /** Present and past prices of tiers; a transfer of another amount buys nothing automatically. If left out, any amount may buy. */
  prices?: readonly bigint[] | undefined
  /** The next nonces of accounts, as of the followed blocks. An authorization whose nonce is far from all of them is not ours. */
  nonces?: Readonly<Partial<Record<Address, number>>> | undefined
  /** True if lists of transactions must be proven, whatever they contain. */
  isWhole?: boolean
}

/**
 * A part of blocks that a chain may prove: a header by the block's hash, the lists of transactions and receipts by their roots, accounts by the state
 * root.
 */
export const PROVEN_PARTS = ['header', 'transactions', 'receipts', 'state'] as const
export type ProvenPart = (typeof PROVEN_PARTS)[number]

/**
 * Parts that we require once blocks prove them. The order matters, because what is under a root proves nothing without the header that names the
 * root.
 */
export const LEARNT = ['header', 'transactions', 'receipts'] as const

/** To learn what blocks prove, we request one this far behind the head, because any node that has the head has it. */
export const BEHIND_HEAD = 4

/** What backs a fact: its block's hash, two agreeing providers, or the word of one. */
export type Proof = 'proven' | 'agreed' | 'believed'

/** An account's ether after a block, and what backs that. Here a proof is one against the state root in the block's header. */
export interface BalanceReading {
  wei: bigint
  proof: Proof
}

/** A provider's answer that does not recompute to what its block's hash commits to. */
export interface FailedProof {
  part: ProvenPart
  blockNumber: number
  /** The provider's host; null if there was no other provider to ask. */
  host: string | null
  /** The given and the computed value, or why they are missing. */
  says: string
}

/** What the ledger requires of parts: `askedFor` (required) once proven, `lowered` since that stopped. Parts that were never proven are absent. */
export type ProofStates = ReadonlyMap<ProvenPart, 'askedFor' | 'lowered'>

/** What all providers together show about a part of a chain's blocks. If they fail, that shows nothing. */
export interface ChainProofs {
  /**
   * Sets what must recompute from now on. If a part does not, we ask another provider, or it is a fault. `isDoubted`: lists of transactions must be
   * proven, whatever they contain.
   */
  askFor(states: ProofStates, isDoubted?: boolean): void
  /**
   * The newest block up to this one whose part recomputes, and whose hash two providers (or the only one) name. False if they show that it does not
   * recompute; null if they show nothing about it.
   */
  newestProof(part: ProvenPart, newest: number): Promise<number | false | null>
  /** The same, but one provider that proves it is enough. */
  proofOfAny(part: ProvenPart, newest: number): Promise<number | false | null>
  /** True if the bloom and the receipts' root in that block's header belong to blocks that it settles (Avalanche since Helicon). */
  hasForeignBlooms(number: number): Promise<boolean>
  /**
   * True if two providers return the same part of that block, field by field, and it does not recompute. False for a list of known types, which must
   * recompute because no fork changes that.
   */
  isUnprovable(part: ProvenPart, number: number): Promise<boolean>
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
  /** True if it has no signature: a deposit from a parent chain, or the chain's own. */
  isUnsigned: boolean
  /** Backs its sender, recipient and value. A transfer that can have no effect is `believed`, because we did not check it. */
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
  succeeded: boolean
}

/** What used a nonce of an account: a transaction, or a valid authorization. */
export interface NonceUse extends Position {
  sender: Address
  nonce: number
  succeeded: boolean
  gasUsed: bigint
  feeWei: Wei
  /** The called address; null if it created a contract. */
  to: Address | null
  /** Ether that moved with it; 0 if it reverted. */
  valueWei: Wei
}

/** A transaction of one of our signer accounts (minter, distributor), or of any account to the factory, found in a block. */
export interface SenderTransaction extends NonceUse {
  /** The transaction's type (EIP-2718); 0 for a legacy one. */
  type: number
  /** Backs its sender, recipient, nonce and value. */
  proof: Proof
}

/**
 * An EIP-7702 authorization that one of our signer accounts signed, carried by the transaction `txHash` of any account. It used up `nonce` if that
 * was the signer account's next.
 */
export interface Authorization extends Position {
  sender: Address
  nonce: number
}

/** A top-level withdraw or withdrawAll call to the factory that reverted; nothing moved. */
export interface FailedWithdrawal extends Position {
  caller: Address
  nodeIds: bigint[]
  to: Address
  /** The requested amount; null for withdrawAll. */
  amountWei: Wei | null
}

/** A log of the factory, in chain order (block, log index). */
export type FactoryEvent = Position & { logIndex: number } & (
    | { kind: 'nodeMinted'; nodeId: bigint; owner: Address; ref: Hash; cohort: number }
    | { kind: 'mintSkipped'; ref: Hash; reason: number }
    /** An order for `to` was skipped, because its ref already belongs to node `nodeId`, which another wallet owns. */
    | { kind: 'refTaken'; ref: Hash; nodeId: bigint; to: Address }
    /** The node moved from cohort `cohort` to the closed one, with its credits until then. */
    | { kind: 'nodeExpelled'; nodeId: bigint; ref: Hash; cohort: number; creditedWei: Wei }
    | { kind: 'transfer'; nodeId: bigint; from: Address; to: Address }
    | { kind: 'cohortOpened'; cohort: number; tierNo: number; firstDue: number; intervalSec: number }
    | { kind: 'intervalSet'; cohort: number; intervalSec: number }
    | {
        kind: 'credited'
        round: number
        cohort: number
        /** The first paid turn, and the number of turns from it on. */
        due: number
        turns: number
        /** The sum over these turns. */
        amountPerNodeWei: Wei
        nodeCount: number
      }
    /** Turns that were not owed, from `due` on. */
    | { kind: 'turnsSkipped'; round: number; cohort: number; due: number; turns: number }
    /** The round was paid from surplus. Without this event the distributor sent its ether. */
    | { kind: 'surplusSpent'; round: number; amountWei: Wei; allowanceWei: Wei }
    | { kind: 'withdrawn'; nodeId: bigint; owner: Address; to: Address; amountWei: Wei; withdrawnTotalWei: Wei }
    /** An act of the contract's owner, or incoming ether: the event's own name and arguments, addresses in lower case, numbers in decimal. */
    | { kind: 'ownerAct'; name: OwnerActName; detail: Readonly<Record<string, string>> }
  )

/** Events about permissions (keys, budgets, bounds, allowance, caps of tiers, windows, pause, ownership), and about ether owed to no node. */
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

/** The accounts to which an owner's act gives a role. */
export function accountsNamed(
  name: OwnerActName,
  { minter, distributor }: Readonly<Record<string, string>>,
): Address[] {
  const named = name === 'MinterSet' ? minter : name === 'DistributorSet' ? distributor : undefined
  return named === undefined ? [] : [named as Address]
}

/** Everything the ledger needs of a contiguous range of blocks; parent hashes were checked. */
export interface ObservedRange {
  /**
   * True if we did not read all blocks of the range. `blocks` are those that we read, and the last. We proved that the others hold nothing that moved
   * value or changed the factory.
   */
  isSurveyed?: true
  /** The addresses for which it was read. If the ledger's have changed since, it must be read again. */
  watching: Watching
  /** Failed answers that another provider's answer replaced. */
  failedProofs?: readonly FailedProof[]
  blocks: Block[]
  /** The fees of the last blocks of the range, at most `FEE_BLOCKS`. */
  fees: BlockFees[]
  transfers: Transfer[]
  outflows: Outflow[]
  sent: SenderTransaction[]
  authorizations: Authorization[]
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

/** The least and the most that a node may be credited for one turn. */
export interface CreditBounds {
  floorWei: Wei
  ceilingWei: Wei
}
