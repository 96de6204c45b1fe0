// The wallets that buyers pay to: which one holds at a block, which are read for, and when a payment to one that was replaced is no sale any
// more. All instances go by the ledger's rows. Pure.
import type { Address } from './units.ts'

/** The blocks in which transactions of a wallet are the ledger's. */
export interface WatchedWallet {
  wallet: Address
  watchedFrom: number
  /** The last one; null while its books are open. */
  closedBlock: number | null
}

/** A wallet of the ledger, in the order in which they were entered. */
export interface PaymentWallet extends WatchedWallet {
  /** It holds in blocks that are neither below the one nor older than the other. */
  fromBlock: number
  fromTime: number
  /** The ones before were stolen. */
  stolen: boolean
  /** Seconds of block time for which a payment to the one before is still a sale; of no account where that was stolen. */
  graceSec: number
}

/** A block by its height and its time, unix seconds. */
export interface BlockPlace {
  number: number
  time: number
}

/** Blocks, and seconds of block time, from the followed block to the one in which a planned change holds at the earliest. */
export const CHANGE_AHEAD_BLOCKS = 64
export const CHANGE_AHEAD_SEC = 300

const holds = ({ fromBlock, fromTime }: PaymentWallet, at: BlockPlace) => fromBlock <= at.number && fromTime <= at.time

/** The wallet that buyers are told at a block: of those that hold, the one entered last. Null where none does. */
export function walletAt(wallets: readonly PaymentWallet[], at: BlockPlace): PaymentWallet | null {
  return wallets.findLast((wallet) => holds(wallet, at)) ?? null
}

/**
 * Whether a wallet was replaced so long before a block that a payment to it is no sale: a planned change leaves a grace, a theft
 * nothing. A wallet that the ledger does not know was replaced.
 */
export function isOldWallet(wallets: readonly PaymentWallet[], wallet: Address, at: BlockPlace): boolean {
  const index = wallets.findIndex((known) => known.wallet === wallet)
  if (index < 0) return true
  const after = wallets.slice(index + 1).filter((next) => holds(next, at))
  return after.some(({ stolen, fromTime, graceSec }) => stolen || at.time - fromTime >= graceSec)
}

/** Whether a wallet's transactions in a block are the ledger's. */
export const isWatched = ({ watchedFrom, closedBlock }: WatchedWallet, block: number): boolean =>
  watchedFrom <= block && (closedBlock === null || block <= closedBlock)

/** What an address is, as far as it decides whether buyers may pay to it. */
export interface WalletFacts {
  factory: Address
  /** Accounts whose keys are on servers: those that are configured, and those that the contract names. */
  hotKeys: readonly { role: 'minter' | 'distributor'; address: Address | null }[]
  hasCode: boolean
  /** Whether the provider can show what a contract's code sends. */
  isTraceable: boolean
}

/** Why an address cannot be a payments wallet, and what to do; null: no objection. */
export function refuseWallet(
  wallet: Address,
  { factory, hotKeys, hasCode, isTraceable }: WalletFacts,
): { problem: string; remedy: string } | null {
  const another = 'Name a wallet of your own that takes plain transfers, whose key no server holds.'
  if (BigInt(wallet) === 0n) return { problem: `${wallet} is the zero address`, remedy: another }
  if (wallet === factory) return { problem: `${wallet} is the factory itself`, remedy: another }
  const hot = hotKeys.find(({ address }) => address === wallet)
  if (hot)
    return {
      problem: `${wallet} is the ${hot.role}'s own account, whose key is on a server and which pays for gas`,
      remedy: another,
    }
  if (hasCode && !isTraceable)
    return {
      problem: `${wallet} has code, and the provider cannot show what that sends`,
      remedy: 'Name a wallet without code, or add a provider that speaks debug_traceTransaction and debug_traceCall.',
    }
  return null
}

type Accounts = Readonly<Record<'minter' | 'distributor', Address | null>>

/** The accounts whose keys are on servers, of several sources. */
export function hotKeysOf(...sources: readonly Accounts[]): WalletFacts['hotKeys'] {
  const roles = ['minter', 'distributor'] as const
  return sources.flatMap((source) => roles.map((role) => ({ role, address: source[role] })))
}
