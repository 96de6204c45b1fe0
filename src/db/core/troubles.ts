// Troubles that people are told of. One that comes and goes is one trouble: it is told as it begins, and over once nothing was seen of it for a while.
// A row of `settings` each, so that several instances tell it once; the database's clock counts.
import type { Sql } from './sql.ts'
import { clearState } from './state.ts'

export type Trouble = 'halt' | 'proof' | `signer ${string}` | `funds ${string}`

/** Longer than fees, a provider or a signer go up and down for, and short for somebody who waits to hear that it is over. */
const CALM_SEC = 600

const rowOf = (trouble: Trouble) => `trouble ${trouble}`

/** Notes that a trouble was seen. @returns true where it begins: it is to be told. */
export async function noteTrouble(sql: Sql, trouble: Trouble): Promise<boolean> {
  const [row] = await sql<{ begins: boolean }[]>`
    INSERT INTO settings (name, value, updated_by) VALUES (${rowOf(trouble)}, '{}', 'pass')
    ON CONFLICT (name) DO UPDATE SET value = '{}', updated_at = now()
    RETURNING xmax = 0 AS begins`
  return row?.begins ?? false
}

/**
 * Notes that nothing is seen of a trouble. @returns `over` where it ends with this, which is to be told; `lasting` while it may come back; null where
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

/** Ends a trouble by a person's act: what is seen of it later is another one. */
export async function endTrouble(sql: Sql, trouble: Trouble): Promise<void> {
  await clearState(sql, rowOf(trouble))
}
