// Whether the ledger reads blocks again because it differed from one of them. Until it has caught up, it may lack payments, nodes and rounds that
// it had. So nothing is judged, minted, credited, granted, released or sold, and no tier changes: see passes/payments.ts,
// passes/credit.ts, operator/guard.ts and http/routes/deploy-quote.ts. A reorganisation does not count, because its blocks are gone.
import type { Sql } from '../core/sql.ts'
import { writeState } from '../core/state.ts'

export interface Mending {
  /** The last block that the ledger has read, and the one that it had read before it went back. */
  at: number
  to: number
}

/** Notes that the ledger goes back from block `from`. Run it in the transaction that rewinds. */
export async function noteMending(sql: Sql, from: number): Promise<void> {
  const to = Math.max(from, (await readMending(sql))?.to ?? 0)
  await writeState(sql, 'mending_to', to)
}

/** Clears the note once the ledger has caught up. */
export async function noteMended(sql: Sql): Promise<void> {
  await sql`
    UPDATE ledger_state SET mending_to = NULL WHERE mending_to <= (SELECT block_number FROM cursors WHERE name = 'follow')`
}

/** Which blocks are read again; null if none are. */
export async function readMending(sql: Sql): Promise<Mending | null> {
  const [row] = await sql<Mending[]>`
    SELECT coalesce((SELECT block_number FROM cursors WHERE name = 'follow'), -1)::int AS at, mending_to AS to
    FROM ledger_state WHERE mending_to IS NOT NULL`
  return row && row.at < row.to ? row : null
}
