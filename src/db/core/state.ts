// What holds of the ledger as a whole (the one row of ledger_state), and the audit log.
import type { KnownBudget } from '../../domain/budget.ts'
import type { Drift } from '../../domain/drift.ts'
import type { Block } from '../../domain/observed.ts'
import { type Audited, eventOf } from '../../domain/webhooks/kinds.ts'
import { toJson } from '../../lib/json.ts'
import { jsonRows, type Sql } from './sql.ts'

/** The columns of the ledger's one row that are read and written by name. The schema explains each. */
interface LedgerState {
  paused: boolean
  second_person_wei: bigint | null
  guard: 'used' | 'dropped' | null
  rebuilding: boolean
  linked_header: Block | null
  read_whole_to: number | null
  surveyed_to: number | null
  mending_to: number | null
  recheck_up_to: number | null
  drift: Drift[] | null
  reconcile_next: number
  reconcile_nodes: number
  reconcile_cohorts: number
  cohorts_agreed: object | null
  refused_cohorts: readonly number[] | null
  budget: KnownBudget | null
}

/** Reads one fact about the ledger. */
export async function readState<Name extends keyof LedgerState>(sql: Sql, name: Name): Promise<LedgerState[Name]> {
  const [row] = await sql<{ value: LedgerState[Name] }[]>`SELECT ${sql.unsafe(name)} AS value FROM ledger_state`
  if (!row) throw new Error('the ledger’s state has no row')
  return row.value
}

/** Sets one fact about the ledger. @returns false if it had that value already. */
export async function writeState<Name extends keyof LedgerState>(
  sql: Sql,
  name: Name,
  value: LedgerState[Name],
): Promise<boolean> {
  const column = sql.unsafe(name)
  const update = await sql`
    UPDATE ledger_state s SET ${column} = n.${column} FROM jsonb_populate_record(NULL::ledger_state, ${toJson({ [name]: value })}::text::jsonb) n
    WHERE s.${column} IS DISTINCT FROM n.${column}`
  return update.count > 0
}

/** Locks the ledger's state until the transaction ends. */
export const lockState = async (sql: Sql): Promise<void> => void (await sql`SELECT FROM ledger_state FOR UPDATE`)

/** Records what a comparison with the contract found. @returns false if that was on record already. */
export async function writeDrift(sql: Sql, drifts: readonly Drift[], by: string): Promise<boolean> {
  const json = jsonRows(drifts)
  const update = await sql`
    UPDATE ledger_state SET drift = ${json}::text::jsonb, drift_at = now(), drift_by = ${by} WHERE drift IS DISTINCT FROM ${json}::text::jsonb`
  return update.count > 0
}

/** The chain and factory of a ledger. They never change. */
export interface Identity {
  chainId: number
  genesisHash: string
  factory: string
  startBlock: number
}

/** Which ledger this is; null before its first start. */
export async function readIdentity(sql: Sql): Promise<Identity | null> {
  const [row] = await sql<Identity[]>`
    SELECT chain_id AS "chainId", genesis_hash AS "genesisHash", factory, start_block AS "startBlock"
    FROM ledger_state WHERE started_at IS NOT NULL`
  return row ?? null
}

/** Stores the identity at the first start; later, returns the stored one. */
export async function recordIdentity(sql: Sql, identity: Identity): Promise<Identity> {
  const { chainId, genesisHash, factory, startBlock } = identity
  await sql`
    UPDATE ledger_state SET chain_id = ${chainId}, genesis_hash = ${genesisHash}, factory = ${factory}, start_block = ${startBlock},
      started_at = now() WHERE started_at IS NULL`
  return (await readIdentity(sql)) ?? identity
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
