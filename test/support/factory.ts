// Setup of the factory for tests that are not about its budgets, its bounds or the expiry of calls.

import { encodeCall } from '../../src/chain/send/signer-account.ts'
import type { Wei } from '../../src/domain/units.ts'
import type { CohortCredit, MintOrder } from '../../src/ports/sending.ts'

/** A deployment whose minter and distributor never run out of budget. */
export const ROOMY_SETUP = {
  nodes: 2 ** 32 - 1,
  cohorts: 2 ** 16 - 1,
  floorGwei: 0n,
  ceilingGwei: 2n ** 48n - 1n,
  leastIntervalSec: 1,
  expulsionPeriodSec: 7 * 86_400,
} as const

type Read = <T>(functionName: string, args?: readonly unknown[]) => Promise<T>

/** Arguments of an owner's act, with the current key or value, which the contract requires beside the new one. */
export async function namingPresent(read: Read, name: string, args: readonly unknown[]): Promise<readonly unknown[]> {
  const [first, ...rest] = args
  if (name === 'setMinter' && args.length === 3) return [first, await read('minter'), ...rest]
  if (name === 'setDistributor' && args.length === 3) return [first, await read('distributor'), ...rest]
  if (name === 'setSwapsAllowance' && args.length === 1)
    return [await read('distributor'), first, await read('swapsAllowance')]
  return args
}

/** A block time that no test reaches. */
export const FOREVER = 2 ** 40 - 1

/** A cohort's part of a round that pays only its pending turn. */
export function oneTurn(cohort: number, firstDue: number, amountPerNodeWei: Wei): CohortCredit {
  return { cohort, firstDue, skipped: 0, paid: 1, amountPerNodeWei }
}

/** Calldata of a mint of one node with neither guard nor expiry. */
export function mintData(order: MintOrder): `0x${string}` {
  return encodeCall({ kind: 'mint', orders: [order], guard: null, validUntil: FOREVER }, { withGuard: false }).data
}
