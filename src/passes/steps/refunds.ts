// Watches recorded refunds and commissions until their blocks are final. If a reorganisation removes one, the payee was not paid. If the transaction
// moved to another block, we record that. If it is gone, we raise an alarm, and the payment is held again or the commission is due again.

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
import { readFinality } from '../../follower/followed-finality.ts'
import { mapBounded } from '../../lib/parallel.ts'
import type { MinedView } from '../../ports/chain.ts'
import type { ChainRead, FollowRules, LedgerDb, Logging, RuledBy } from '../../ports/contexts.ts'

/** How many refunds one run looks up on the chain at most, and how many at a time. Only a deep reorganisation on a busy day affects several. */
const LOOKED_AT_MAX = 50
const AT_ONCE = 5
/** For this many blocks, a transaction that was reorganised out may come back, because wallets and pools send it again. */
const GONE_BLOCKS = 64

/**
 * Checks the refunds that are not final. A refund in a followed block costs no request, so any number of them is fine. On a chain without finality, a
 * refund counts as final once we no longer keep its block's header. If a read fails, the next run checks.
 */
export async function lookAfterRefunds(
  ctx: LedgerDb & ChainRead & RuledBy<FollowRules> & Logging,
  cursor: Cursor,
): Promise<void> {
  try {
    if (!(await hasOpenRefunds(ctx.pool))) return
    const finality = await readFinality(ctx, cursor)
    if (finality) await finalizeRefunds(ctx.pool, finality.firm)
    const doubtful = await readDoubtfulRefunds(ctx.pool, cursor.number, LOOKED_AT_MAX)
    await mapBounded(doubtful, AT_ONCE, (refund) => lookAt(ctx, cursor, refund))
  } catch (error) {
    ctx.log.warn({ err: error }, 'recorded refunds could not be checked; the next run tries again')
  }
}

async function lookAt(ctx: LedgerDb & ChainRead & Logging, cursor: Cursor, refund: Refund): Promise<void> {
  const there = await ctx.chain.block(refund.blockNumber)
  if (there?.hash === refund.blockHash) {
    // We follow no reorganisation deeper than the headers that we keep.
    const isDeep = refund.blockNumber < ((await oldestBlockNumber(ctx.pool)) ?? 0)
    if (isDeep) await moveRefund(ctx.pool, refund, { ...refund, final: true })
    return
  }
  const tx = await ctx.chain.minedTransaction(refund.txHash)
  const pays = tx && (await paysBack(ctx, tx, refund))
  if (tx && pays === null) {
    // The transaction is in a block, so the payee may well have been paid.
    ctx.log.warn({ refundTxHash: refund.txHash, to: refund.to }, 'no provider shows whether a refund still pays')
  } else if (tx && pays) {
    if ((await ctx.chain.block(tx.blockNumber))?.hash !== tx.blockHash) return
    // The refund becomes final later, when the ledger's own block with this number is final.
    await moveRefund(ctx.pool, refund, { ...tx, final: false })
  } else if (isGone(cursor, refund, { tx, there })) await undo(ctx, refund)
}

/**
 * True if the transaction still pays the refund. In the block in which we recorded it, nothing has changed. In another block it may now pay by an
 * inner call, which only a trace shows: each refund needs a transfer of its own, and the first refunds have them. Null if no trace is available.
 */
async function paysBack(
  ctx: LedgerDb & ChainRead,
  tx: MinedView,
  { to, valueWei, txHash, blockHash, innerIndex }: Refund,
): Promise<boolean | null> {
  if (!tx.succeeded) return false
  // A transaction's own transfer is the same in every block.
  if (tx.blockHash === blockHash || tx.to === to) return true
  const transfers = await ctx.chain.innerTransfers(txHash, to)
  if (transfers === null) return null
  const others = await readRefundsBy(ctx.pool, txHash, to)
  const before = others.filter((one) => one.valueWei === valueWei && one.innerIndex < innerIndex)
  return before.length < transfers.filter((one) => one.valueWei === valueWei).length
}

/**
 * True if the transaction failed in its new block. Also true if its old block is no longer canonical, and it has not come back within GONE_BLOCKS.
 */
function isGone(cursor: Cursor, refund: Refund, { tx, there }: { tx: MinedView | null; there: Block | null }): boolean {
  if (tx && !tx.succeeded) return true
  // If the provider lags, or no longer has old transactions, it cannot show that this one is gone.
  return there !== null && cursor.number >= refund.blockNumber + GONE_BLOCKS
}

async function undo(ctx: LedgerDb & Logging, refund: Refund): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    if (!(await undoRefund(sql, refund))) return
    const { paymentRef, commissionOf } = refund
    const subject = paymentRef ?? String(commissionOf)
    const detail = { refundTxHash: refund.txHash, valueWei: refund.valueWei.toString(), to: refund.to }
    const says =
      commissionOf === null
        ? 'a recorded refund is no longer on the chain: its payment is held again, unless it has its node'
        : 'a recorded commission is no longer on the chain: it is due again'
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'refundGone', subject, detail })
    await notifyLedgerChanged(sql)
  })
}
