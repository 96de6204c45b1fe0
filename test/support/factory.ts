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
  expulsionPeriodSec: 7 * 86_400,
} as const

type Read = <T>(functionName: string, args?: readonly unknown[]) => Promise<T>

/** Arguments of an act of the owner, with the present key and value that the contract wants named beside the new one. */
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

/** A cohort's part of a round that pays its pending turn and nothing else. */
export function oneTurn(cohort: number, firstDue: number, amountPerNodeWei: Wei): CohortCredit {
  return { cohort, firstDue, skipped: 0, paid: 1, amountPerNodeWei }
}

/** Calldata of a mint of one node with neither guard nor end. */
export function mintData(order: MintOrder): `0x${string}` {
  return encodeCall({ kind: 'mint', orders: [order], guard: null, validUntil: FOREVER }, { guarded: false }).data
}
