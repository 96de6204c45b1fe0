// Takes the ledger back to a block that is still canonical: what other blocks brought goes, what hung on it is computed
// anew, and what we had sent there is sent again. The operator's decisions stay.
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

/** Rewinds to `fork`, unless somebody else moved the cursor since `expected` was read. One transaction. */
export async function rewindTo(ctx: PassContext, fork: Block, expected: Cursor): Promise<void> {
  await inTransaction(ctx.pool, async (sql) => {
    const cursor = await readCursor(sql, { lock: true })
    if (cursor?.hash !== expected.hash) return
    // Order: payments let go of their nodes, withdrawals go before the rounds that paid them, cohorts after their nodes.
    const orphanedPayments = await rewindPayments(sql, fork.number)
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
    await writeAudit(sql, { actor: 'pass', action: 'reorganisation', detail })
    await notifyLedgerChanged(sql)
    failpoint('rewind.storing')
    ctx.log.warn(detail, 'the chain was reorganised: the ledger went back with it')
  })
  failpoint('rewind.stored')
}
