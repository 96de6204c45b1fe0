// Whether mints and rounds carry the fork guard. Once it was used it is always used: a provider that says otherwise at a start may lie, and
// only the operator takes it back.
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

const NAME = 'guard'

/** `used`: by what a start found, or by an earlier transaction of ours; `dropped`: the operator took that back; null: never used. */
export async function readGuard(sql: Sql): Promise<'used' | 'dropped' | null> {
  const noted = (await readState(sql, NAME)) as 'used' | 'dropped' | null
  if (noted !== null) return noted
  return (await sql`SELECT FROM outbox WHERE guard_block IS NOT NULL LIMIT 1`).count > 0 ? 'used' : null
}

/** Notes that the guard is used. */
export async function noteGuard(sql: Sql): Promise<void> {
  await writeState(sql, NAME, 'used', 'start')
}

/** Has the next start decide by itself whether the guard is used. */
export async function dropGuard(sql: Sql, by: string): Promise<void> {
  await writeState(sql, NAME, 'dropped', by)
}
