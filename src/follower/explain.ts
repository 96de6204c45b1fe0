// Explains differences of a payments wallet's balance with traces of their blocks: each inner transfer becomes a payment or an outflow of its own. We
// believe a trace only if its transfers add up to the difference to the wei.
import { innerRef } from '../chain/digest.ts'
import type { BlockTransfer } from '../chain/port.ts'
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
import { noteFailedTrace, type ShownTransfer, takeTrace } from '../db/payments/traces.ts'
import { readTierVersions } from '../db/sale/tiers.ts'
import { VOICES } from '../domain/finality.ts'
import { DUST_PER_PRICE, sortTransfers } from '../domain/junk.ts'
import type { Block, InnerTransferIn, InnerTransferOut, Position } from '../domain/observed.ts'
import { lowestPriceAt, type TierVersion } from '../domain/tiers.ts'
import type { Address, Hash } from '../domain/units.ts'
import type { ChainRead, LedgerDb, Logging, RunLimits } from '../passes/context.ts'
import type { Difference } from './locate.ts'
import { adopt } from './store.ts'

/**
 * The most blocks that all instances trace in a day: more than a chain with a block every two seconds has, so that we can tell one payment in each
 * apart. Each costs its sender the lowest price on sale, so only a sender who pays that in every block of a faster chain uses it up.
 */
const TRACES_PER_DAY = 50_000
/** After this many traces in a row without a result, a run asks for no more, because its provider has none, or does not answer. */
export const FAILURES_MAX = 3

/** A block by its number, hash and time. */
type Place = Pick<Block, 'number' | 'hash' | 'time'>

/** A difference with its name as a residue, and the operator's decision on that residue. */
export interface NamedDifference extends Difference {
  ref: Hash
  /** `decided`: it stays as decided. `attributed`: so do its parts. Null if there is no decision. */
  known: 'decided' | 'attributed' | null
}

/** A difference, and what may explain it. */
export interface Explained {
  difference: NamedDifference
  /** Its block's inner transfers from a trace; null if it was not, or could not be, traced. */
  transfers: BlockTransfer[] | null
  /** From an earlier trace, before its block was reorganised out; null if there is none. */
  recalled: BlockTransfer[] | null
  /** True if it cannot hold a sale, and is undecided. One pass makes one residue of all of these. */
  isSmall: boolean
}

/**
 * Traces the blocks of differences that could hold a sale, within the run's time and the day's budget. It leaves out the rest; the next run finds
 * them again.
 */
export async function traceDifferences(
  ctx: LedgerDb & ChainRead & Logging,
  differences: readonly NamedDifference[],
  { address, run }: { address: Address; run: RunLimits },
): Promise<Explained[]> {
  const versions = await readTierVersions(ctx.pool)
  const explained: Explained[] = []
  let failures = 0
  for (const difference of differences) {
    const { block, fromBlock, known } = difference
    const holdsNoSale = cannotBuy(versions, difference)
    const isWanted = !holdsNoSale && known !== 'decided' && fromBlock === block.number
    const mayTrace = isWanted && failures < FAILURES_MAX
    if (mayTrace && run.outOfTime()) continue
    const transfers = mayTrace ? await traceWithinBudget(ctx, block, address) : null
    if (mayTrace) failures = transfers === null ? failures + 1 : 0
    const recalled = isWanted ? await recallTransfers(ctx, difference, address) : null
    explained.push({ difference, transfers, recalled, isSmall: holdsNoSale && known === null })
  }
  return explained
}

/** True if a difference is less than any price at which a node can be bought in its block, including any grace. */
export function cannotBuy(
  versions: readonly TierVersion[],
  { residueWei, block }: { residueWei: bigint; block: Place },
): boolean {
  // A ledger that started again does not know what was on sale then.
  if (versions.every(({ fromBlock }) => fromBlock > block.number)) return false
  const lowestWei = lowestPriceAt(versions, { blockNumber: block.number, blockTime: block.time })
  return lowestWei === null || (residueWei < 0n ? -residueWei : residueWei) < lowestWei
}

/** True if a payment may have been left out of a block, or reported as dust. In the latter case less than its price is missing. */
export function mayHideSale(
  versions: readonly TierVersion[],
  { residueWei, block }: { residueWei: bigint; block: Place },
): boolean {
  const missingWei = residueWei < 0n ? -residueWei : residueWei
  return !cannotBuy(versions, { residueWei: (missingWei * DUST_PER_PRICE) / (DUST_PER_PRICE - 1n) + 1n, block })
}

/** Traces a block for one wallet; null if that is not possible, or the day's budget is used up. */
export async function traceWithinBudget(
  ctx: LedgerDb & ChainRead & Logging,
  block: Place,
  address: Address,
): Promise<BlockTransfer[] | null> {
  if (!(await takeTrace(ctx.pool, TRACES_PER_DAY))) {
    ctx.log.error({ perDay: TRACES_PER_DAY }, 'the budget of traces is used up: value by internal calls is held whole')
    return null
  }
  const transfers = await ctx.chain.blockTransfers(block, [address])
  if (transfers === null) await noteFailedTrace(ctx.pool)
  return transfers
}

