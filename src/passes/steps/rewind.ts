// Takes the ledger back to a block that is still canonical: what other blocks brought goes, what hung on it is computed
// anew, and what we had sent there is sent again. The operator's decisions stay.
import { detachOrphans } from '../../db/attributions.ts'
import { type Cursor, deleteBlocksAbove, readCursor, writeCursor } from '../../db/blocks.ts'
import { rewindCohorts } from '../../db/cohorts.ts'
import { rewindNodes } from '../../db/nodes.ts'
import { rewindOutbox } from '../../db/outbox.ts'
import { rewindPayments } from '../../db/payments.ts'
import { rewindRounds } from '../../db/rounds.ts'
import { notifyLedgerChanged, writeAudit } from '../../db/settings.ts'
import { inTransaction } from '../../db/sql.ts'
import { rewindBooks } from '../../db/wallet.ts'
import type { Block } from '../../domain/observed.ts'
import { failpoint } from '../../failpoint.ts'
import type { PassContext } from '../context.ts'

/**
 * Rewinds to `fork`, unless somebody else moved the cursor since `expected` was read. One transaction. `cause` names who has it done
 * and what the audit log calls it, where it is not the chain's doing. @returns whether it did.
 */
export async function rewindTo(
  ctx: PassContext,
  fork: Block,
  expected: Cursor,
  cause = { actor: 'pass', action: 'reorganisation' },
): Promise<boolean> {
  const rewound = await inTransaction(ctx.pool, async (sql) => {
    const cursor = await readCursor(sql, { lock: true })
    if (cursor?.hash !== expected.hash) return false
    // Order: payments let go of their nodes, withdrawals go before the rounds that paid them, cohorts after their nodes.
    const orphanedPayments = await rewindPayments(sql, fork.number)
    await detachOrphans(sql)
    const { nodes, withdrawals } = await rewindNodes(sql, fork.number)
    const rounds = await rewindRounds(sql, fork.number)
    await rewindCohorts(sql, fork.number)
    const resent = await rewindOutbox(sql, fork.number)
    await rewindBooks(sql, fork.number)
    await deleteBlocksAbove(sql, fork.number)
    await writeCursor(sql, fork)
    const detail = {
      fromBlock: expected.number,
      toBlock: fork.number,
      orphanedPayments,
      nodes,
      withdrawals,
      rounds,
      resent,
    }
    await writeAudit(sql, { ...cause, detail })
    await notifyLedgerChanged(sql)
    failpoint('rewind.storing')
    ctx.log.warn({ ...cause, ...detail }, 'the ledger went back')
    return true
  })
  failpoint('rewind.stored')
  return rewound
}
