// Rewinds the ledger to a block that is still canonical. It removes entries from later blocks, recomputes values that depended on them, and marks our
// transactions in those blocks to be sent again. The operator's decisions stay.
import {
  type Cursor,
  deleteBlocksAbove,
  readBlock,
  readCursor,
  removeCursor,
  writeCursor,
} from '../db/blocks/blocks.ts'
import { noteMending } from '../db/blocks/mending.ts'
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
import { lockTierTable, rewindOpenings, rewindTierChanges } from '../db/sale/tiers.ts'
import { rewindOutbox } from '../db/sends/outbox.ts'
import type { Block } from '../domain/observed.ts'
import { failpoint } from '../lib/failpoint.ts'
import type { FollowRules, LedgerDb, Logging, RuledBy } from '../ports/contexts.ts'
import { raiseAlarm } from './alarm.ts'

interface Cause {
  actor: string
  action: string
  subject?: string
}

/**
 * The block to rewind to so that block `number` is followed again. Null for the start of the ledger; undefined if we no longer store that block's
 * header.
 */
export async function blockBefore(
  { pool, rules }: LedgerDb & RuledBy<FollowRules>,
  number: number,
): Promise<Block | null | undefined> {
  if (number === rules.startBlock) return null
  return (await readBlock(pool, number - 1)) ?? undefined
}

/** The default cause: the chain replaced its blocks. */
const REORGANISATION: Cause = { actor: 'pass', action: 'reorganisation' }

/**
 * Rewinds to `fork` in one transaction. If `fork` is null, rewinds to before the first block. Does nothing if the cursor is no longer at `expected`.
 * If the cause is not a reorganisation, `cause` names who rewinds, and the action for the audit log; until the ledger has caught up, it sells and
 * sends nothing. @returns whether it rewound.
 */
export async function rewindTo(
  ctx: LedgerDb & RuledBy<FollowRules> & Logging,
  fork: Block | null,
  expected: Cursor,
  cause = REORGANISATION,
): Promise<boolean> {
  const height = fork?.number ?? ctx.rules.startBlock - 1
  const rewound = await inTransaction(ctx.pool, async (sql) => {
    // We lock tiers and wallets before the cursor, in the same order as when one is entered.
    await lockTierTable(sql)
    await lockWallets(sql)
    const cursor = await readCursor(sql, { lock: true })
    if (cursor?.hash !== expected.hash) return false
    const refunds = await readRefundedAbove(sql, height)
    // The order matters. Payments release their nodes first; withdrawals go before the rounds that paid them, and cohorts after their nodes.
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
      await rewindTierChanges(sql, height)
    } else await noteMending(sql, expected.number)
    const resent = await rewindOutbox(sql, height)
    await deleteBlocksAbove(sql, height)
    await reopenRefunds(sql, height)
    await rewindSurveyed(sql, fork?.number ?? -1)
    // The books begin at the block before the first one. After a rewind to the start, that may be a different block.
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
    // A rescan reads the same blocks again, so no payment is lost.
    if (cause.action === 'reorganisation') await alarmRefunded(ctx, sql, refunds)
    await notifyLedgerChanged(sql)
    failpoint('rewind.storing')
    ctx.log.warn({ ...cause, ...detail }, 'the ledger was rewound')
    return true
  })
  failpoint('rewind.stored')
  return rewound
}

/** Reports payments that are refunded or about to be, and whose blocks were reorganised out. We may never have received them. */
async function alarmRefunded(ctx: Logging, sql: Sql, refunds: readonly RefundedPayment[]): Promise<void> {
  for (const { ref, refundTxHash, valueWei } of refunds) {
    const detail = { refundTxHash, valueWei: valueWei.toString() }
    const says = 'a reorganisation removed a payment that is refunded, or about to be'
    await raiseAlarm(ctx, sql, { level: 'error', says, action: 'refundOfOrphaned', subject: ref, detail })
  }
}
