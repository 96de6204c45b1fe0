// The order of locks. A transaction that waits for a lock while it holds others takes all of them in this order, so no two wait for each other:
//
//   1. a proposal's row  2. a table of terms (LOCK TABLE)  3. the cursor  4. payers' wallets, by address  5. tiers, by number
//   6. payments, in chain order  7. all other rows
//
// Who needs several payments in one transaction locks all their wallets first. Who cannot keep to the order takes a lock without waiting, and tries
// again later. This file owns 4 and 5; `lockPayments` of rows.ts and `readForReview` of decisions.ts take 6.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** Locks payers' wallets until the transaction ends, so that only one instance at a time decides about them. `wait` as in `lockTiers`. */
export async function lockPayers(sql: Sql, wallets: readonly Address[], { wait }: { wait: boolean }): Promise<void> {
  if (wallets.length === 0) return
  const lock = sql.unsafe(lockOf('hashtextextended(w, 7)', wait))
  const inOrder = [...new Set(wallets)].sort()
  const [row] = await sql<{ free: boolean }[]>`SELECT bool_and(${lock}) AS free FROM unnest(${inOrder}::text[]) AS p(w)`
  if (!row?.free) throw new Error('someone else is deciding about one of these wallets')
}

/** Locks tiers until the transaction ends, so that only one instance at a time takes places in them. Without `wait` it throws if a lock is taken. */
export async function lockTiers(sql: Sql, tierNos: readonly number[], { wait }: { wait: boolean }): Promise<void> {
  if (tierNos.length === 0) return
  const lock = sql.unsafe(lockOf('8, n', wait))
  const inOrder = [...tierNos].sort((a, b) => a - b)
  const [row] = await sql<{ free: boolean }[]>`SELECT bool_and(${lock}) AS free FROM unnest(${inOrder}::int[]) AS t(n)`
  if (!row?.free) throw new Error('another session is taking places of one of these tiers')
}

/** SQL: takes a lock, and is false if it is taken. The function that waits returns nothing, so it is never null. */
const lockOf = (key: string, wait: boolean) =>
  wait ? `pg_advisory_xact_lock(${key}) IS NOT NULL` : `pg_try_advisory_xact_lock(${key})`
