// The back-off of payments that we could not judge because a provider did not give the facts: when we judge each again. Times are block times,
// because the rules use block times.
import type { Fragment, Sql } from '../core/sql.ts'

/** Makes a payment, and its wallet's later payments, wait until a block time. */
export async function retryPaymentAt(sql: Sql, paymentId: number, retryTime: number): Promise<void> {
  await sql`
    INSERT INTO payment_retries (payment_id, retry_time) VALUES (${paymentId}, ${retryTime})
    ON CONFLICT (payment_id) DO UPDATE SET retry_time = excluded.retry_time`
}

/** Removes the retry times of payments that no longer wait for facts. */
export async function forgetRetries(sql: Sql): Promise<void> {
  await sql`DELETE FROM payment_retries r USING payments p WHERE p.id = r.payment_id AND p.state <> 'seen'`
}

/** When each undecided payment is, or was, to be judged again. */
export async function readRetryTimes(sql: Sql): Promise<Map<number, number>> {
  const rows = await sql<{ id: number; time: number }[]>`
    SELECT payment_id AS id, retry_time AS time FROM payment_retries`
  return new Map(rows.map(({ id, time }) => [id, time]))
}

/**
 * True for a payment `p` that backs off at a block time, or waits behind an earlier payment of its wallet that backs off. The query looks up the
 * payments that back off only once. Otherwise the planner may start with all earlier payments of the wallet, and the cost for a wallet with thousands
 * of payments would grow with the square of their number.
 */
export function waitsToBeRetried(sql: Sql, now: number): Fragment {
  return sql`EXISTS (WITH waiting AS MATERIALIZED (
      SELECT first.from_address, first.block_number, first.tx_index, first.inner_index
      FROM payment_retries r JOIN payments first ON first.id = r.payment_id WHERE r.retry_time > ${now} AND first.state = 'seen')
    SELECT FROM waiting WHERE waiting.from_address = p.from_address
      AND (waiting.block_number, waiting.tx_index, waiting.inner_index) <= (p.block_number, p.tx_index, p.inner_index))`
}

/**
 * True for a payment `p` that may be minted again though the contract skipped it, for a full wallet or tier. Once it has done so three times, only once
 * a day: then a figure that we go by is not the contract's.
 */
export function maySkipAgain(sql: Sql): Fragment {
  return sql`(SELECT count(*) < 3 OR max(decided_at) < now() - interval '1 day' FROM payment_verdicts v
    WHERE v.payment_id = p.id AND v.reason IN ('walletLimit', 'supplySpent') AND v.evidence ->> 'by' = 'contract')`
}
