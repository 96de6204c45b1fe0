// Watches recorded refunds and commissions until their blocks are final, because if a reorganisation removes one, the payee was not paid. If it moved
// to another block, we record that. If it is gone, we hold the payment again, or the commission is due again, and we raise an alarm.
import type { TransactionView } from '../../chain/port.ts'
import { type Cursor, oldestBlockNumber } from '../../db/blocks/blocks.ts'
import { inTransaction } from '../../db/core/sql.ts'
import { notifyLedgerChanged } from '../../db/core/state.ts'
import {
  finalizeRefunds,
  hasOpenRefunds,
  moveRefund,
  type Refund,
  readDoubtfulRefunds,
  readRefundsBy,
  undoRefund,
} from '../../db/payments/refunds.ts'
import type { Block } from '../../domain/observed.ts'
import { raiseAlarm } from '../../follower/alarm.ts'
import { readFinality } from '../../follower/finality.ts'
import type { ChainRead, LedgerDb, Logging } from '../context.ts'

/** The most refunds about which one run asks the chain, and how many at a time. Only a deep reorganisation on a busy day affects several. */
const LOOKED_AT_MAX = 50
const AT_ONCE = 5
/** Within this many blocks, a transaction that was reorganised out may come back, because wallets and pools send it again. */
const GONE_BLOCKS = 64

/**
 * Checks the refunds that are not final. A refund in a followed block costs no request, so it does not matter how many there are. On a chain without
 * finality, a refund is final once we no longer keep its block's header. If a read fails, the next run checks.
 */
export async function lookAfterRefunds(ctx: LedgerDb & ChainRead & Logging, cursor: Cursor): Promise<void> {
  try {
    if (!(await hasOpenRefunds(ctx.pool))) return
    await finalizeRefunds(ctx.pool, (await readFinality(ctx, cursor))?.firm ?? -1)
    const doubtful = await readDoubtfulRefunds(ctx.pool, cursor.number, LOOKED_AT_MAX)
    if (doubtful.length === 0) return
    const oldest = (await oldestBlockNumber(ctx.pool)) ?? 0
    for (let first = 0; first < doubtful.length; first += AT_ONCE) {
      const some = doubtful.slice(first, first + AT_ONCE)
      await Promise.all(some.map((refund) => lookAt(ctx, { cursor, oldest }, refund)))
    }
  } catch (error) {
    ctx.log.warn({ err: error }, 'recorded refunds could not be looked at; the next run does')
  }
}

interface Heights {
  cursor: Cursor
  /** The oldest block whose header we keep. We follow no deeper reorganisation. */
  oldest: number
}

async function lookAt(ctx: LedgerDb & ChainRead & Logging, { cursor, oldest }: Heights, refund: Refund): Promise<void> {
  const there = await ctx.chain.block(refund.blockNumber)
  if (there?.hash === refund.blockHash) {
    const { blockNumber, blockHash } = refund
    if (blockNumber < oldest) await moveRefund(ctx.pool, refund, { blockNumber, blockHash, final: true })
    return
  }
  const tx = await ctx.chain.minedTransaction(refund.txHash)
  const { blockNumber, blockHash } = tx ?? {}
  if (tx && blockNumber && blockHash && (await paysBack(ctx, tx, refund))) {
    if ((await ctx.chain.block(blockNumber))?.hash !== blockHash) return
    // Final once the ledger's own block says so.
    await moveRefund(ctx.pool, refund, { blockNumber, blockHash, final: false })
  } else if (isGone(cursor, refund, { tx, there })) await undo(ctx, refund)
}

/** In the block in which we recorded it, it is unchanged. In another block it may now be an inner call, which only a trace shows. */
async function paysBack(
  ctx: LedgerDb & ChainRead,
  tx: TransactionView,
  { to, valueWei, txHash, blockHash, innerIndex }: Refund,
) {
  if (tx.succeeded !== true) return false
  if (tx.blockHash === blockHash || (innerIndex === 0 && tx.to === to && tx.valueWei === valueWei)) return true
  const transfers = (await ctx.chain.innerTransfers(txHash, to)) ?? []
  const ofValue = <T extends { valueWei: bigint }>(some: readonly T[]) =>
    some.filter((one) => one.valueWei === valueWei)
  return ofValue(transfers).length >= ofValue(await readRefundsBy(ctx.pool, txHash, to)).length
}

/** True if it has failed in its new block, or its block is no longer canonical and it has not come back for GONE_BLOCKS. */
function isGone(
  cursor: Cursor,
  refund: Refund,
  { tx, there }: { tx: TransactionView | null; there: Block | null },
): boolean {
  if (tx?.succeeded === false) return true
  // A provider that lags, or drops old transactions, cannot show that it is gone.
  return there !== null && there.hash !== refund.blockHash && cursor.number >= refund.blockNumber + GONE_BLOCKS
}

async function undo(ctx: LedgerDb & Logging, refund: Refund): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if (!(await undoRefund(sql, refund))) return
    const { paymentRef, commissionOf } = refund
    const detail = { refundTxHash: refund.txHash, valueWei: refund.valueWei.toString(), to: refund.to }
    const says =
      commissionOf === null
        ? 'a recorded refund is no longer on the chain: its payment is held again, unless it has its node'
        : 'a recorded commission is no longer on the chain: it is due again'
    const subject = paymentRef ?? commissionOf ?? ''
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'refundGone', subject, detail })
    await notifyLedgerChanged(sql)
  })
}
