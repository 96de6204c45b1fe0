// The fees of the last followed blocks: a few rows, written with the blocks and replaced in place.
import { FEE_BLOCKS } from '../../domain/fees.ts'
import type { BlockFees } from '../../domain/observed.ts'
import { column, type Sql } from '../core/sql.ts'

/** Stores the fees of the blocks up to `height`. Replaces rows above it, and deletes rows too far below it. */
export async function writeFees(sql: Sql, height: number, fees: readonly BlockFees[]): Promise<void> {
  await sql`DELETE FROM block_fees WHERE number > ${height} OR number <= ${height - FEE_BLOCKS}`
  if (fees.length === 0) return
  const text = (name: 'baseFeeWei' | 'tipWei') => fees.map((block) => block[name]?.toString() ?? null)
  await sql`
    INSERT INTO block_fees (number, base_fee_wei, tip_wei)
    SELECT * FROM unnest(${column(fees, 'number')}::bigint[], ${text('baseFeeWei')}::numeric[], ${text('tipWei')}::numeric[])
    ON CONFLICT (number) DO UPDATE SET base_fee_wei = excluded.base_fee_wei, tip_wei = excluded.tip_wei`
}

/** Reads the fees of the last followed blocks. */
export async function readFees(sql: Sql): Promise<BlockFees[]> {
  return sql<BlockFees[]>`
    SELECT number, base_fee_wei AS "baseFeeWei", tip_wei AS "tipWei" FROM block_fees ORDER BY number`
}
