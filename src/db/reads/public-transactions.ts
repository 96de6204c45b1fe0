// GET /api/transaction/:hash: what a transaction did, according to the ledger. Every part uses an index.
import type { Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** The most entries in each list. */
const LISTED_MAX = 200

/** What the transaction did, as a JSON object; null if the ledger knows nothing about it. A transfer that buys nothing is not listed as a payment. */
export async function readTransaction(sql: Sql, txHash: Hash): Promise<string | null> {
  const [row] = await sql<{ json: string; isKnown: boolean }[]>`
    WITH found AS (SELECT
      EXISTS (SELECT FROM payments WHERE tx_hash = ${txHash} AND state <> 'ignored') AS paid,
      ARRAY(SELECT node_id::text FROM nodes WHERE mint_tx_hash = ${txHash} ORDER BY node_id LIMIT ${LISTED_MAX}) AS minted,
      ARRAY(SELECT round FROM rounds WHERE tx_hash = ${txHash} AND node_count > 0 ORDER BY round LIMIT ${LISTED_MAX}) AS rounds,
      ARRAY(SELECT p.tx_hash FROM refunds r JOIN payments p ON p.ref = r.payment_ref
        WHERE r.tx_hash = ${txHash} AND p.tx_hash IS NOT NULL GROUP BY p.tx_hash ORDER BY p.tx_hash LIMIT ${LISTED_MAX}) AS refunded,
      ARRAY(SELECT node_id::text FROM withdrawals WHERE tx_hash = ${txHash} AND status = 'sent' GROUP BY node_id ORDER BY node_id
        LIMIT ${LISTED_MAX}) AS withdrawn)
    SELECT json_build_object('txHash', ${txHash}::text, 'isPayment', paid, 'mintedNodeIds', minted, 'rounds', rounds,
        'refundedTxHashes', refunded, 'withdrawnNodeIds', withdrawn)::text AS json,
      paid OR cardinality(minted) + cardinality(rounds) + cardinality(refunded) + cardinality(withdrawn) > 0 AS "isKnown"
    FROM found`
  return row?.isKnown ? row.json : null
}
