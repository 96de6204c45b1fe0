// Explains differences in a payments wallet's balance with traces of their blocks. Each inner transfer becomes a payment or an outflow of its own. We
// believe a trace only if its transfers add up to the difference, to the wei.
import { innerRef } from '../chain/digest.ts'
import type { Sql } from '../db/core/sql.ts'
import { agreesWithAttributions } from '../db/payments/attributions.ts'
import {
  insertInnerOutflows,
  insertInnerTransfers,
  readKnownIn,
  readKnownOut,
  readOrphanedInner,
} from '../db/payments/inner.ts'
import { insertDust } from '../db/payments/junk.ts'
import { readPaymentRefs } from '../db/payments/rows.ts'
import { noteFailedTrace, noteTrace, type ShownTransfer } from '../db/payments/traces.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { canAgree } from '../domain/finality.ts'
import { DUST_PER_PRICE, sortTransfers } from '../domain/junk.ts'
import type { DatedBlock, InnerTransferIn, InnerTransferOut, Position } from '../domain/observed.ts'
import { lowestPriceAt, type TierVersion } from '../domain/tiers.ts'
import type { Address, Hash } from '../domain/units.ts'
import { adopt } from '../follower/store.ts'
import type { BlockTransfer } from '../ports/chain.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../ports/contexts.ts'
import type { Difference } from './locate.ts'

/** After this many failed traces in a row, a run starts no more, because the providers cannot trace or do not answer. */
export const FAILURES_MAX = 3

/** A difference, the ref that it would have as a residue, and the operator's decision on that residue. */
export interface NamedDifference extends Difference {
  ref: Hash
  /** `decided`: the operator has decided on the residue. `attributed`: the operator has attributed parts of it. Null: neither. */
  residueState: 'decided' | 'attributed' | null
}

/** A difference, and the inner transfers that may explain it. */
export interface Explained {
  difference: NamedDifference
  /** The block's inner transfers according to a trace; null if we did not trace the block or could not. */
  transfers: BlockTransfer[] | null
  /** The inner transfers from an earlier trace, made before a reorganisation; null if there is none. */
  formerTransfers: BlockTransfer[] | null
  /**
   * True if the difference is too small for a sale and the operator has not decided on it. A pass merges all small differences of a wallet into one
   * residue.
   */
  isSmall: boolean
}

/**
 * Traces the blocks of differences that are large enough for a sale, within the run's time. Differences that it has no time to trace are
 * missing from the result; the next run finds them again.
 */
export async function traceDifferences(
  ctx: LedgerDb & ChainRead & Logging,
  differences: readonly NamedDifference[],
  { address, run }: { address: Address; run: RunLimits },
): Promise<Explained[]> {
  const versions = await readTierVersions(ctx.pool)
  const explanations: Explained[] = []
  let failures = 0
  for (const difference of differences) {
    const { block, fromBlock, residueState } = difference
    const holdsNoSale = cannotBuy(versions, difference)
    const isWanted = !holdsNoSale && residueState !== 'decided' && fromBlock === block.number
    const mayTrace = isWanted && failures < FAILURES_MAX
    if (mayTrace && run.outOfTime()) continue
    const transfers = mayTrace ? await traceFor(ctx, block, address) : null
    if (mayTrace) failures = transfers === null ? failures + 1 : 0
    const formerTransfers = isWanted ? await recallTransfers(ctx, difference, address) : null
    explanations.push({ difference, transfers, formerTransfers, isSmall: holdsNoSale && residueState === null })
  }
  return explanations
}

/** True if the difference is below every price that buys a node in its block. A superseded price still counts in its grace period. */
export function cannotBuy(
  versions: readonly TierVersion[],
  { residueWei, block }: { residueWei: bigint; block: DatedBlock },
): boolean {
  // If all versions are newer than this block, the ledger does not know what was on sale then.
  if (versions.every(({ fromBlock }) => fromBlock > block.number)) return false
  const lowestWei = lowestPriceAt(versions, { blockNumber: block.number, blockTime: block.time })
  return lowestWei === null || (residueWei < 0n ? -residueWei : residueWei) < lowestWei
}

/**
 * True if the difference may come from a payment that a provider left out of the block or reported as dust. If it reported dust, slightly less than a
 * price is missing.
 */
export function mayHideSale(
  versions: readonly TierVersion[],
  { residueWei, block }: { residueWei: bigint; block: DatedBlock },
): boolean {
  const missingWei = residueWei < 0n ? -residueWei : residueWei
  return !cannotBuy(versions, { residueWei: (missingWei * DUST_PER_PRICE) / (DUST_PER_PRICE - 1n) + 1n, block })
}

/** Traces a block for one wallet; null if it cannot be traced. */
export async function traceFor(
  ctx: LedgerDb & ChainRead,
  block: DatedBlock,
  address: Address,
): Promise<BlockTransfer[] | null> {
  await noteTrace(ctx.pool)
  const transfers = await ctx.chain.blockTransfers(block, [address])
  if (transfers === null) await noteFailedTrace(ctx.pool)
  return transfers
}

/**
 * Transfers that a trace showed in a block that was later reorganised out. Null unless their transactions are now all in the difference's block, and
 * add up to the difference. We need them because a provider may no longer trace. Without them, a payment already sold or refunded would come back as
 * a residue, to be decided again.
 */
