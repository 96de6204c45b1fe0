// The sums of wei that an act gives away, for the two-person rule to compare with its limit.
import { MOVES } from '../../domain/transitions.ts'
import type { Address } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { UNBACKED } from '../nodes/cohorts.ts'
import type { PaymentKey } from '../payments/decisions.ts'

/** The value of these payments, each counted once. */
export const sumOfPayments = (sql: Sql, keys: readonly PaymentKey[]): Promise<bigint> =>
  sum(sql, sql`value_wei`, named(sql, keys))

/** The value of these payments, without payments whose refund is already prepared. */
export const sumToPrepare = (sql: Sql, keys: readonly PaymentKey[]): Promise<bigint> =>
  sum(
    sql,
    sql`value_wei`,
    sql`${named(sql, keys)} AND NOT (state = 'held' AND reason IS NOT DISTINCT FROM 'refunding')`,
  )

/**
 * What the release of these payments gives away. For a payment without a tier, that is its value or the highest price that the named tier ever had,
 * whichever is more; for any other payment, its value.
 */
export const sumToRelease = (sql: Sql, keys: readonly PaymentKey[], tierId: string | null): Promise<bigint> =>
  sum(
    sql,
    sql`greatest(value_wei, CASE WHEN tier_id IS NULL THEN (SELECT max(price_wei) FROM tiers t WHERE t.tier_id = ${tierId}) END)`,
    named(sql, keys),
  )

/**
 * The value of a wallet's waiting payments: those not judged yet, those that the judge decides again, for example once they have a place,
 * and those held for this reason.
 */
export const sumWaiting = (sql: Sql, from: Address, reason: 'contractWallet' | 'senderDenied'): Promise<bigint> =>
  sum(
    sql,
    sql`value_wei`,
    sql`from_address = ${from} AND (state = 'seen' OR state = 'held' AND reason = ANY(${[...MOVES.accept.heldFor, reason]}))`,
  )

/** The highest price of a node's tier, which is what a grant gives away. Null if the ledger does not know the tier; 0 if the node needs no grant. */
export async function worthOfGrant(sql: Sql, nodeId: number): Promise<bigint | null> {
  const [row] = await sql<{ wei: bigint | null }[]>`
    SELECT (SELECT max(price_wei) FROM tiers t WHERE t.tier_no = c.tier_no) AS wei
    FROM nodes n LEFT JOIN cohorts c USING (cohort)
    WHERE n.node_id = ${nodeId} AND ${sql.unsafe(UNBACKED)}`
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