/**
 * The transfers that a trace had shown before a reorganisation took them out, if their transactions are in exactly the difference's block and add up
 * to it. By now a provider may not trace any more, and what was sold or refunded must not be in the books as a residue, to be decided again.
 */
async function recallTransfers(
  ctx: LedgerDb & ChainRead,
  { block, residueWei }: Difference,
  wallet: Address,
): Promise<BlockTransfer[] | null> {
  const known = await readOrphanedInner(ctx.pool, wallet, block.time)
  if (known.length === 0 || sum(known) !== residueWei) return null
  const found: BlockTransfer[] = []
  for (const { txHash, innerIndex: index, from: other, valueWei } of known) {
    const tx = await ctx.chain.transaction(txHash)
    if (tx?.blockHash !== block.hash) return null
    found.push({ txHash, txIndex: tx.txIndex, direction: 'in', wallet, index, other, valueWei })
  }
  return found.sort((a, b) => a.txIndex - b.txIndex || a.index - b.index)
}

/** A trace, compared with the difference that it should explain. */
export interface WeighedTrace {
  /** The transfers that are not in the books yet. */
  ins: InnerTransferIn[]
  outs: InnerTransferOut[]
  /** True if they add up to the difference to the wei, and the trace agrees with the operator's attributions of that residue. */
  isProven: boolean
  /** True if it contradicts those attributions. */
  contradicts: boolean
  /** Those transfers, in the form that a residue records. */
  shown: ShownTransfer[]
}

/** Compares a trace of a block with its difference. Runs under the cursor's lock. */
export async function weighTrace(
  sql: Sql,
  { ref, residueWei, block }: { ref: Hash; residueWei: bigint; block: Place },
  transfers: readonly BlockTransfer[],
): Promise<WeighedTrace> {
  const arrived = transfers.filter(({ direction }) => direction === 'in').map((transfer) => arrivalOf(block, transfer))
  const left = transfers.filter(({ direction }) => direction === 'out').map((transfer) => outflowOf(block, transfer))
  const hashes = transfers.map(({ txHash }) => txHash)
  const [isKnownIn, isKnownOut] = [await readKnownIn(sql, hashes), await readKnownOut(sql, hashes)]
  const ins = arrived.filter((transfer) => !isKnownIn(transfer))
  const outs = left.filter((transfer) => !isKnownOut(transfer))
  const contradicts = !(await agreesWithAttributions(sql, ref, arrived))
  const shown = [
    ...ins.map(({ from: other, ...transfer }) => shownOf('in', { ...transfer, other })),
    ...outs.map(({ to: other, ...transfer }) => shownOf('out', { ...transfer, other })),
  ]
  return { ins, outs, isProven: !contradicts && sum(ins) - sum(outs) === residueWei, contradicts, shown }
}

function shownOf(
  direction: 'in' | 'out',
  { txHash, innerIndex, other, valueWei }: Omit<ShownTransfer, 'direction' | 'valueWei'> & { valueWei: bigint },
): ShownTransfer {
  return { txHash, direction, innerIndex, other, valueWei: valueWei.toString() }
}

/** Stores the transfers of a proven trace. Runs under the cursor's lock. @returns how many payments came. */
export async function storeTraced(
  ctx: ChainRead & Logging,
  sql: Sql,
  { ins, outs }: Pick<WeighedTrace, 'ins' | 'outs'>,
): Promise<number> {
  const { payments, dust } = await sortInner(sql, ins)
  const came = await insertInnerTransfers(sql, payments, { areAgreed: ctx.chain.providers.length >= VOICES })
  // Each is in the books once, or the balance would not match.
  if (came !== payments.length) throw new Error(`of ${payments.length} inner transfers ${came} were new`)
  await insertDust(sql, dust)
  await insertInnerOutflows(sql, outs)
  await adopt(
    ctx,
    sql,
    payments.map(({ ref }) => ref),
  )
  return came
}

/** Sorts out dust, as among plain transfers. A transfer that we recorded as a payment before it was reorganised out stays one. */
async function sortInner(sql: Sql, transfers: readonly InnerTransferIn[]) {
  const sorted = sortTransfers(transfers, await readTierVersions(sql))
  const dustRefs = sorted.dust.map(({ ref }) => ref)
  const known = new Set(await readPaymentRefs(sql, dustRefs))
  const former = sorted.dust.filter(({ ref }) => known.has(ref))
  return { payments: [...sorted.payments, ...former], dust: sorted.dust.filter(({ ref }) => !known.has(ref)) }
}

const sum = (transfers: readonly { valueWei: bigint }[]) =>
  transfers.reduce((total, { valueWei }) => total + valueWei, 0n)

const positionIn = (block: Place, { txHash, txIndex }: BlockTransfer): Position => ({
  blockNumber: block.number,
  blockHash: block.hash,
  blockTime: block.time,
  txHash,
  txIndex,
})

function arrivalOf(block: Place, transfer: BlockTransfer): InnerTransferIn {
  const { txHash, wallet, index, other: from, valueWei } = transfer
  const value = { from, valueWei, succeeded: true }
  return { ...positionIn(block, transfer), wallet, innerIndex: index, ...value, ref: innerRef(txHash, wallet, index) }
}

function outflowOf(block: Place, transfer: BlockTransfer): InnerTransferOut {
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
