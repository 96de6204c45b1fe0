// How much may be offered for gas: by what followed blocks show, within what the operator allows. A provider suggests; it does not
// decide. Pure.
import type { BlockFees } from './observed.ts'
import { larger } from './units.ts'

/** Blocks by which fees are bounded. */
export const FEE_BLOCKS = 20

/** A tip is never bound below this: where blocks show little or nothing, a common one must still do. */
const TIP_LEAST_WEI = 10n ** 9n
/** How far above the dearest of the last blocks a tip may go. */
const TIP_ROOM = 2n
/** How far the base fee may have risen since the followed block, for which the provider's word is taken. */
const BASE_FEE_ROOM = 4n

/** What a transaction may offer, wei per gas. */
export interface FeeLimits {
  /** Most in all. */
  capWei: bigint
  /** Most as a tip, where it is sent for the first time. */
  tipMaxWei: bigint
  /** The highest base fee that is believed; null where none was followed. */
  baseFeeMaxWei: bigint | null
}

/** What the operator allows, wei per gas. */
export interface FeeRules {
  readonly feeCapWei: bigint
  readonly tipMaxWei: bigint
}

/** The limits that follow from the last followed blocks. */
export function feeLimits(seen: readonly BlockFees[], { feeCapWei, tipMaxWei }: FeeRules): FeeLimits {
  const paid = greatest(seen.map(({ tipWei }) => tipWei))
  const bound = larger((paid ?? 0n) * TIP_ROOM, TIP_LEAST_WEI)
  const baseFee = greatest(seen.map(({ baseFeeWei }) => baseFeeWei))
  return {
    capWei: feeCapWei,
    tipMaxWei: bound < tipMaxWei ? bound : tipMaxWei,
    baseFeeMaxWei: baseFee === null ? null : larger(baseFee * BASE_FEE_ROOM, TIP_LEAST_WEI),
  }
}

/** The lower one of the two in the middle; null where there is none. */
export function median(values: readonly bigint[]): bigint | null {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

function greatest(values: readonly (bigint | null)[]): bigint | null {
  return values.reduce<bigint | null>(
    (most, value) => (value === null ? most : most === null ? value : larger(most, value)),
    null,
  )
}

/** Chains whose fees are a small part of Ethereum's, so that a far lower cap is still generous. */
const ROLLUPS = new Set([10, 130, 480, 8453, 42161, 42170, 57073, 59144, 81457, 534352, 7777777])
const GWEI = 10n ** 9n

/**
 * What is allowed unless the operator says otherwise: five times and more what ordinary traffic pays. Chains that are not named here have the
 * widest limits, since some ask for tips of 30 gwei and more.
 */
export function usualFeeRules(chainId: number): FeeRules {
  if (ROLLUPS.has(chainId)) return { feeCapWei: 50n * GWEI, tipMaxWei: 2n * GWEI }
  if (chainId === 1) return { feeCapWei: 500n * GWEI, tipMaxWei: 10n * GWEI }
  return { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI }
}
