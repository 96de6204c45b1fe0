// The figures for judging a signer account's funds: the gas of its transactions, and the most that the next round may cost.
import { leastMintGas, MINT_BATCH_MAX } from '../../domain/send.ts'
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** The number of a signer account's last transactions in the average. */
const LOOK_BACK = 20

/** Average gas of a signer account's last mined transactions; null if there are none. */
export async function readUsualGas(sql: Sql, sender: Address): Promise<bigint | null> {
  const [row] = await sql<{ gas: bigint | null }[]>`
    SELECT ceil(avg(gas_used)) AS gas FROM (SELECT gas_used FROM outbox WHERE sender = ${sender} AND state IN ('mined', 'reverted')
      ORDER BY nonce DESC LIMIT ${LOOK_BACK}) last`
  return row?.gas ?? null
}

/** Gas of the next mint: for the accepted payments, up to as many as one mint may carry. */
export async function readWaitingMintGas(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ waiting: number }[]>`
    SELECT count(*) AS waiting FROM (SELECT FROM payments WHERE state = 'accepted' LIMIT ${MINT_BATCH_MAX}) w`
  return leastMintGas(row?.waiting ?? 0)
}

/**
 * The most that the next round may pay out: for every cohort that is due, or else those due next, at the highest draw of the latest terms and the
 * tier's present rate. 0 while the terms switch payouts off.
 */
export async function readNextRoundWei(sql: Sql): Promise<bigint> {
  const [row] = await sql<{ wei: bigint }[]>`
    WITH next AS (SELECT greatest(min(next_due), (SELECT block_time FROM cursors WHERE name = 'follow')) AS due
      FROM cohorts WHERE size > 0)
    SELECT coalesce(ceil(sum(c.size * terms.max_wei * t.payout_bps / 10000)), 0) AS wei
    FROM cohorts c CROSS JOIN next
    JOIN tiers t ON t.tier_no = c.tier_no AND t.live
    CROSS JOIN (SELECT max_wei, payouts FROM credit_terms ORDER BY from_time DESC LIMIT 1) terms
    WHERE terms.payouts AND c.size > 0 AND c.next_due <= next.due`
  return row?.wei ?? 0n
}
