// Transfers that buy nothing. Dust is stored in small rows, for the books; transfers that moved nothing are only counted. When a reorganisation moves
// the cursor back, triggers remove them; triggers also maintain their totals (migrations/0001_schema.sql).
import type { Incoming } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import { column, type Sql } from '../core/sql.ts'

/** Stores dust in one statement, one row for each transfer. */
export async function insertDust(sql: Sql, dust: readonly (Incoming & { innerIndex?: number })[]): Promise<void> {
  if (dust.length === 0) return
  const places = dust.map(({ innerIndex = 0 }) => innerIndex)
  await sql`
    INSERT INTO dust (block_number, tx_index, wallet_id, inner_index, tx_hash, from_address, value_wei)
    SELECT block_number, tx_index, w.id, inner_index, decode(substr(tx_hash, 3), 'hex'), decode(substr(from_address, 3), 'hex'), value_wei
    FROM unnest(${column(dust, 'blockNumber')}::bigint[], ${column(dust, 'txIndex')}::int[], ${column(dust, 'wallet')}::text[],
        ${places}::int[], ${column(dust, 'txHash')}::text[], ${column(dust, 'from')}::text[], ${column(dust, 'valueWei')}::numeric[])
      AS t(block_number, tx_index, wallet, inner_index, tx_hash, from_address, value_wei) JOIN payment_wallets w USING (wallet)
    ORDER BY block_number, tx_index, inner_index ON CONFLICT DO NOTHING`
}

/** Counts transfers of zero value, by block and wallet. */
export async function countZeroTransfers(sql: Sql, transfers: readonly Incoming[]): Promise<void> {
  if (transfers.length === 0) return
  await sql`
    INSERT INTO zero_transfers (block_number, wallet_id, transfers)
    SELECT block_number, w.id, count(*)
    FROM unnest(${column(transfers, 'blockNumber')}::bigint[], ${column(transfers, 'wallet')}::text[]) AS t(block_number, wallet)
      JOIN payment_wallets w USING (wallet)
    GROUP BY block_number, w.id`
}

/** True if a transaction is recorded as dust. */
export async function isDust(sql: Sql, txHash: Hash): Promise<boolean> {
  const [row] = await sql<{ dust: boolean }[]>`
    SELECT EXISTS (SELECT FROM dust WHERE tx_hash = decode(substr(${txHash}, 3), 'hex')) AS dust`
  return row?.dust ?? false
}
