// One consistent view of the whole ledger for the duration of a read. The cursor does not move in this view.
import type { DatedBlock } from '../../domain/observed.ts'
import { inTransaction, type Pool, type Sql } from './sql.ts'

/** Runs reads that all see the ledger as of the first of them. Writes in it fail. */
export function inSnapshot<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (sql) => {
    await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
    // The transaction holds no locks, so it may idle while the caller reads the chain or another ledger.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
    return body(sql)
  })
}

/** The last followed block before a time, from the stored headers; null if they do not reach back that far. */
export async function lastStoredBlockBefore(sql: Sql, time: number): Promise<DatedBlock | null> {
  // Headers are stored without gaps up to the cursor, and their times rise. So the latest header before the time is the last block before it.
  const [row] = await sql<DatedBlock[]>`
    SELECT number, hash, time FROM blocks WHERE time < ${time} ORDER BY number DESC LIMIT 1`
  return row ?? null
}
