// Whether the passes are halted, and why: the chain they see is not the one the ledger followed. A first sight of it may be
// a provider's lie, and is withdrawn by the next look that finds all well; one that stays is sealed, and then only an operator
// clears it.
import { clearSetting, readSetting, writeAudit } from './settings.ts'
import { jsonRows, type Sql } from './sql.ts'

/** Another chain than the ledger's; one that left it below the oldest stored header; or below what was final. */
export type HaltReason = 'otherChain' | 'tooDeep' | 'pastFinalized'

export interface HaltState {
  reason: HaltReason
  /** ISO 8601, by the database's clock. */
  since: string
  detail: object
  /** Runs that saw it, this one included. */
  looks: number
  /** True once only an operator can clear it. */
  sealed: boolean
}

/** A halt that as many runs saw, over as long a time, and that not one provider alone reports, is no passing lie of a provider. */
const SEAL_LOOKS = 5
const SEAL_SEC = 60

/** The halt in force; null while there is none. */
export async function readHalt(sql: Sql): Promise<HaltState | null> {
  return (await readSetting(sql, 'halted')) as HaltState | null
}

/**
 * Notes that a run saw a reason to halt. Only a look that is `confirmed`, by more than one of several providers, may seal it.
 * @returns the halt as it stands now.
 */
export async function noteHalt(
  sql: Sql,
  { reason, detail, confirmed }: { reason: HaltReason; detail: object; confirmed: boolean },
): Promise<HaltState> {
  const [row] = await sql<{ value: HaltState }[]>`
    INSERT INTO settings (name, value, updated_by)
    SELECT 'halted', jsonb_build_object('reason', ${reason}::text, 'since', iso(clock_timestamp()),
      'detail', ${jsonRows([detail])}::text::jsonb -> 0, 'looks', 1, 'sealed', false), 'pass'
    ON CONFLICT (name) DO UPDATE SET updated_at = now(), value = settings.value || jsonb_build_object(
      'reason', excluded.value -> 'reason', 'detail', excluded.value -> 'detail', 'looks', (settings.value ->> 'looks')::int + 1,
      'sealed', (settings.value ->> 'sealed')::boolean OR (${confirmed} AND (settings.value ->> 'looks')::int + 1 >= ${SEAL_LOOKS}
        AND clock_timestamp() - (settings.value ->> 'since')::timestamptz >= make_interval(secs => ${SEAL_SEC})))
    RETURNING value`
  if (!row) throw new Error('the halt was not returned')
  if (row.value.looks === 1) await writeAudit(sql, { actor: 'pass', action: 'halted', detail: { reason, ...detail } })
  return row.value
}

/** Withdraws a halt that is not sealed: all is well again. @returns whether there was one. */
export async function withdrawHalt(sql: Sql): Promise<boolean> {
  const removed = await sql`DELETE FROM settings WHERE name = 'halted' AND NOT (value ->> 'sealed')::boolean`
  if (removed.count > 0) await writeAudit(sql, { actor: 'pass', action: 'haltWithdrawn', detail: {} })
  return removed.count > 0
}

/**
 * Clears a halt by the operator's word. One for a reorganisation past what was final is thereby accepted: what was noted as final is
 * forgotten, so that the passes may follow it. @returns the halt there was, or null.
 */
export async function clearHalt(
  sql: Sql,
  actor: string,
  { requestId = null, note = null }: { requestId?: string | null; note?: string | null } = {},
): Promise<HaltState | null> {
  const halt = await readHalt(sql)
  if (!halt) return null
  await clearSetting(sql, 'halted')
  if (halt.reason === 'pastFinalized') await clearSetting(sql, 'finalized')
  await writeAudit(sql, { actor, action: 'resumed', detail: { ...halt, note }, requestId })
  return halt
}

/** The highest block that was final when it was followed; null before any was. */
export async function readFinalized(sql: Sql): Promise<{ number: number; hash: string } | null> {
  return (await readSetting(sql, 'finalized')) as { number: number; hash: string } | null
}
