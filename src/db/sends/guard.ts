// Whether mints and rounds carry the fork guard. Once used, it is always used, because a provider that says otherwise at a start may lie. Only the
// operator can revoke it.
import type { Sql } from '../core/sql.ts'
import { readState, writeState } from '../core/state.ts'

const NAME = 'guard'

/** `used`: a start, or an earlier transaction of ours, used it; `dropped`: the operator revoked that; null: never used. */
export async function readGuard(sql: Sql): Promise<'used' | 'dropped' | null> {
  const noted = (await readState(sql, NAME)) as 'used' | 'dropped' | null
  if (noted !== null) return noted
  return (await sql`SELECT FROM outbox WHERE guard_block IS NOT NULL LIMIT 1`).count > 0 ? 'used' : null
}

/** Notes that the guard is used. */
export async function noteGuard(sql: Sql): Promise<void> {
  await writeState(sql, NAME, 'used', 'start')
}

/** Lets the next start decide whether to use the guard. */
export async function dropGuard(sql: Sql, by: string): Promise<void> {
  await writeState(sql, NAME, 'dropped', by)
}
