// The public reads of payments, by transaction and by payer. Nothing here writes, and nothing reveals who is on the operator's deny list. A payment
// from such a wallet looks like any other that waits for a review.
import { PLACELESS } from '../../domain/payment.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { assuranceOf } from '../payments/assurance.ts'
import { mayStillBuy } from '../payments/waiting.ts'
import { entriesMax, text } from './public-api.ts'

/** The current states of a transaction's payments, for GET /api/payment/:hash and POST /api/payments/claim. */
export interface TransactionPayments {
  /** JSON object of the answer: the first payment, and all of them as `payments`. */
  json: string
  /** The payments' states, in their order. Leaves out payments that buy nothing, unless there are no others. */
  states: { status: string; reason: string | null }[]
}

/** The payments of a transaction; null if the ledger has none. */
export async function readPaymentsIn(sql: Sql, txHash: Hash): Promise<TransactionPayments | null> {
  const [row] = await sql<{ json: string | null; states: TransactionPayments['states'] | null }[]>`
    WITH made AS (
      SELECT p.inner_index, p.wallet, p.state = 'ignored' AS ignored, ${paymentColumns(sql)} FROM ${paymentTables(sql)}
      WHERE p.tx_hash = ${txHash}
    ), shown AS (
      SELECT * FROM made WHERE NOT ignored OR NOT EXISTS (SELECT FROM made WHERE NOT ignored)
    )
    SELECT (SELECT row_to_json(x)::text FROM (
        SELECT ${shownColumns(sql)},
          (SELECT json_agg(row_to_json(y)) FROM (SELECT ${shownColumns(sql)} FROM shown ORDER BY inner_index, wallet) y) AS payments
        FROM shown ORDER BY inner_index, wallet LIMIT 1) x) AS json,
      (SELECT json_agg(json_build_object('status', status, 'reason', reason) ORDER BY inner_index, wallet) FROM shown) AS states`
  return row?.json && row.states ? { json: row.json, states: row.states } : null
}

/** GET /api/payments/:address: this wallet's payments, newest first, as a JSON array. Leaves out payments that buy nothing. */
export async function readPaymentsOf(sql: Sql, payer: Address, limit: number): Promise<string> {
  return text(
    await sql`
      SELECT array_to_json(ARRAY(SELECT row_to_json(x) FROM (
        SELECT ${shownColumns(sql)} FROM (
          SELECT p.id, ${paymentColumns(sql)} FROM ${paymentTables(sql)}
          WHERE p.from_address = ${payer} AND p.state <> 'ignored' ORDER BY p.id DESC LIMIT ${entriesMax(sql)}) made
        ORDER BY id DESC LIMIT ${limit}) x))::text AS json`,
  )
}

function paymentTables(sql: Sql) {
  return sql`payments p LEFT JOIN nodes n ON n.node_id = p.node_id LEFT JOIN refunds r ON r.payment_ref = p.ref`
}

/** The fields of a payment, in display order. An orphaned payment's row keeps a reason that holds nothing now, even one of a transfer that was no sale. */
function paymentColumns(sql: Sql) {
  return sql`p.tx_hash AS "txHash", p.state AS status, CASE WHEN p.state = 'orphaned' THEN NULL WHEN p.reason = 'senderDenied' THEN 'review' ELSE p.reason END AS reason,
    CASE WHEN p.state = 'held' AND p.reason IN ${sql(PLACELESS)} THEN coalesce(${mayStillBuy(sql)}, false) ELSE false END AS "waitsForPlace",
    p.from_address AS "from", p.tier_id AS "tierId", p.value_wei::text AS "valueWei", p.block_number AS "blockNumber",
    CASE WHEN p.block_number IS NOT NULL THEN iso(p.block_time) END AS "paidAt", ${assuranceOf(sql)} AS assurance, p.node_id::text AS "nodeId",
    n.mint_tx_hash AS "mintTxHash", r.tx_hash AS "refundTxHash", iso(p.updated_at) AS "updatedAt"`
}

/** The fields of `paymentColumns`, selected from its rows. */
function shownColumns(sql: Sql) {
  return sql`"txHash", status, reason, "waitsForPlace", "from", "tierId", "valueWei", "blockNumber", "paidAt", assurance, "nodeId", "mintTxHash", "refundTxHash",
    "updatedAt"`
}
