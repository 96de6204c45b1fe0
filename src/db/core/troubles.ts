// Troubles that we report to people. One that comes and goes counts as one: we report its start, and it ends once we have not seen it for a while.
// Each has a row in `settings`, so several instances report it once. Times are by the database's clock.
import type { Sql } from './sql.ts'
import { clearState } from './state.ts'

export type Trouble =
  | 'halt'
  | 'proof'
  | 'stuck'
  | `signer ${string}`
  | `role ${string}`
  | `fee ${string}`
  | `funds ${string}`

/**
 * How long we must not see a trouble before it is over. Longer than fees, a provider or a signer usually flap, and short enough for a person who
 * waits to hear.
 */
const CALM_SEC = 600

const rowOf = (trouble: Trouble) => `trouble ${trouble}`

/** Notes that a trouble was seen. @returns true if it begins now, and must be reported. */
export async function noteTrouble(sql: Sql, trouble: Trouble): Promise<boolean> {
  const [row] = await sql<{ begins: boolean }[]>`
    INSERT INTO settings (name, value, updated_by) VALUES (${rowOf(trouble)}, '{}', 'pass')
    ON CONFLICT (name) DO UPDATE SET value = '{}', updated_at = now()
    RETURNING xmax = 0 AS begins`
  return row?.begins ?? false
}

/**
 * Notes that a check did not see a trouble. @returns `over` if it ends with this, which must be reported; `lasting` while it may come back; null if
 * there is none.
 */
export async function noteCalm(sql: Sql, trouble: Trouble): Promise<'over' | 'lasting' | null> {
  const [row] = await sql<{ isOver: boolean }[]>`
    UPDATE settings SET value = value || jsonb_build_object('calmSince', coalesce(value -> 'calmSince', to_jsonb(clock_timestamp())))
    WHERE name = ${rowOf(trouble)}
    RETURNING (value ->> 'calmSince')::timestamptz <= clock_timestamp() - make_interval(secs => ${CALM_SEC}) AS "isOver"`
  if (!row) return null
  if (!row.isOver) return 'lasting'
  await endTrouble(sql, trouble)
  return 'over'
}

/** Ends a trouble because a person acted. If we see it again later, that is a new one. */
export async function endTrouble(sql: Sql, trouble: Trouble): Promise<void> {
  await clearState(sql, rowOf(trouble))
}
