// Reads the fees of a block and of a transaction.
import { median } from '../../domain/fees.ts'
import type { BlockFees } from '../../domain/observed.ts'
import { type Wei, wei } from '../../domain/units.ts'
import { fields, type WireHeader, type WireReceipt, type WireTransaction } from '../rpc/wire.ts'

/**
 * The fees of a block. In a mined transaction, `gasPrice` is the price that was paid, whatever the sender offered. We skip a malformed price, because
 * a single price decides nothing.
 */
export function feesOf(
  { number, baseFeeWei }: WireHeader,
  entries: readonly unknown[],
  isOurs: (address: unknown) => boolean,
): BlockFees {
  const tips: bigint[] = []
  for (const entry of baseFeeWei === null ? [] : entries) {
    const { from, gasPrice } = fields<'from' | 'gasPrice'>(entry, 'transaction')
    if (isOurs(from) || typeof gasPrice !== 'string' || !PRICE.test(gasPrice)) continue
    // Some rollups add their own transactions, which pay nothing.
    const price = BigInt(gasPrice)
    if (baseFeeWei !== null && price >= baseFeeWei) tips.push(price - baseFeeWei)
  }
  return { number, baseFeeWei, tipWei: median(tips) }
}

/** A gas price: hex of at most 128 bits. */
const PRICE = /^0x[0-9a-f]{1,32}$/i

/**
 * What a transaction may have paid by its own caps and its block's base fee. No hash covers the price in a receipt, so the price may be false. Some
 * chains charge the base fee alone, and rollups add charges.
 */
export function otherFees(
  { caps }: Pick<WireTransaction, 'caps'>,
  { gasUsed, besideWei, feeWei }: Pick<WireReceipt, 'gasUsed' | 'besideWei' | 'feeWei'>,
  { baseFeeWei }: Pick<WireHeader, 'baseFeeWei'>,
): Wei[] {
  if (caps === null || baseFeeWei === null) return []
  const effectivePrice = baseFeeWei + caps.tipWei < caps.mostWei ? baseFeeWei + caps.tipWei : caps.mostWei
  const fees = [effectivePrice, baseFeeWei].flatMap((price) => [gasUsed * price + besideWei, gasUsed * price])
  return [...new Set(fees)].filter((fee) => fee !== feeWei).map(wei)
}
