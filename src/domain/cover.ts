// How far the contract's balance covers its debt.
import type { Wei } from './units.ts'

export interface Cover {
  /** Balance minus debt; negative if the balance is too low. */
  surplusWei: bigint
  /** floor(balance x 10000 / outstanding); null if nothing is owed. */
  coverBps: number | null
}

/** Computes surplus and cover (GET /api/cover) from two readings taken at one block. */
export function coverOf(contractBalanceWei: Wei, outstandingWei: Wei): Cover {
  return {
    surplusWei: contractBalanceWei - outstandingWei,
    coverBps: outstandingWei === 0n ? null : Number((contractBalanceWei * 10_000n) / outstandingWei),
  }
}
