// Setup of the factory for tests that its budgets, its bounds and the end of a call's time are no concern of.
import type { CohortCredit, MintOrder } from '../../src/chain/port.ts'
import { encodeCall } from '../../src/chain/send/signer-account.ts'
import type { Wei } from '../../src/domain/units.ts'

/** A deployment whose minter and distributor are never short of anything. */
export const ROOMY_SETUP = {
  nodes: 2 ** 32 - 1,
  cohorts: 2 ** 16 - 1,
  floorGwei: 0n,
  ceilingGwei: 2n ** 48n - 1n,
  leastIntervalSec: 1,
} as const

/** A block time that no test reaches. */
export const FOREVER = 2 ** 40 - 1

/** A cohort's part of a round that pays its pending turn and nothing else. */
export function oneTurn(cohort: number, firstDue: number, amountPerNodeWei: Wei): CohortCredit {
  return { cohort, firstDue, skipped: 0, paid: 1, amountPerNodeWei }
}

/** Calldata of a mint of one node with neither guard nor end. */
export function mintData(order: MintOrder): `0x${string}` {
  return encodeCall({ kind: 'mint', orders: [order], guard: null, validUntil: FOREVER }, { guarded: false }).data
}
