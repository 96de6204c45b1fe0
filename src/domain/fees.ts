// Decides what a new transaction offers per gas: the provider's suggestion, limited by the operator's caps and by the fees of followed blocks.
// passes/steps/fees.ts collects these inputs; domain/send.ts (decideSend) raises the offer of a stuck transaction. Pure.
import type { BlockFees } from './observed.ts'
import { larger, smaller } from './units.ts'

/** The number of blocks from which we derive fee limits. */
export const FEE_BLOCKS = 20

/** The tip limit is never below this, so a common tip passes even if blocks show few tips or none. */
const TIP_LEAST_WEI = 10n ** 9n
/** A tip may reach this many times the highest tip of the last blocks. */
const TIP_ROOM = 2n
/** The highest base fee that we believe, as a multiple of the followed block's base fee. */
const BASE_FEE_ROOM = 4n

/** The fee limits of a transaction, wei per gas. */
export interface FeeLimits {
  /** The limit of the whole fee. */
  capWei: bigint
  /** The limit of a first attempt's tip. */
  tipMaxWei: bigint
  /** The highest base fee that we believe; null if no followed block has a base fee. */
  baseFeeMaxWei: bigint | null
}

/** The operator's caps, wei per gas. */
export interface FeeRules {
  readonly feeCapWei: bigint
  readonly tipMaxWei: bigint
}

/** The limits, from the last followed blocks. */
export function feeLimits(blocks: readonly BlockFees[], { feeCapWei, tipMaxWei }: FeeRules): FeeLimits {
  const greatestTip = greatest(blocks.map(({ tipWei }) => tipWei))
  const bound = larger((greatestTip ?? 0n) * TIP_ROOM, TIP_LEAST_WEI)
  const baseFee = greatest(blocks.map(({ baseFeeWei }) => baseFeeWei))
  return {
    capWei: feeCapWei,
    tipMaxWei: smaller(bound, tipMaxWei),
    baseFeeMaxWei: baseFee === null ? null : larger(baseFee * BASE_FEE_ROOM, TIP_LEAST_WEI),
  }
}

/** A provider's suggestion for fees, wei per gas. */
export interface SuggestedFees {
  /** The base fee of the provider's latest block. */
  baseFeeWei: bigint
  tipWei: bigint
}

/** The fees that a transaction offers, wei per gas. */
export interface Fees {
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
}

/**
 * The offer for the next blocks: twice the base fee is enough even after five full blocks in a row. Without limits the offer rests on the provider's
 * word alone.
 */
export function offerFees(suggestion: SuggestedFees, limits?: FeeLimits): Fees {
  const baseFeeWei = atMost(suggestion.baseFeeWei, limits?.baseFeeMaxWei)
  const maxPriorityFeeWei = atMost(suggestion.tipWei, limits?.tipMaxWei)
  const roomyWei = baseFeeWei * 2n + maxPriorityFeeWei
  const capWei = limits?.capWei ?? roomyWei
  const isEnough = nextBaseFeeMax(baseFeeWei) + maxPriorityFeeWei <= capWei
  return { maxFeeWei: isEnough ? smaller(capWei, roomyWei) : roomyWei, maxPriorityFeeWei }
}

/** The offer from the followed blocks alone, without a provider's word; null if they show no base fee. */
export function feesSeen(blocks: readonly BlockFees[], rules: FeeRules): Fees | null {
  const baseFeeWei = blocks.at(-1)?.baseFeeWei ?? null
  if (baseFeeWei === null) return null
  const tipWei = greatest(blocks.map((block) => block.tipWei)) ?? TIP_LEAST_WEI
  return offerFees({ baseFeeWei, tipWei }, feeLimits(blocks, rules))
}

function atMost(value: bigint, limit: bigint | null | undefined): bigint {
  return limit == null ? value : smaller(value, limit)
}

/** A full block raises the next one's base fee by an eighth (EIP-1559), and by at least 1. */
function nextBaseFeeMax(baseFeeWei: bigint): bigint {
  return baseFeeWei + baseFeeWei / 8n + 1n
}

/** The median; if there are two middle values, the lower. Null if there are no values. */
export function median(values: readonly bigint[]): bigint | null {
  const ascending = values.toSorted((a, b) => Number(a - b))
  return ascending[Math.floor((ascending.length - 1) / 2)] ?? null
}

function greatest(values: readonly (bigint | null)[]): bigint | null {
  const amounts = values.filter((value) => value !== null)
  return amounts.length === 0 ? null : amounts.reduce(larger)
}

/** Chains whose fees are a small fraction of Ethereum's, so a far lower cap is still generous. */
const ROLLUPS = new Set([10, 130, 480, 8453, 42161, 42170, 57073, 59144, 81457, 534352, 7777777])
const GWEI = 10n ** 9n

/**
 * The default caps: at least five times what ordinary transactions pay. Chains that are not listed here have the widest limits, because some require
 * tips of 30 gwei and more.
 */
export function usualFeeRules(chainId: number): FeeRules {
  if (ROLLUPS.has(chainId)) return { feeCapWei: 50n * GWEI, tipMaxWei: 2n * GWEI }
  if (chainId === 1) return { feeCapWei: 500n * GWEI, tipMaxWei: 10n * GWEI }
  return { feeCapWei: 500n * GWEI, tipMaxWei: 100n * GWEI }
}
