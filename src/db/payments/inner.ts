// Stores the inner transfers that a trace shows, as payments, dust or outflows. Skips those already in the ledger.
import type { InnerTransferIn, InnerTransferOut } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { column, type Fragment, jsonRows, type Sql } from '../core/sql.ts'
import { enter, move } from './moves.ts'

type InnerKey = Pick<InnerTransferIn, 'txHash' | 'wallet' | 'innerIndex'>

const keyOf = ({ txHash, wallet, innerIndex }: InnerKey) => `${txHash} ${wallet} ${innerIndex}`

/** Reads which inner transfers of these transactions to wallets are already in the books: as a payment in a block, attributed by hand, or as dust. */
export async function readKnownIn(sql: Sql, txHashes: readonly Hash[]): Promise<(transfer: InnerKey) => boolean> {
  const hashes = [...txHashes]
  const rows = await sql<InnerKey[]>`
    SELECT tx_hash AS "txHash", wallet, inner_index AS "innerIndex" FROM payments
    WHERE tx_hash = ANY(${hashes}) AND inner_index > 0 AND state <> 'orphaned'
    UNION ALL
    SELECT '0x' || encode(d.tx_hash, 'hex'), w.wallet, d.inner_index FROM dust d JOIN payment_wallets w ON w.id = d.wallet_id
    WHERE d.tx_hash = ANY(SELECT decode(substr(h, 3), 'hex') FROM unnest(${hashes}::text[]) h) AND d.inner_index > 0`
  const keys = new Set(rows.map(keyOf))
  return (transfer) => keys.has(keyOf(transfer))
}

/** Reads which inner transfers of these transactions from wallets are already in the books. */
export async function readKnownOut(sql: Sql, txHashes: readonly Hash[]): Promise<(transfer: InnerKey) => boolean> {
  const rows = await sql<InnerKey[]>`
    SELECT tx_hash AS "txHash", wallet, inner_index AS "innerIndex" FROM wallet_outflows
    WHERE tx_hash = ANY(${[...txHashes]}) AND inner_index > 0`
  const keys = new Set(rows.map(keyOf))
  return (transfer) => keys.has(keyOf(transfer))
}

/**
 * Stores inner transfers as payments. If a transfer was reorganised out before, it returns with the operator's decision, provided that decision was
 * about the same block and payer; otherwise it is judged again. `areAgreed`: two providers reported the transfers.
 * @returns how many were added or returned.
 */
export async function insertInnerTransfers(
  sql: Sql,
  transfers: readonly InnerTransferIn[],
  { areAgreed }: { areAgreed: boolean },
): Promise<number> {
  if (transfers.length === 0) return 0
  await reattach(
    sql,
    transfers.map(({ ref }) => ref),
  )
  await withdrawStrayVerdicts(sql, transfers)
  return await enter(sql, 'observe', {
    columns: sql`tx_hash, inner_index, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time, proof`,
    rows: sql`
      SELECT tx_hash, inner_index, ref, wallet, from_address, value_wei, true, block_number, block_hash, tx_index, to_timestamp(block_time),
        ${areAgreed ? 'agreed' : null}::text
      FROM unnest(${column(transfers, 'txHash')}::text[], ${column(transfers, 'innerIndex')}::int[], ${column(transfers, 'ref')}::text[],
          ${column(transfers, 'wallet')}::text[], ${column(transfers, 'from')}::text[], ${column(transfers, 'valueWei')}::numeric[],
          ${column(transfers, 'blockNumber')}::bigint[], ${column(transfers, 'blockHash')}::text[],
          ${column(transfers, 'txIndex')}::int[], ${column(transfers, 'blockTime')}::bigint[])
        AS t(tx_hash, inner_index, ref, wallet, from_address, value_wei, block_number, block_hash, tx_index, block_time)
      ORDER BY block_number, tx_index, inner_index`,
  })
}

/**
 * Restores the earlier identity of transfers that were attributed, and then reorganised out as residues. `where` is a further condition on the
 * attribution `a`.
 */
export async function reattach(sql: Sql, refs: readonly Hash[], where = sql`true`): Promise<void> {
  await sql`
    UPDATE payments p SET ref = a.ref, tx_hash = a.tx_hash, inner_index = a.inner_index FROM attributions a
    WHERE a.ref = ANY(${[...refs]}) AND a.is_rest AND p.ref = a.residue_ref AND p.state = 'orphaned'
      AND ${where} AND NOT EXISTS (SELECT FROM payments q WHERE q.ref = a.ref)`
}

