// Who may buy by an internal call: the modes, each in force from a block on, and the contracts that the operator allows. Every instance judges by
// these rows; settings cannot override them.
import type { ContractWalletMode, ModeFrom } from '../../domain/payers/payer.ts'
import { readCursor } from '../blocks/blocks.ts'
import { inTransaction, type Pool, type Sql } from '../core/sql.ts'
import { notifyLedgerChanged, writeAudit } from '../core/state.ts'
import { notedAddresses } from './noted-addresses.ts'

/** A mode, with who entered it and when (ISO 8601). */
export interface ModeRow extends ModeFrom {
  enteredAt: string
  enteredBy: string
}

/** All modes, oldest first. There are few. */
export async function readModes(sql: Sql): Promise<ModeRow[]> {
  return await sql<ModeRow[]>`
    SELECT mode, from_block AS "fromBlock", iso(entered_at) AS "enteredAt", entered_by AS "enteredBy"
    FROM contract_wallet_modes ORDER BY from_block`
}

/** Blocks the entry of modes until the transaction ends. Reads continue. */
export async function lockModes(sql: Sql): Promise<void> {
  await sql`LOCK TABLE contract_wallet_modes IN SHARE ROW EXCLUSIVE MODE`
}

/** Adds a mode, or replaces the mode for the same block. Must be called under `lockModes`. */
export async function insertMode(sql: Sql, { mode, fromBlock }: ModeFrom, enteredBy: string): Promise<void> {
  await sql`
    INSERT INTO contract_wallet_modes (mode, from_block, entered_by) VALUES (${mode}, ${fromBlock}, ${enteredBy})
    ON CONFLICT (from_block) DO UPDATE SET mode = excluded.mode, entered_by = excluded.entered_by, entered_at = now()`
}

/** Enters a ledger's first mode, at start. @returns false if the ledger has a mode already. */
export async function enterFirstMode(pool: Pool, mode: ContractWalletMode): Promise<boolean> {
  return await inTransaction(pool, async (sql) => {
    await lockModes(sql)
    if ((await readModes(sql)).length > 0) return false
    const cursor = await readCursor(sql, { lock: true })
    const after = { mode, fromBlock: cursor ? cursor.number + 1 : 0 }
    await insertMode(sql, after, 'start')
    await writeAudit(sql, { actor: 'start', action: 'contractWalletsSet', detail: { before: null, after } })
    await notifyLedgerChanged(sql)
    return true
  })
}

/** The contracts that the operator allows. */
export const {
  read: readAllowedWallets,
  find: findAllowed,
  put: allowContract,
  remove: disallowContract,
} = notedAddresses('allowed_wallets')
