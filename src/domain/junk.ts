// Separates possible sales from transfers that are none and cost their sender next to nothing, by the transfer alone. Pure.
import type { Incoming } from './observed.ts'
import type { TierVersion } from './tiers.ts'

/**
 * A transfer is dust if its value is below a thousandth of the lowest price that any tier had had by its block. If a node costs a few dozen dollars,
 * that is a few cents, less than a refund would cost. So no price is ever dust, not even an old one in its grace.
 */
export const DUST_PER_PRICE = 1_000n

/** Transfers by how we treat them. */
export interface SortedTransfers<T extends Incoming = Incoming> {
  /** Judged one by one. */
  payments: T[]
  /** Recorded in the books, and never judged. */
  dust: T[]
  /** Moved nothing, either of zero value or failed dust. We only count these. */
  zero: T[]
}

/** Sorts transfers. If no tier existed by its block, only a transfer of zero value is known to be no sale. */
export function sortTransfers<T extends Incoming>(
  transfers: readonly T[],
  versions: readonly Pick<TierVersion, 'priceWei' | 'fromBlock'>[],
): SortedTransfers<T> {
  const sorted: SortedTransfers<T> = { payments: [], dust: [], zero: [] }
  for (const transfer of transfers) {
    const { valueWei, succeeded, blockNumber } = transfer
    // By its value alone, because in another block of another fork a failed transfer may succeed.
    const isDust =
      versions.some(({ fromBlock }) => fromBlock <= blockNumber) &&
      versions.every(({ priceWei, fromBlock }) => fromBlock > blockNumber || valueWei * DUST_PER_PRICE < priceWei)
    const movedNothing = valueWei === 0n || (isDust && !succeeded)
    sorted[movedNothing ? 'zero' : isDust ? 'dust' : 'payments'].push(transfer)
  }
  return sorted
}
