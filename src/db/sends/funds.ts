// The figures from which we judge a signer account's funds: the gas of its transactions, and the maximum cost of the next round.
import { type Spending, USUAL_GAS } from '../../domain/funds.ts'
import { leastGas, MINT_BATCH_MAX } from '../../domain/send.ts'
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** How many of a signer account's last transactions we average. */
const LOOK_BACK = 20

/** What a role's account will spend next. Only in treasury mode do payouts come from the distributor's own ether. */
export async function readSpending(
  sql: Sql,
  { role, address, distMode }: { role: string; address: Address; distMode: string },
): Promise<Spending> {
  const [row] = await sql<{ gas: bigint | null; waiting: number }[]>`
    SELECT (SELECT ceil(avg(gas_used)) FROM (SELECT gas_used FROM outbox WHERE sender = ${address} AND state IN ('mined', 'reverted')
        ORDER BY nonce DESC LIMIT ${LOOK_BACK}) last) AS gas,
      -- As many as one mint may carry.
      (SELECT count(*) FROM (SELECT FROM payments WHERE state = 'accepted' LIMIT ${MINT_BATCH_MAX}) w) AS waiting`
  return {
    waitingGas: role === 'minter' ? leastGas('mint', row?.waiting ?? 0) : 0n,
    gasPerTransaction: row?.gas ?? USUAL_GAS,
    nextRoundWei: role === 'distributor' && distMode === 'treasury' ? await readNextRoundWei(sql) : 0n,
  }
}

/**
 * The most that the next round may pay out: to every cohort that is due or, if none is, to those due next, at the highest draw of the latest terms
 * and the tier's current rate. 0 while the terms switch payouts off.
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
