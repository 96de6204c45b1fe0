// What this ledger's blocks are worth as evidence: its mode, from which block on, and who set it. The first run finds the mode before it reads
// blocks. After that only a person changes it; no answer of a provider does.
import type { EvidenceMode } from '../../domain/observed.ts'
import type { Sql } from '../core/sql.ts'
import { readState, writeAudit, writeState } from '../core/state.ts'

/** The mode in force. `fromBlock`: the first block that was followed in it. */
export interface ModeInForce {
  mode: EvidenceMode
  fromBlock: number
  by: string
}

/** The mode in force; null before the first block. */
export async function readMode(sql: Sql): Promise<ModeInForce | null> {
  const [row] = await sql<ModeInForce[]>`
    SELECT mode, from_block AS "fromBlock", set_by AS by FROM evidence_modes ORDER BY from_block DESC LIMIT 1`
  return row ?? null
}

/** True if the blocks that are followed now must be proven. Those before `fromBlock` of the mode may not be. */
export const isProven = async (sql: Sql): Promise<boolean> => (await readMode(sql))?.mode === 'proven'

/** The last block before those whose headers we recompute; null while we do not require that. */
export async function headersProvenFrom(sql: Sql): Promise<number | null> {
  const inForce = await readMode(sql)
  return inForce?.mode === 'proven' ? inForce.fromBlock - 1 : null
}

interface SetBy {
  by: string
  requestId?: string | null
  /** The operator's reason, if a person sets it. */
  reason?: string | null
}

/** Sets the mode for the blocks after the cursor, unless that mode is in force already. Run in a transaction. */
export async function setMode(sql: Sql, mode: EvidenceMode, { by, requestId = null, ...rest }: SetBy): Promise<void> {
  const before = await readMode(sql)
  if (before?.mode === mode) return
  const [row] = await sql<{ fromBlock: number }[]>`
    INSERT INTO evidence_modes (from_block, mode, set_by)
    SELECT coalesce((SELECT block_number + 1 FROM cursors WHERE name = 'follow'), 0), ${mode}, ${by}
    ON CONFLICT (from_block) DO UPDATE SET mode = excluded.mode, set_by = excluded.set_by
    RETURNING from_block AS "fromBlock"`
  const detail = { before: before?.mode ?? null, after: mode, ...row, ...rest }
  await writeAudit(sql, { actor: by, action: 'evidenceSet', detail, requestId })
}

/** Sets the mode of a ledger that has none. @returns the mode in force: another instance may have set one meanwhile. Run in a transaction. */
export async function setFirstMode(sql: Sql, mode: EvidenceMode): Promise<EvidenceMode> {
  await sql`LOCK TABLE evidence_modes IN SHARE ROW EXCLUSIVE MODE`
  const inForce = await readMode(sql)
  if (inForce) return inForce.mode
  await setMode(sql, mode, { by: 'pass' })
  return mode
}

/** From now on blocks up to this one are read with each receipt and each sender, because a provider left something out of one. */
export async function requireWholeReads(sql: Sql, upTo: number): Promise<void> {
  await writeState(sql, 'read_whole_to', Math.max(upTo, (await readState(sql, 'read_whole_to')) ?? 0))
}