/** Takes residues `p` out of their block, because their transfers are now booked one by one. @returns how many. */
export async function explainResidue(sql: Sql, where: Fragment): Promise<number> {
  return await move(sql, 'explainResidue', { where, set: sql`block_number = NULL, block_hash = NULL, tx_index = NULL` })
}

/** Withdraws verdicts by hand on transfers whose block or payer has changed since the decision. A refund stays on record, because it was paid. */
export async function withdrawStrayVerdicts(
  sql: Sql,
  transfers: readonly Pick<InnerTransferIn, 'ref' | 'blockHash' | 'from'>[],
): Promise<void> {
  await sql`
    UPDATE payment_verdicts v SET withdrawn_at = now(), withdrawn_by = 'pass'
    FROM jsonb_to_recordset(${jsonRows(transfers)}::text::jsonb) AS r(ref text, "blockHash" text, "from" text)
      JOIN payments p ON p.ref = r.ref AND p.state = 'orphaned'
    WHERE v.payment_id = p.id AND v.decided_by <> 'pass' AND v.withdrawn_at IS NULL AND v.verdict IN ('accepted', 'dismissed')
      AND (v.evidence ->> 'blockHash' IS DISTINCT FROM r."blockHash" OR v.evidence ->> 'from' IS DISTINCT FROM r."from")`
}

/** An inner transfer to a wallet that was reorganised out. */
export type OrphanedInner = Pick<InnerTransferIn, 'txHash' | 'innerIndex' | 'from' | 'valueWei'>

/** Inner transfers to a wallet whose block had this time and was reorganised out. */
export async function readOrphanedInner(sql: Sql, wallet: Address, blockTime: number): Promise<OrphanedInner[]> {
  return await sql<OrphanedInner[]>`
    SELECT tx_hash AS "txHash", inner_index AS "innerIndex", from_address AS "from", value_wei AS "valueWei"
    FROM payments q WHERE ${isOrphanedInner(sql)} AND q.wallet = ${wallet} AND q.block_time = to_timestamp(${blockTime})
    ORDER BY tx_hash, inner_index`
}

/**
 * An orphaned inner transfer in a residue's block. It is `settled` if it has its node or was refunded. Then the residue would count its value a
 * second time.
 */
export interface OrphanOfResidue {
  ref: Hash
  txHash: Hash
  settled: boolean
}

/** Orphaned inner transfers in a residue's block, settled ones first. */
export async function readOrphansOfResidue(sql: Sql, residueId: number): Promise<OrphanOfResidue[]> {
  return await sql<OrphanOfResidue[]>`
    SELECT q.ref, q.tx_hash AS "txHash", ${isSettled(sql)} AS settled
    FROM payments q JOIN payments p ON p.wallet = q.wallet AND p.block_time = q.block_time
    WHERE p.id = ${residueId} AND p.tx_hash IS NULL AND ${isOrphanedInner(sql)} ORDER BY settled DESC, q.id`
}

/** SQL: true for a residue `p` of whose value a part has a node or was refunded, so that it is not decided in one piece. */
export const isSpent = (sql: Sql) => sql`(p.tx_hash IS NULL AND EXISTS (SELECT FROM payments q
  WHERE q.wallet = p.wallet AND q.block_time = p.block_time AND ${isOrphanedInner(sql)} AND ${isSettled(sql)}))`

const isSettled = (sql: Sql) =>
  sql`(EXISTS (SELECT FROM nodes n WHERE n.ref = q.ref) OR EXISTS (SELECT FROM refunds r WHERE r.payment_ref = q.ref))`
const isOrphanedInner = (sql: Sql) => sql`(q.state = 'orphaned' AND q.inner_index > 0 AND q.tx_hash IS NOT NULL)`

/** Stores inner transfers from wallets. Other accounts paid the fees of these transactions. */
export async function insertInnerOutflows(sql: Sql, outflows: readonly InnerTransferOut[]): Promise<void> {
  if (outflows.length === 0) return
  await sql`
    INSERT INTO wallet_outflows (ref, tx_hash, inner_index, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
    SELECT ref, "txHash", "innerIndex", wallet, "to", "valueWei", 0, "blockNumber", "blockHash", to_timestamp("blockTime")
    FROM jsonb_to_recordset(${jsonRows(outflows)}::text::jsonb) AS r(ref text, "txHash" text, "innerIndex" int, wallet text, "to" text,
      "valueWei" numeric, "blockNumber" bigint, "blockHash" text, "blockTime" bigint)`
}
