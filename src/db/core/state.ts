// Facts fixed at the ledger's first start, the operator's switches, and the audit log.
import { type Audited, eventOf } from '../../domain/webhooks/kinds.ts'
import { jsonRows, type Sql } from './sql.ts'

/** Reads a setting; null if it was never set. */
export async function readState(sql: Sql, name: string): Promise<unknown> {
  const [row] = await sql<{ value: unknown }[]>`SELECT value FROM settings WHERE name = ${name}`
  return row?.value ?? null
}

/** Sets a setting. @returns false if it had that value already. */
export async function writeState(sql: Sql, name: string, value: unknown, by: string): Promise<boolean> {
  const changed = await sql`
    INSERT INTO settings (name, value, updated_by) VALUES (${name}, ${jsonRows([{ value }])}::text::jsonb -> 0 -> 'value', ${by})
    ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = now(), updated_by = excluded.updated_by
      WHERE settings.value <> excluded.value
    RETURNING 1`
  return changed.count > 0
}

/** SQL: whether the operator's switch pauses crediting. */
export const PAUSED = `coalesce((SELECT value = 'true'::jsonb FROM settings WHERE name = 'paused'), false)`

/** True while the operator's switch pauses crediting. */
export const readPaused = async (sql: Sql): Promise<boolean> => (await readState(sql, 'paused')) === true

/** Locks a setting until the transaction ends. A setting that was never set has no row to lock, so callers also take an advisory lock. */
export async function lockState(sql: Sql, name: string): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 9))`
  await sql`SELECT FROM settings WHERE name = ${name} FOR UPDATE`
}

export async function clearState(sql: Sql, name: string): Promise<void> {
  await sql`DELETE FROM settings WHERE name = ${name}`
}

/** The chain and factory of a ledger. They never change. */
export interface Identity {
  chainId: number
  genesisHash: string
  factory: string
  startBlock: number
}

/** Stores the identity at the first start; later, returns the stored one. */
export async function recordIdentity(sql: Sql, identity: Identity): Promise<Identity> {
  await sql`
    INSERT INTO settings (name, value, updated_by)
    VALUES ('identity', ${jsonRows([identity])}::text::jsonb -> 0, 'start') ON CONFLICT (name) DO NOTHING`
  return (await readState(sql, 'identity')) as Identity
}

/** Adds an entry to the audit log. If the entry has an event, queues the event for the endpoints that chose its kind. */
export async function writeAudit(sql: Sql, entry: Audited & { requestId?: string | null }): Promise<void> {
  const { actor, action, subject = null, detail, requestId = null } = entry
  const event = eventOf(entry)
  await sql`
    WITH written AS (
      INSERT INTO audit (actor, action, subject, detail, request_id)
      VALUES (${actor}, ${action}, ${subject}, ${jsonRows([detail])}::text::jsonb -> 0, ${requestId}) RETURNING id, at)
    SELECT webhook_emit(${event?.type ?? null}, concat_ws(' ', id, at, ${action}::text),
      (${jsonRows([event?.data ?? {}])}::text::jsonb -> 0) || jsonb_build_object('auditId', id::text))
    FROM written WHERE ${event !== null}`
}

/** True if the audit log has such an entry. */
export async function hasAudit(sql: Sql, action: string, subject: string): Promise<boolean> {
  const rows = await sql`SELECT FROM audit WHERE action = ${action} AND subject = ${subject} LIMIT 1`
  return rows.count > 0
}

/** Notifies every instance, once this transaction commits, that its memoised values are stale. */
export async function notifyLedgerChanged(sql: Sql): Promise<void> {
  await sql`NOTIFY ledger`
}
