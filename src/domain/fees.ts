// Limits the gas price: by the fees of followed blocks, within the operator's caps. A provider suggests; it does not decide. Pure.
import type { BlockFees } from './observed.ts'
import { larger } from './units.ts'

/** Blocks that bound the fees. */
export const FEE_BLOCKS = 20

/** The lowest bound of a tip: where blocks show little or nothing, a common tip must still pass. */
const TIP_LEAST_WEI = 10n ** 9n
/** Factor over the highest tip of the last blocks that a tip may reach. */
const TIP_ROOM = 2n
/** Factor by which the base fee may have risen since the followed block, for which the provider is believed. */
const BASE_FEE_ROOM = 4n

/** The fee limits of a transaction, wei per gas. */
export interface FeeLimits {
  /** The maximum in all. */
  capWei: bigint
  /** The maximum tip of a first attempt. */
  tipMaxWei: bigint
  /** The highest base fee that is believed; null where none was followed. */
  baseFeeMaxWei: bigint | null
}

/** The operator's caps, wei per gas. */
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
 * The default caps: at least five times what ordinary traffic pays. Chains that are not named here have the widest limits, since some ask
 * for tips of 30 gwei and more.
 */
export function usualFeeRules(chainId: number): FeeRules {
  if (ROLLUPS.has(chainId)) return { feeCapWei: 50n * GWEI, tipMaxWei: 2n * GWEI }
  if (chainId === 1) return { feeCapWei: 500n * GWEI, tipMaxWei: 10n * GWEI }
  return { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI }
}
