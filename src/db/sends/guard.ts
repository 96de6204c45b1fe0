// Whether mints and rounds carry the fork guard. Once used, it is always used. A provider may report at a later start that the chain does not support
// it, but that may be a lie. Only the operator can revoke it.
import type { Fragment, Sql } from '../core/sql.ts'
import { writeState } from '../core/state.ts'

/** SQL: what `readGuard` returns. */
const guardState = (sql: Sql): Fragment => sql`coalesce((SELECT guard FROM ledger_state),
  CASE WHEN (SELECT max(guard_block) FROM outbox) IS NOT NULL THEN 'used' END)`

/** `used`: an earlier start or transaction of ours used it; `dropped`: the operator revoked it; null: it was never used. */
export async function readGuard(sql: Sql): Promise<'used' | 'dropped' | null> {
  const [row] = await sql<{ state: 'used' | 'dropped' | null }[]>`SELECT ${guardState(sql)} AS state`
  return row?.state ?? null
}

/** SQL: true if the guard is used. */
export const isGuarded = (sql: Sql): Fragment => sql`coalesce(${guardState(sql)} = 'used', false)`

/** Notes that the guard is used. */
export async function noteGuard(sql: Sql): Promise<void> {
  await writeState(sql, 'guard', 'used')
}

/** Revokes the guard, so the next start decides whether to use it. */
export async function dropGuard(sql: Sql): Promise<void> {
  await writeState(sql, 'guard', 'dropped')
}
