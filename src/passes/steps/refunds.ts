// Looks after recorded refunds until their blocks are final: a reorganisation may take a refund back, and then the buyer was not
// paid. Where it stands in another block that is noted; where it is gone, the payment is held again and the operator told.
import type { TransactionView } from '../../chain/port.ts'
import type { Cursor } from '../../db/blocks.ts'
import { moveRefund, type Refund, readOpenRefunds, undoRefund } from '../../db/refunds.ts'
import { notifyLedgerChanged, writeAudit } from '../../db/settings.ts'
import { inTransaction } from '../../db/sql.ts'
import type { ChainRead, LedgerDb, Logging } from '../context.ts'

/** Refunds looked at in one run; an operator makes few, and they are final within the hour. */
const LOOKED_AT_MAX = 50
/** A transaction that was taken out may come back within so many blocks, as wallets and pools send it again. */
const GONE_BLOCKS = 64

/** Looks at the refunds that are not final: one query where there are none. What cannot be read now is looked at by the next run. */
export async function lookAfterRefunds(ctx: LedgerDb & ChainRead & Logging, cursor: Cursor): Promise<void> {
  try {
    const refunds = await readOpenRefunds(ctx.pool, LOOKED_AT_MAX)
    if (refunds.length > 0) await lookAt(ctx, cursor, refunds)
  } catch (error) {
    ctx.log.warn({ err: error }, 'recorded refunds could not be looked at; the next run does')
  }
}

async function lookAt(ctx: LedgerDb & ChainRead & Logging, cursor: Cursor, refunds: readonly Refund[]): Promise<void> {
  const finalized = (await ctx.chain.finalized())?.number ?? -1
  for (const refund of refunds) {
    const tx = await ctx.chain.transaction(refund.txHash)
    const { blockNumber, blockHash } = tx ?? {}
    if (tx && blockNumber && blockHash && (await paysBack(ctx, tx, refund))) {
      if ((await ctx.chain.block(blockNumber))?.hash !== blockHash) continue
      const final = blockNumber <= finalized
      if (final || blockHash !== refund.blockHash)
        await moveRefund(ctx.pool, refund.txHash, { blockNumber, blockHash, final })
    } else if (await isGone(ctx, cursor, refund, tx)) await undo(ctx, refund)
  }
}

/** In the block it was recorded in, it is what it was. In another one it may be by an inner call, which only a trace shows. */
async function paysBack(ctx: ChainRead, tx: TransactionView, { to, valueWei, txHash, blockHash }: Refund) {
  if (tx.succeeded !== true) return false
  if (tx.blockHash === blockHash || (tx.to === to && tx.valueWei === valueWei)) return true
  const transfers = await ctx.chain.innerTransfers(txHash, to)
  return transfers?.some((transfer) => transfer.valueWei === valueWei) ?? false
}

/** Gone: it failed where it is now, or its block is canonical no more and it has not come back for long enough. */
async function isGone(ctx: ChainRead, cursor: Cursor, refund: Refund, tx: TransactionView | null): Promise<boolean> {
  if (tx?.succeeded === false) return true
  const there = await ctx.chain.block(refund.blockNumber)
  // A provider that lags, or forgets old transactions, has not seen it go.
  return there !== null && there.hash !== refund.blockHash && cursor.number >= refund.blockNumber + GONE_BLOCKS
}

async function undo(ctx: LedgerDb & Logging, refund: Refund): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    const paymentId = await undoRefund(sql, refund)
    if (paymentId === null) return
    const detail = { refundTxHash: refund.txHash, valueWei: refund.valueWei.toString(), to: refund.to }
    await writeAudit(sql, { actor: 'pass', action: 'refundGone', subject: refund.paymentRef, detail })
    await notifyLedgerChanged(sql)
    ctx.log.error(
      detail,
      'a recorded refund is on the chain no more: its payment is held again, unless it has its node',
    )
  })
}
