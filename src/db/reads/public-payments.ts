// The public reads of payments, by transaction and by payer. Nothing here writes, and nothing reveals who is on the operator's deny list. A payment
// from such a wallet looks like any other that waits for a review.
import { PLACELESS } from '../../domain/judgement.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { type Assurance, assuranceOf } from '../payments/assurance.ts'
import { mayStillBuy } from '../payments/waiting.ts'
import { entriesMax } from './public-api.ts'
import { verdictOf } from './public-verdicts.ts'

/** A payment, as the API shows it. */
export interface PaymentRow {
  txHash: Hash
  status: string
  reason: string | null
  from: Address
  assurance: Assurance | null
}

/**
 * The payments of a transaction, for GET /api/payment/:hash and POST /api/payments/claim. Leaves out payments that buy nothing, unless there are no
 * others. Null if the ledger has none.
 */
export async function readPaymentsIn(sql: Sql, txHash: Hash): Promise<PaymentRow[] | null> {
  const rows = await sql<PaymentRow[]>`
    SELECT ${paymentColumns(sql)}, ${verdictOf(sql)} AS verdict FROM ${paymentTables(sql)} WHERE p.tx_hash = ${txHash} ORDER BY p.inner_index, p.wallet`
  const purchases = rows.filter(({ status }) => status !== 'ignored')
  if (purchases.length > 0) return purchases
  return rows.length > 0 ? rows : null
}

/** A transaction's payments as one object: the first, and all of them as `payments`. */
export const inOne = (payments: readonly PaymentRow[]) => ({ ...(payments[0] as PaymentRow), payments })

/** GET /api/payments/:address: this wallet's payments, newest first. Leaves out payments that buy nothing. */
export async function readPaymentsOf(sql: Sql, payer: Address, limit: number): Promise<PaymentRow[]> {
  return await sql<PaymentRow[]>`
    SELECT ${paymentColumns(sql)} FROM ${paymentTables(
      sql,
      sql`(SELECT * FROM payments WHERE from_address = ${payer} AND state <> 'ignored' ORDER BY id DESC LIMIT ${entriesMax(sql)})`,
    )} ORDER BY p.id DESC LIMIT ${limit}`
}

function paymentTables(sql: Sql, payments: Fragment = sql`payments`) {
  return sql`${payments} p LEFT JOIN nodes n ON n.node_id = p.node_id LEFT JOIN refunds r ON r.payment_ref = p.ref`
}

/** The fields of a payment, in display order. An orphaned payment's row keeps a reason that holds nothing now, even one of a transfer that was no sale. */
function paymentColumns(sql: Sql) {
  return sql`p.tx_hash AS "txHash", p.state AS status, CASE WHEN p.state = 'orphaned' THEN NULL WHEN p.reason = 'senderDenied' THEN 'review' ELSE p.reason END AS reason,
    CASE WHEN p.state = 'held' AND p.reason IN ${sql(PLACELESS)} THEN coalesce(${mayStillBuy(sql)}, false) ELSE false END AS "waitsForPlace",
    p.from_address AS "from", p.tier_id AS "tierId", p.value_wei::text AS "valueWei", p.block_number AS "blockNumber",
    CASE WHEN p.block_number IS NOT NULL THEN iso(p.block_time) END AS "paidAt", ${assuranceOf(sql)} AS assurance, p.node_id::text AS "nodeId",
    n.mint_tx_hash AS "mintTxHash", r.tx_hash AS "refundTxHash", iso(p.updated_at) AS "updatedAt"`
}