async function recallTransfers(
  ctx: LedgerDb & ChainRead,
  { block, residueWei }: Difference,
  wallet: Address,
): Promise<BlockTransfer[] | null> {
  const orphans = await readOrphanedInner(ctx.pool, wallet, block.time)
  if (orphans.length === 0 || sum(orphans) !== residueWei) return null
  const transfers: BlockTransfer[] = []
  for (const { txHash, innerIndex: index, from: other, valueWei } of orphans) {
    const tx = await ctx.chain.transaction(txHash)
    if (tx?.blockHash !== block.hash) return null
    transfers.push({ txHash, txIndex: tx.txIndex, direction: 'in', wallet, index, other, valueWei })
  }
  return transfers.sort((a, b) => a.txIndex - b.txIndex || a.index - b.index)
}

/** The result of comparing a trace with the difference that it should explain. */
export interface WeighedTrace {
  /** The transfers that are not yet in the books. */
  ins: InnerTransferIn[]
  outs: InnerTransferOut[]
  /** True if `ins` minus `outs` is the difference, to the wei, and the trace does not contradict the operator's attributions of that residue. */
  isProven: boolean
  /** True if the trace contradicts the operator's attributions. */
  contradicts: boolean
  /** `ins` and `outs` in the form that a residue records. */
  shownTransfers: ShownTransfer[]
}

/** Compares a block's trace with the difference that it should explain. Call it under the cursor's lock. */
export async function weighTrace(
  sql: Sql,
  { ref, residueWei, block }: { ref: Hash; residueWei: bigint; block: DatedBlock },
  transfers: readonly BlockTransfer[],
): Promise<WeighedTrace> {
  const incoming = transfers.filter(({ direction }) => direction === 'in').map((transfer) => arrivalOf(block, transfer))
  const outgoing = transfers
    .filter(({ direction }) => direction === 'out')
    .map((transfer) => outflowOf(block, transfer))
  const hashes = transfers.map(({ txHash }) => txHash)
  const [isKnownIn, isKnownOut] = [await readKnownIn(sql, hashes), await readKnownOut(sql, hashes)]
  const ins = incoming.filter((transfer) => !isKnownIn(transfer))
  const outs = outgoing.filter((transfer) => !isKnownOut(transfer))
  const contradicts = !(await agreesWithAttributions(sql, ref, incoming))
  const shownTransfers = [
    ...ins.map(({ from: other, ...transfer }) => shownOf('in', { ...transfer, other })),
    ...outs.map(({ to: other, ...transfer }) => shownOf('out', { ...transfer, other })),
  ]
  return { ins, outs, isProven: !contradicts && sum(ins) - sum(outs) === residueWei, contradicts, shownTransfers }
}

function shownOf(
  direction: 'in' | 'out',
  { txHash, innerIndex, other, valueWei }: Omit<ShownTransfer, 'direction' | 'valueWei'> & { valueWei: bigint },
): ShownTransfer {
  return { txHash, direction, innerIndex, other, valueWei: valueWei.toString() }
}

/** Stores the transfers of a proven trace. Call it under the cursor's lock. @returns how many payments were stored. */
export async function storeTraced(
  ctx: ChainRead & Logging,
  sql: Sql,
  { ins, outs }: Pick<WeighedTrace, 'ins' | 'outs'>,
): Promise<number> {
  const { payments, dust } = await sortInner(sql, ins)
  const came = await insertInnerTransfers(sql, payments, { areAgreed: canAgree(ctx.chain) })
  // All of them must be new, or the balance would not match.
  if (came !== payments.length) throw new Error(`only ${came} of ${payments.length} inner transfers were new`)
  await insertDust(sql, dust)
  await insertInnerOutflows(sql, outs)
  await adopt(
    ctx,
    sql,
    payments.map(({ ref }) => ref),
  )
  return came
}

/**
 * Separates payments from dust, as we do for plain transfers. If a transfer was recorded as a payment before a reorganisation, it stays a payment.
 */
async function sortInner(sql: Sql, transfers: readonly InnerTransferIn[]) {
  const byKind = sortTransfers(transfers, await readTierVersions(sql))
  const dustRefs = byKind.dust.map(({ ref }) => ref)
  const paymentRefs = new Set(await readPaymentRefs(sql, dustRefs))
  const former = byKind.dust.filter(({ ref }) => paymentRefs.has(ref))
  return { payments: [...byKind.payments, ...former], dust: byKind.dust.filter(({ ref }) => !paymentRefs.has(ref)) }
}

const sum = (transfers: readonly { valueWei: bigint }[]) =>
  transfers.reduce((total, { valueWei }) => total + valueWei, 0n)

const positionIn = (block: DatedBlock, { txHash, txIndex }: BlockTransfer): Position => ({
  blockNumber: block.number,
  blockHash: block.hash,
  blockTime: block.time,
  txHash,
  txIndex,
})

function arrivalOf(block: DatedBlock, transfer: BlockTransfer): InnerTransferIn {
  const { txHash, wallet, index, other: from, valueWei } = transfer
  const value = { from, valueWei, succeeded: true }
  return { ...positionIn(block, transfer), wallet, innerIndex: index, ...value, ref: innerRef(txHash, wallet, index) }
}

function outflowOf(block: DatedBlock, transfer: BlockTransfer): InnerTransferOut {
  const { txHash, wallet, index, other: to, valueWei } = transfer
  return {
    ...positionIn(block, transfer),
    wallet,
    innerIndex: index,
    to,
    valueWei,
    ref: innerRef(txHash, wallet, index),
  }
}
