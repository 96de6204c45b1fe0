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
import type { TransactionView } from '../../ports/chain.ts'
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
    await finalizeRefunds(ctx.pool, (await readFinality(ctx, cursor))?.firm ?? -1)
    const doubtful = await readDoubtfulRefunds(ctx.pool, cursor.number, LOOKED_AT_MAX)
    if (doubtful.length === 0) return
    const oldest = (await oldestBlockNumber(ctx.pool)) ?? 0
    for (let first = 0; first < doubtful.length; first += AT_ONCE) {
      const some = doubtful.slice(first, first + AT_ONCE)
      await Promise.all(some.map((refund) => lookAt(ctx, { cursor, oldest }, refund)))
    }
  } catch (error) {
    ctx.log.warn({ err: error }, 'recorded refunds could not be checked; the next run tries again')
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
  const pays = tx && blockNumber && blockHash ? await paysBack(ctx, tx, refund) : false
  if (pays === null) {
    // The transaction is in a block, so the payee may well have been paid.
    ctx.log.warn({ refundTxHash: refund.txHash, to: refund.to }, 'no provider shows whether a refund still pays')
  } else if (blockNumber && blockHash && pays) {
    if ((await ctx.chain.block(blockNumber))?.hash !== blockHash) return
    // The refund becomes final later, when the ledger's own block with this number is final.
    await moveRefund(ctx.pool, refund, { blockNumber, blockHash, final: false })
  } else if (isGone(cursor, refund, { tx, there })) await undo(ctx, refund)
}

/**
 * True if the transaction still pays the refund. In the block in which we recorded it, nothing has changed. In another block it may now pay by an
 * inner call, which only a trace shows. Null if its outcome or its trace is not available.
 */
async function paysBack(
  ctx: LedgerDb & ChainRead,
  tx: TransactionView,
  { to, valueWei, txHash, blockHash, innerIndex }: Refund,
): Promise<boolean | null> {
  if (tx.succeeded !== true) return tx.succeeded
  if (tx.blockHash === blockHash || (innerIndex === 0 && tx.to === to && tx.valueWei === valueWei)) return true
  const transfers = await ctx.chain.innerTransfers(txHash, to)
  if (transfers === null) return null
  const ofValue = <T extends { valueWei: bigint }>(some: readonly T[]) =>
    some.filter((one) => one.valueWei === valueWei)
  return ofValue(transfers).length >= ofValue(await readRefundsBy(ctx.pool, txHash, to)).length
}

/**
 * True if the transaction failed in its new block. Also true if its old block is no longer canonical, and it has not come back within GONE_BLOCKS.
 */
function isGone(
  cursor: Cursor,
  refund: Refund,
  { tx, there }: { tx: TransactionView | null; there: Block | null },
): boolean {
  if (tx?.succeeded === false) return true
  // If the provider lags, or no longer has old transactions, it cannot show that this one is gone.
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
