// Rewinds the ledger to a block that is still canonical. Entries of other blocks are removed, values that depended on them are recomputed, and our
// transactions there are sent again. The operator's decisions stay.
import {
  type Cursor,
  deleteBlocksAbove,
  readBlock,
  readCursor,
  removeCursor,
  writeCursor,
} from '../db/blocks/blocks.ts'
import { rewindSurveyed } from '../db/blocks/surveyed.ts'
import { inTransaction, type Sql } from '../db/core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../db/core/state.ts'
import { rewindCohorts } from '../db/nodes/cohorts.ts'
import { rewindNodes } from '../db/nodes/nodes.ts'
import { rewindOwnerActs } from '../db/nodes/owner-acts.ts'
import { rewindRounds } from '../db/nodes/rounds.ts'
import { rewindSeedBlocks } from '../db/nodes/seed-blocks.ts'
import { detachOrphans } from '../db/payments/attributions.ts'
import { type RefundedPayment, readRefundedAbove, reopenRefunds } from '../db/payments/refunds.ts'
import { rewindPayments } from '../db/payments/rows.ts'
import { forgetWalletBalances, rewindWalletBalances } from '../db/payments/wallet.ts'
import { lockWallets, rewindWallets } from '../db/sale/payment-wallets.ts'
import { rewindOpenings } from '../db/sale/tiers.ts'
import { rewindOutbox } from '../db/sends/outbox.ts'
import type { Block } from '../domain/observed.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../passes/context.ts'
import { raiseAlarm } from './alarm.ts'

interface Cause {
  actor: string
  action: string
  subject?: string
}

/** The block to rewind to, so that a block is followed again. Null to rewind to before the first block. Undefined if its header is not kept. */
export async function blockBefore(
  { pool, rules }: LedgerDb & RuledBy<FollowRules>,
  number: number,
): Promise<Block | null | undefined> {
  if (number === rules.startBlock) return null
  return (await readBlock(pool, number - 1)) ?? undefined
}

/** The chain did it. */
const REORGANISATION: Cause = { actor: 'pass', action: 'reorganisation' }

/**
 * Rewinds to `fork`, or, if that is null, to before the first block, unless the cursor has moved since `expected` was read. One transaction. If the
 * chain did not cause it, `cause` names who did, and the action in the audit log. @returns whether it did.
 */
export async function rewindTo(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  fork: Block | null,
  expected: Cursor,
  cause = REORGANISATION,
): Promise<boolean> {
  const height = fork?.number ?? ctx.rules.startBlock - 1
  const rewound = await inTransaction(ctx.pool, async (sql) => {
    // Before the cursor, in the same order as when a wallet is entered.
    await lockWallets(sql)
    const cursor = await readCursor(sql, { lock: true })
    if (cursor?.hash !== expected.hash) return false
    const refunded = await readRefundedAbove(sql, height)
    // Order: payments let go of their nodes, withdrawals go before the rounds that paid them, cohorts after their nodes.
    const orphanedPayments = await rewindPayments(sql, height)
    await detachOrphans(sql)
    const { nodes, withdrawals } = await rewindNodes(sql, height)
    const rounds = await rewindRounds(sql, height)
    await rewindCohorts(sql, height)
    await rewindSeedBlocks(sql, height)
    await rewindOwnerActs(sql, height)
    if (cause === REORGANISATION) {
      await rewindWallets(sql, height)
      await rewindOpenings(sql, height)
    }
    const resent = await rewindOutbox(sql, height)
    await deleteBlocksAbove(sql, height)
    await reopenRefunds(sql, height)
    await rewindSurveyed(sql, fork?.number ?? -1)
    // The block that the books begin with, the one before the first, may now be another one.
    await (fork ? rewindWalletBalances(sql, height) : forgetWalletBalances(sql))
    await (fork ? writeCursor(sql, fork) : removeCursor(sql))
    const detail = {
      fromBlock: expected.number,
      toBlock: height,
      orphanedPayments,
      nodes,
      withdrawals,
      rounds,
      resent,
    }
    await writeAudit(sql, { ...cause, detail })
    // A rescan reads the same blocks again, so nothing is gone.
    if (cause.action === 'reorganisation') await alarmRefunded(ctx, sql, refunded)
    await notifyLedgerChanged(sql)
    failpoint('rewind.storing')
    ctx.log.warn({ ...cause, ...detail }, 'the ledger went back')
    return true
  })
  failpoint('rewind.stored')
  return rewound
}

/** Reports refunded payments, or those about to be, whose blocks are gone, because we may never have received them. */
async function alarmRefunded(ctx: Logging, sql: Sql, refunded: readonly RefundedPayment[]): Promise<void> {
  for (const { ref, refundTxHash, valueWei } of refunded) {
    const detail = { refundTxHash, valueWei: valueWei.toString() }
    const says = 'a payment that is paid back, or about to be, was reorganised out'
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'refundOfOrphaned', subject: ref, detail })
  }
}
