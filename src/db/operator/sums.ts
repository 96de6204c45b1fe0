// The sums that an act lets through: what the rule of the second person is held against.
import type { Address } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import type { PaymentKey } from '../payments/decisions.ts'

/** The value of these payments, each counted once. */
export const sumOfPayments = (sql: Sql, keys: readonly PaymentKey[]): Promise<bigint> =>
  sum(sql, sql`value_wei`, named(sql, keys))

/** The same without those whose refund is prepared already. */
export const sumToPrepare = (sql: Sql, keys: readonly PaymentKey[]): Promise<bigint> =>
  sum(
    sql,
    sql`value_wei`,
    sql`${named(sql, keys)} AND NOT (state = 'held' AND reason IS NOT DISTINCT FROM 'refunding')`,
  )

/**
 * What releasing these payments gives away: their value, or the price of the tier that is named for those of no tier, if that is more. Of the
 * prices that the tier ever had the highest counts.
 */
export const sumToRelease = (sql: Sql, keys: readonly PaymentKey[], tierId: string | null): Promise<bigint> =>
  sum(
    sql,
    sql`greatest(value_wei, CASE WHEN tier_id IS NULL THEN (SELECT max(price_wei) FROM tiers t WHERE t.tier_id = ${tierId}) END)`,
    named(sql, keys),
  )

/** The payments of a wallet that wait: not judged yet, or held for this reason. */
export const sumWaiting = (sql: Sql, from: Address, reason: 'contractWallet' | 'senderDenied'): Promise<bigint> =>
  sum(
    sql,
    sql`value_wei`,
    sql`from_address = ${from} AND (state = 'seen' OR state = 'held' AND reason IS NOT DISTINCT FROM ${reason})`,
  )

/** The highest price of a node's tier: what a grant gives away. Null for a tier that the ledger does not know; 0 for a node that takes no grant. */
export async function worthOfGrant(sql: Sql, nodeId: number): Promise<bigint | null> {
  const [row] = await sql<{ wei: bigint | null }[]>`
    SELECT (SELECT max(price_wei) FROM tiers t WHERE t.tier_no = c.tier_no) AS wei
    FROM nodes n LEFT JOIN cohorts c USING (cohort)
    WHERE n.node_id = ${nodeId} AND n.payment_id IS NULL AND NOT EXISTS (SELECT FROM grants g WHERE g.ref = n.ref)`
  return row ? row.wei : 0n
}

function named(sql: Sql, keys: readonly PaymentKey[]): Fragment {
  const hashes = keys.flatMap((key) => ('txHash' in key ? [key.txHash] : []))
  const ids = keys.flatMap((key) => ('id' in key ? [String(key.id)] : []))
  return sql`(tx_hash = ANY(${hashes}::text[]) OR id = ANY(${ids}::text[]::bigint[]))`
}

async function sum(sql: Sql, wei: Fragment, where: Fragment): Promise<bigint> {
  const [row] = await sql<{ wei: bigint }[]>`SELECT coalesce(sum(${wei}), 0) AS wei FROM payments WHERE ${where}`
  return row?.wei ?? 0n
}
