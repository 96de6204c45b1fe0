// GET /api/transaction/:hash: what a transaction did, according to the ledger. Every part uses an index.
import type { Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

/** The most entries in each list. */
const LISTED_MAX = 200

/** What the transaction did; null if the ledger knows nothing about it. A transfer that buys nothing is not listed as a payment. */
export async function readTransaction(sql: Sql, txHash: Hash): Promise<object | null> {
  const [row] = await sql<{ isPayment: boolean; [list: string]: unknown }[]>`
    SELECT EXISTS (SELECT FROM payments WHERE tx_hash = ${txHash} AND state <> 'ignored') AS "isPayment",
      to_json(ARRAY(SELECT node_id::text FROM nodes WHERE mint_tx_hash = ${txHash} ORDER BY node_id LIMIT ${LISTED_MAX})) AS "mintedNodeIds",
      to_json(ARRAY(SELECT round FROM rounds WHERE tx_hash = ${txHash} AND node_count > 0 ORDER BY round LIMIT ${LISTED_MAX})) AS rounds,
      to_json(ARRAY(SELECT p.tx_hash FROM refunds r JOIN payments p ON p.ref = r.payment_ref
        WHERE r.tx_hash = ${txHash} AND p.tx_hash IS NOT NULL GROUP BY p.tx_hash ORDER BY p.tx_hash LIMIT ${LISTED_MAX})) AS "refundedTxHashes",
      to_json(ARRAY(SELECT node_id::text FROM withdrawals WHERE tx_hash = ${txHash} AND status = 'sent' GROUP BY node_id ORDER BY node_id
        LIMIT ${LISTED_MAX})) AS "withdrawnNodeIds"`
  if (!row) return null
  const isKnown = row.isPayment || Object.values(row).some((list) => Array.isArray(list) && list.length > 0)
  return isKnown ? { txHash, ...row } : null
}
