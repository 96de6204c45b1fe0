// Separates possible purchases from transfers that buy nothing and cost their sender next to nothing. Looks at the transfer alone. Pure.
import type { Incoming } from './observed.ts'
import type { TierVersion } from './tiers.ts'

/**
 * A transfer is dust if its value is below a thousandth of the lowest price that any tier had had by its block. If a node costs a few dozen dollars,
 * that is a few cents, less than a refund would cost. This way no price is ever dust, not even an old price in its grace period.
 */
export const DUST_PER_PRICE = 1_000n

/** The least value that may be a payment in any block; with no tier, every value may. Below it, a transfer is dust. */
export const dustBound = (lowestPriceWei: bigint | null): bigint =>
  lowestPriceWei === null ? 1n : (lowestPriceWei + DUST_PER_PRICE - 1n) / DUST_PER_PRICE

/** Transfers by how we treat them. */
export interface SortedTransfers<T extends Incoming = Incoming> {
  /** Judged one by one. */
  payments: T[]
  /** Recorded in the books, and never judged. */
  dust: T[]
  /** Moved nothing: transfers of zero value, and failed dust. We only count these. */
  zero: T[]
}

/** Sorts transfers. If there was no tier yet in a transfer's block, only a transfer of zero value is sure to buy nothing. */
export function sortTransfers<T extends Incoming>(
  transfers: readonly T[],
  versions: readonly Pick<TierVersion, 'priceWei' | 'fromBlock'>[],
): SortedTransfers<T> {
  const groups: SortedTransfers<T> = { payments: [], dust: [], zero: [] }
  for (const transfer of transfers) {
    const { valueWei, blockNumber } = transfer
    // Dust is decided by value alone, because a failed transfer may succeed in another block of another fork.
    const isDust =
      versions.some(({ fromBlock }) => fromBlock <= blockNumber) &&
      versions.every(({ priceWei, fromBlock }) => fromBlock > blockNumber || valueWei * DUST_PER_PRICE < priceWei)
    const movedNothing = valueWei === 0n || (isDust && !transfer.succeeded)
    groups[movedNothing ? 'zero' : isDust ? 'dust' : 'payments'].push(transfer)
  }
  return groups
}
