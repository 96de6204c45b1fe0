// What referral codes earn. A payment's code is the first in its calldata that was registered and open at its block, unless the code's payee is the
// payer. The code earns once the payment has its node; a refund takes that back. What is due is what was earned, minus what was taken back and what
// was paid. Nothing here writes.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** SQL: payments that became nodes, each with its code, the code's payee, and the commission in wei, rounded down. */
const EARNING = `SELECT p.ref, p.tx_hash, p.value_wei, p.block_number, n.block_number AS minted_block, r.code, r.payee, r.commission_bps,
    div(p.value_wei::numeric * r.commission_bps, 10000) AS wei
  FROM payments p JOIN nodes n ON n.node_id = p.node_id CROSS JOIN LATERAL (
    SELECT v.* FROM unnest(string_to_array(p.codes, ',')) WITH ORDINALITY AS c(code, place) CROSS JOIN LATERAL (
      SELECT * FROM referral_codes v WHERE v.code = c.code AND v.from_block <= p.block_number ORDER BY v.version DESC LIMIT 1) v
    WHERE (to_timestamp(v.opens_at) <= p.block_time) IS NOT FALSE AND (to_timestamp(v.closes_at) > p.block_time) IS NOT FALSE
    ORDER BY c.place LIMIT 1) r
  WHERE p.codes IS NOT NULL AND p.state = 'minted' AND r.payee <> p.from_address`

/** SQL: the books of commissions. One row for each commission earned, taken back or paid, in the block where that happened. */
export const COMMISSIONS = `
  SELECT 'earned' AS kind, code, payee, wei, value_wei, commission_bps, tx_hash AS payment_tx_hash, tx_hash, block_number, minted_block
    FROM (${EARNING}) e
  UNION ALL
  SELECT 'takenBack', e.code, e.payee, e.wei, e.value_wei, e.commission_bps, e.tx_hash, f.tx_hash, f.block_number, e.minted_block
    FROM (${EARNING}) e JOIN refunds f ON f.payment_ref = e.ref
  UNION ALL
  SELECT 'paid', f.commission_of, f.to_address, f.value_wei::numeric, NULL, NULL, NULL, f.tx_hash, f.block_number, NULL
    FROM refunds f WHERE f.commission_of IS NOT NULL`

/** The figures of a code and a payee in a period: how many payments became nodes, what they earned, and what was taken back and paid. */
export interface CommissionLine {
  code: string
  payee: Address
  count: number
  valueWei: bigint
  earnedWei: bigint
  takenBackWei: bigint
  paidWei: bigint
}

const LINE = `code, payee, count(*) FILTER (WHERE kind = 'earned') AS count,
  coalesce(sum(value_wei) FILTER (WHERE kind = 'earned'), 0)::numeric AS "valueWei", coalesce(sum(wei) FILTER (WHERE kind = 'earned'), 0) AS "earnedWei",
  coalesce(sum(wei) FILTER (WHERE kind = 'takenBack'), 0) AS "takenBackWei", coalesce(sum(wei) FILTER (WHERE kind = 'paid'), 0) AS "paidWei"`

export async function readCommissions(
  sql: Sql,
  { after, upTo }: { after: number; upTo: number },
): Promise<CommissionLine[]> {
  return await sql<CommissionLine[]>`
    SELECT ${sql.unsafe(LINE)} FROM (${sql.unsafe(COMMISSIONS)}) c
    WHERE block_number > ${after} AND block_number <= ${upTo} GROUP BY code, payee ORDER BY code, payee`
}

/** The figures of a code and a payee in the whole ledger, with what is due. */
export interface DueCommission extends CommissionLine {
  /** Negative if we have paid more than has been earned so far. Later commissions offset it. */
  dueWei: bigint
  /** When the latest payment file for this line was made, ISO 8601; null if there is none, or if a payment was recorded since. */
  fileMadeAt: string | null
}

/** Earnings count only for nodes minted up to a final block. What was taken back from those, and what was paid, counts from any block. */
export async function readDueCommissions(sql: Sql, final: number): Promise<DueCommission[]> {
  return await sql<DueCommission[]>`
    SELECT *, "earnedWei" - "takenBackWei" - "paidWei" AS "dueWei", (
      SELECT iso(max(a.at)) FROM audit a WHERE a.subject = code AND a.action = 'commissionFileMade'
        AND a.detail -> 'after' ->> 'payee' = payee AND a.at > coalesce((
          SELECT max(f.recorded_at) FROM refunds f WHERE f.commission_of = code AND f.to_address = payee), '-infinity')) AS "fileMadeAt"
    FROM (SELECT ${sql.unsafe(LINE)} FROM (${sql.unsafe(COMMISSIONS)}) c
      WHERE kind = 'paid' OR minted_block <= ${final}
      GROUP BY code, payee) l
    ORDER BY code, payee`
}
