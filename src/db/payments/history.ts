// Everything that happened to a payment, oldest first, whether by a block, a pass, an account or a person.
import type { Sql } from '../core/sql.ts'
import { type PaymentKey, where } from './decisions.ts'

/** One event. `by` is the block, pass, account or person that caused it. */
export interface PaymentEvent {
  /** ISO 8601. */
  at: string
  what: string
  by: string
  detail: unknown
}

/** Reads the events of every payment that the key selects; empty if it selects none. The cost depends only on these payments' own events. */
export async function readPaymentHistory(sql: Sql, key: PaymentKey): Promise<PaymentEvent[]> {
  return await sql<PaymentEvent[]>`
    WITH named AS MATERIALIZED (SELECT * FROM payments p WHERE ${where(sql, key)}),
    happened AS (
      SELECT block_time AS at, 0 AS place, 'paid' AS what, coalesce('block ' || block_number, 'a block that was taken back') AS by,
        jsonb_build_object('payment', id, 'valueWei', value_wei::text, 'from', from_address) AS detail FROM named
      UNION ALL
      SELECT v.decided_at, 1, v.verdict || coalesce(' ' || v.reason, ''), v.decided_by, v.evidence
        FROM payment_verdicts v JOIN named n ON n.id = v.payment_id
      UNION ALL
      SELECT v.withdrawn_at, 1, v.verdict || ' withdrawn', v.withdrawn_by, '{}' FROM payment_verdicts v JOIN named n ON n.id = v.payment_id
        WHERE v.withdrawn_at IS NOT NULL
      UNION ALL
      SELECT a.signed_at, 2, o.kind || ' signed', o.sender, jsonb_build_object('txHash', a.tx_hash, 'nonce', o.nonce, 'attempt', a.attempt)
        FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id JOIN named n ON n.outbox_id = o.id
      UNION ALL
      SELECT a.last_sent_at, 3, o.kind || ' sent', o.sender,
        jsonb_build_object('txHash', a.tx_hash, 'times', a.sends, 'outcome', a.last_outcome)
        FROM outbox_attempts a JOIN outbox o ON o.id = a.outbox_id JOIN named n ON n.outbox_id = o.id WHERE a.last_sent_at IS NOT NULL
      UNION ALL
      SELECT o.block_time, 4, o.kind || ' ' || o.state, 'block ' || o.block_number, jsonb_build_object('txHash', o.tx_hash, 'feeWei', o.fee_wei::text)
        FROM outbox o JOIN named n ON n.outbox_id = o.id WHERE o.block_time IS NOT NULL
      UNION ALL
      SELECT m.minted_at, 5, 'node ' || m.node_id, 'block ' || m.block_number, jsonb_build_object('owner', m.owner)
        FROM nodes m JOIN named n ON n.node_id = m.node_id
      UNION ALL
      SELECT r.recorded_at, 6, 'refund recorded', r.recorded_by, jsonb_build_object('txHash', r.tx_hash, 'block', r.block_number)
        FROM refunds r JOIN named n ON n.ref = r.payment_ref
      UNION ALL
      SELECT a.at, 7, 'audit: ' || a.action, a.actor, a.detail FROM audit a
        WHERE a.subject IN (SELECT tx_hash FROM named UNION SELECT ref FROM named UNION SELECT id::text FROM named WHERE tx_hash IS NULL)
    )
    SELECT iso(at) AS at, what, by, detail FROM happened ORDER BY happened.at, place`
}
