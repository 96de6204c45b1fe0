// One consistent view of the whole ledger for as long as a reading takes, at a cursor that does not move meanwhile.
import type { Hash } from '../domain/units.ts'
import { inTransaction, type Pool, type Sql } from './sql.ts'

/** Runs readings that all see the ledger as it was at the first of them. Nothing can be written in it. */
export function inSnapshot<T>(pool: Pool, body: (sql: Sql) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (sql) => {
    await sql`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
    // It locks nothing that others wait for, and may well look elsewhere for longer: at the chain, or at another ledger.
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`
    return body(sql)
  })
}

/** A block that the ledger stands at. `time` is unix seconds. */
export interface Place {
  number: number
  hash: Hash
  time: number
}

/** The last followed block before a time, from the stored headers; null where they do not reach back so far. */
export async function lastStoredBlockBefore(sql: Sql, time: number): Promise<Place | null> {
  // Headers are stored without gaps up to the cursor, so the latest one before the time is the last block before it.
  const [row] = await sql<Place[]>`
    SELECT number, hash, time FROM blocks WHERE time < ${time} ORDER BY time DESC, number DESC LIMIT 1`
  return row ?? null
}
