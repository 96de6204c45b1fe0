// The wallets that buyers pay to: which one is in force at a block, which ones we read, and when a payment to a replaced wallet no longer buys. All
// instances use the ledger's rows. refuseWallet decides which addresses cannot be a payments wallet. It is called at the first start (boot/preflight.ts,
// which also refuses an address that was used before) and by the operator's act (operator/acts/payment-wallets.ts). Pure.
import { DEVELOPMENT_CHAINS, isDevelopmentAccount } from './development.ts'
import type { Address } from './units.ts'

/** The blocks in which transactions of a wallet belong to the ledger. */
export interface WatchedWallet {
  wallet: Address
  watchedFrom: number
  /** The last of these blocks; null while the wallet's books are open. */
  closedBlock: number | null
}

/** A wallet of the ledger. Wallets are in order of entry. */
export interface PaymentWallet extends WatchedWallet {
  /** The wallet is in force in blocks at or above this height that are not older than this time. */
  fromBlock: number
  fromTime: number
  /** True if the earlier wallets were stolen. */
  stolen: boolean
  /** Seconds of block time for which a payment to the previous wallet still buys; ignored if that wallet was stolen. */
  graceSec: number
}

/** A block by its height and its time, unix seconds. */
export interface BlockPlace {
  number: number
  time: number
}

/** A planned change takes effect at least this far after the followed block: blocks, and seconds of block time. */
export const CHANGE_AHEAD_BLOCKS = 64
export const CHANGE_AHEAD_SEC = 300

const holds = ({ fromBlock, fromTime }: PaymentWallet, at: BlockPlace) => fromBlock <= at.number && fromTime <= at.time

/** The wallet that buyers see at a block: the latest one in force. Null if there is none. */
export function walletAt(wallets: readonly PaymentWallet[], at: BlockPlace): PaymentWallet | null {
  return wallets.findLast((wallet) => holds(wallet, at)) ?? null
}

/**
 * True if a wallet was replaced so long before a block that a payment to it buys nothing. After a planned change there is a grace period; after a
 * theft there is none. An unknown wallet counts as replaced.
 */
export function isOldWallet(wallets: readonly PaymentWallet[], wallet: Address, at: BlockPlace): boolean {
  const index = wallets.findIndex((one) => one.wallet === wallet)
  if (index < 0) return true
  const after = wallets.slice(index + 1).filter((next) => holds(next, at))
  return after.some(({ stolen, fromTime, graceSec }) => stolen || at.time - fromTime >= graceSec)
}

/** True if a wallet's transactions in a block belong to the ledger. */
export const isWatched = ({ watchedFrom, closedBlock }: WatchedWallet, block: number): boolean =>
  watchedFrom <= block && (closedBlock === null || block <= closedBlock)

/** The facts that decide whether buyers may pay to an address. */
export interface WalletFacts {
  factory: Address
  chainId: number
  /** Accounts whose keys are on servers: those configured, and those that have a role on the contract. */
  hotKeys: readonly { role: 'minter' | 'distributor'; address: Address | null }[]
  hasCode: boolean
  /** True if traces show what a contract's code sends. */
  isTraceable: boolean
}

/** Why an address cannot be a payments wallet, with a remedy; null if there is no objection. */
export function refuseWallet(
  wallet: Address,
  { factory, chainId, hotKeys, hasCode, isTraceable }: WalletFacts,
): { problem: string; remedy: string } | null {
  const another = 'Choose a wallet of your own that accepts plain transfers and whose key no server holds.'
  if (BigInt(wallet) === 0n) return { problem: `${wallet} is the zero address`, remedy: another }
  if (wallet === factory) return { problem: `${wallet} is the factory itself`, remedy: another }
  const hot = hotKeys.find(({ address }) => address === wallet)
  if (hot)
    return {
      problem: `${wallet} is the ${hot.role}'s own account, whose key is on a server and which pays for gas`,
      remedy: another,
    }
  if (isDevelopmentAccount(wallet) && !DEVELOPMENT_CHAINS.includes(chainId))
    return { problem: `${wallet} is a development account, whose key is public`, remedy: another }
  if (hasCode && !isTraceable)
    return {
      problem: `${wallet} has code, and the provider cannot trace what that code sends`,
      remedy:
        'Choose a wallet without code, or use providers that support debug_traceBlockByHash: two, if you have several.',
    }
  return null
}

type Accounts = Readonly<Record<'minter' | 'distributor', Address | null>>

/** The accounts whose keys are on servers, from several sources. */
export function hotKeysOf(...sources: readonly Accounts[]): WalletFacts['hotKeys'] {
  const roles = ['minter', 'distributor'] as const
  return sources.flatMap((source) => roles.map((role) => ({ role, address: source[role] })))
}
