// Tells apart, by the transfer alone, what may be a sale from what is none and costs its sender next to nothing to send. Pure.
import type { Transfer } from './observed.ts'
import type { TierVersion } from './tiers.ts'

/**
 * A transfer is dust if it is of less than a thousandth of the lowest price that any tier had had by its block: some cents where a node costs
 * some dozen dollars, less than it would cost to pay back. So no price is ever dust, an old one in its grace included.
 */
const DUST_PER_PRICE = 1_000n

/** Transfers by what becomes of them. */
export interface SortedTransfers {
  /** Judged one by one. */
  payments: Transfer[]
  /** In the books, and never judged. */
  dust: Transfer[]
  /** They moved nothing, of no value or dust that failed: counted. */
  zero: Transfer[]
}

/** Sorts transfers. Without a tier by its block, nothing but what is of no value at all is known to be no sale. */
export function sortTransfers(
  transfers: readonly Transfer[],
  versions: readonly Pick<TierVersion, 'priceWei' | 'fromBlock'>[],
): SortedTransfers {
  const sorted: SortedTransfers = { payments: [], dust: [], zero: [] }
  for (const transfer of transfers) {
    const { valueWei, succeeded, blockNumber } = transfer
    // By its value alone: in another block of another chain a transfer that failed may succeed.
    const isDust =
      versions.some(({ fromBlock }) => fromBlock <= blockNumber) &&
      versions.every(({ priceWei, fromBlock }) => fromBlock > blockNumber || valueWei * DUST_PER_PRICE < priceWei)
    const movedNothing = valueWei === 0n || (isDust && !succeeded)
    sorted[movedNothing ? 'zero' : isDust ? 'dust' : 'payments'].push(transfer)
  }
  return sorted
}
