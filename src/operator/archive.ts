// Takes out of the ledger, into a file, what grows with it and the books do not need. The rows leave the ledger only once the file is whole.
import { countArchivable, deleteArchivable, readArchivable } from '../db/archive.ts'
import { inTransaction } from '../db/core/sql.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Actor, type OperatorRefusal, recordAct, refuseAct } from './act.ts'

const DAY_MS = 86_400_000
/** Younger rows explain what is still looked at: alerts, reorganisations, payments that a buyer asks about. */
const DAYS_MIN = 90

/** The beginning of a day in UTC, long enough ago. */
export function readBefore(day: string): Date | OperatorRefusal {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN
  if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(day))
    return refuseAct('invalid', `before: ${JSON.stringify(day)} is no day. Name one as 2026-01-31.`)
  if (time > Date.now() - DAYS_MIN * DAY_MS)
    return refuseAct('invalid', `before: the last ${DAYS_MIN} days stay in the ledger.`)
  return new Date(time)
}

/** How many rows there are before that day. */
export const countArchive = ({ pool }: LedgerDb, before: Date) => countArchivable(pool, before)

/**
 * Hands the rows to `write`, as JSON lines in pieces, and takes them out of the ledger once it has returned. One transaction: whatever fails,
 * the ledger has all of them.
 */
export function archive(
  { pool }: LedgerDb,
  actor: Actor,
  before: Date,
  write: (lines: AsyncIterable<string>) => Promise<void>,
): Promise<{ rows: number }> {
  return inTransaction(pool, async (sql) => {
    await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ`
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
    let written = 0
    async function* lines() {
      for await (const part of readArchivable(sql, before)) {
        written += part.length
        yield `${part.join('\n')}\n`
      }
    }
    await write(lines())
    const rows = await deleteArchivable(sql, before)
    if (rows !== written) throw new Error(`${written} rows were written, and ${rows} would be deleted`)
    await recordAct(sql, actor, { action: 'archived', after: { before: before.toISOString(), rows } })
    return { rows }
  })
}
