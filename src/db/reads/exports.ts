// The exports. Each is one statement, with its columns as text in the order of the file. A database cursor reads it, so a million rows need no more
// memory here than a thousand. An index supplies the rows in key order.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { assuranceOf } from '../payments/assurance.ts'
import { COMMISSIONS } from './commissions.ts'
import { NODE_FIELDS, NODE_TABLES } from './public-api.ts'

/** Rows per fetch, about 200 KB. */
const FETCH = 1_000

/** Blocks after `after` up to `upTo`; null for the whole ledger. */
export interface Blocks {
  after: number
  upTo: number
}

/** A column to sum, over all rows or over those that `only` selects. */
export interface Total {
  name: string
  column: string
  only?: { column: string; is: string }
}

export interface ExportForm {
  columns: readonly string[]
  totals: readonly Total[]
  select(sql: Sql, blocks: Blocks | null): ReturnType<Sql>
}

/** Splits lists of column names. */
const columns = (...names: readonly string[]) => names.flatMap((part) => part.split(' '))

const between = (sql: Sql, column: string, blocks: Blocks | null) =>
  blocks ? sql`${sql(column)} > ${blocks.after} AND ${sql(column)} <= ${blocks.upTo}` : sql`true`

/** Every payment in a block, in any state. `soldWei` is the value of the minted ones. */
const payments: ExportForm = {
  columns: columns(
    'id txHash ref from valueWei state reason tierId tierVersion nodeId mintTxHash refundTxHash',
    'blockNumber paidAt updatedAt innerIndex assurance',
  ),
  totals: [
    { name: 'valueWei', column: 'valueWei' },
    { name: 'soldWei', column: 'valueWei', only: { column: 'state', is: 'minted' } },
  ],
  select: (sql, blocks) => sql`
    SELECT p.id::text, p.tx_hash, p.ref, p.from_address, p.value_wei::text, p.state, p.reason, p.tier_id, p.tier_version::text,
      p.node_id::text, n.mint_tx_hash, f.tx_hash, p.block_number::text, iso(p.block_time), iso(p.updated_at),
      p.inner_index::text, ${assuranceOf(sql)}
    FROM payments p LEFT JOIN nodes n ON n.node_id = p.node_id LEFT JOIN refunds f ON f.payment_ref = p.ref
    WHERE p.block_number IS NOT NULL AND ${between(sql, 'p.block_number', blocks)} ORDER BY p.id`,
}

const { nodeId, owner, tierId, priceWei, paymentTxHash, ...fields } = NODE_FIELDS
const { creditedWei, withdrawnWei, balanceWei, mintTxHash, mintedAt, nextCreditAt } = fields
/** A node's columns, by the fields of its page. An expelled node is in cohort 0. */
const NODE_COLUMNS = {
  nodeId,
  owner,
  tierId,
  tierNo: 'c.tier_no::text',
  cohort: 'coalesce(n.cohort, 0)::text',
  priceWei,
  paymentTxHash,
  creditedWei,
  withdrawnWei,
  balanceWei,
  mintTxHash,
  blockNumber: 'n.block_number::text',
  mintedAt,
  nextCreditAt,
}

/** Every node, with its current totals. */
const nodes: ExportForm = {
  columns: Object.keys(NODE_COLUMNS),
  totals: ['creditedWei', 'withdrawnWei', 'balanceWei'].map((name) => ({ name, column: name })),
  select: (sql, blocks) => sql`
    SELECT ${sql.unsafe(Object.values(NODE_COLUMNS).join(', '))} FROM ${sql.unsafe(NODE_TABLES)}
    WHERE ${between(sql, 'n.block_number', blocks)} ORDER BY n.node_id`,
}

const credit = (
  sql: Sql,
) => sql`r.round::text, t.cohort::text, n.node_id::text, n.owner, t.tier_id, iso(to_timestamp(t.due)),
  t.amount_wei::text, r.tx_hash, r.block_number::text, iso(r.created_at), t.proof`

/** Every credit of every node: each turn of its cohort after its mint. Credits of expelled nodes come last. The owner is the current owner. */
const credits: ExportForm = {
  columns: columns('distributionId cohort nodeId owner tierId dueAt amountWei txHash blockNumber createdAt assurance'),
  totals: [{ name: 'amountWei', column: 'amountWei' }],
  select: (sql, blocks) => sql`
    (SELECT ${credit(sql)} FROM rounds r JOIN turns t USING (round) JOIN nodes n ON n.cohort = t.cohort AND n.turns_at_mint < t.turn_no
    WHERE ${between(sql, 'r.block_number', blocks)} ORDER BY r.round, t.cohort, n.node_id)
    UNION ALL
    (SELECT ${credit(sql)} FROM expulsions e CROSS JOIN LATERAL (SELECT * FROM nodes expelled WHERE expelled.node_id = e.node_id OFFSET 0) n
    JOIN turns t ON t.cohort = e.cohort AND t.turn_no > n.turns_at_mint AND t.turn_no <= e.turn_count JOIN rounds r USING (round)
    WHERE ${between(sql, 'r.block_number', blocks)})`,
}

/** Every withdrawal, including failed ones. The total is the value that moved. */
const withdrawals: ExportForm = {
  columns: columns('id nodeId status amountWei withdrawnTotalWei toAddress txHash blockNumber createdAt'),
  totals: [{ name: 'amountWei', column: 'amountWei', only: { column: 'status', is: 'sent' } }],
  select: (sql, blocks) => sql`
    SELECT w.id::text, w.node_id::text, w.status, w.amount_wei::text, w.withdrawn_total_wei::text, w.to_address, w.tx_hash,
      w.block_number::text, iso(w.created_at)
    FROM withdrawals w WHERE ${between(sql, 'w.block_number', blocks)} ORDER BY w.id`,
}

/** Refunds by the operator that the chain proved. `assurance` shows what backs the payment's sender. */
const refunds: ExportForm = {
  columns: columns(
    'paymentRef paymentTxHash refundTxHash from to valueWei blockNumber recordedAt recordedBy innerIndex assurance',
  ),
  totals: [{ name: 'valueWei', column: 'valueWei' }],
  select: (sql, blocks) => sql`
    SELECT f.payment_ref, p.tx_hash, f.tx_hash, f.from_address, f.to_address, f.value_wei::text, f.block_number::text,
      iso(f.recorded_at), f.recorded_by, f.inner_index::text, ${assuranceOf(sql)}
    FROM refunds f LEFT JOIN payments p ON p.ref = f.payment_ref
    WHERE f.commission_of IS NULL AND ${between(sql, 'f.block_number', blocks)} ORDER BY f.block_number, f.payment_ref`,
}

/** Transactions of the minter and the distributor: purpose and cost. */
const transactions: ExportForm = {
  columns: columns('id sender nonce kind state txHash to valueWei gasUsed feeWei attempts blockNumber createdAt'),
  totals: [
    { name: 'feeWei', column: 'feeWei' },
    { name: 'valueWei', column: 'valueWei' },
  ],
  select: (sql, blocks) => sql`
    SELECT o.id::text, o.sender, o.nonce::text, o.kind, o.state, o.tx_hash, o.to_address, o.value_wei::text, o.gas_used::text,
      o.fee_wei::text, (SELECT count(*) FROM outbox_attempts a WHERE a.outbox_id = o.id)::text, o.block_number::text,
      iso(o.created_at)
    FROM outbox o WHERE ${between(sql, 'o.block_number', blocks)} ORDER BY o.id`,
}

/** Outflows of the payments wallet. */
const outflows: ExportForm = {
  columns: ['ref', 'txHash', 'to', 'valueWei', 'feeWei', 'blockNumber', 'blockTime', 'innerIndex'],
  totals: [
    { name: 'valueWei', column: 'valueWei' },
    { name: 'feeWei', column: 'feeWei' },
  ],
  select: (sql, blocks) => sql`
    SELECT w.ref, w.tx_hash, w.to_address, w.value_wei::text, w.fee_wei::text, w.block_number::text, iso(w.block_time),
      w.inner_index::text
    FROM wallet_outflows w WHERE ${between(sql, 'w.block_number', blocks)} ORDER BY w.block_number, w.ref`,
}

/** What codes earned, had reversed and were paid, each in the block where it happened. `assurance` shows what backs the mint. */
const commissions: ExportForm = {
  columns: columns('kind code payee commissionWei valueWei commissionBps paymentTxHash txHash blockNumber assurance'),
  totals: ['earned', 'reversed', 'paid'].map((kind) => ({
    name: `${kind}Wei`,
    column: 'commissionWei',
    only: { column: 'kind', is: kind },
  })),
  select: (sql, blocks) => sql`
    SELECT kind, code, payee, wei::text, value_wei::text, commission_bps::text, payment_tx_hash, tx_hash, block_number::text,
      ${assuranceOf(sql, { proof: 'proof', block: 'minted_block' })}
    FROM (${sql.unsafe(COMMISSIONS)}) c WHERE ${between(sql, 'block_number', blocks)} ORDER BY block_number, tx_hash, kind, code`,
}

export const EXPORT_FORMS = {
  payments,
  nodes,
  credits,
  withdrawals,
  refunds,
  transactions,
  outflows,
  commissions,
} as const
export type ExportKind = keyof typeof EXPORT_FORMS
export const EXPORT_KINDS = Object.keys(EXPORT_FORMS) as ExportKind[]

/**
 * Credits and withdrawals of a wallet, with the ether price of their hour, if known. A credit belongs to whoever owned the node after the round's
 * block, a withdrawal to the owner at that moment. We multiply ether instead of dividing wei, because a quotient is rounded after 16 digits.
 */
export const ownerForm = (owner: Address): ExportForm => ({
  columns: columns(
    'kind at nodeId amountWei amountEther usdPerEther amountUsd distributionId toAddress txHash blockNumber',
  ),
  totals: [
    { name: 'creditedWei', column: 'amountWei', only: { column: 'kind', is: 'credit' } },
    { name: 'withdrawnWei', column: 'amountWei', only: { column: 'kind', is: 'withdrawal' } },
  ],
  select: (sql, blocks) => sql`
    WITH held AS (
      SELECT t.node_id, t.block_number AS from_block, t.log_index AS from_log, gone.block_number AS to_block, gone.log_index AS to_log
      FROM node_transfers t LEFT JOIN LATERAL (
        SELECT block_number, log_index FROM node_transfers g
        WHERE g.node_id = t.node_id AND (g.block_number, g.log_index) > (t.block_number, t.log_index)
        ORDER BY g.block_number, g.log_index LIMIT 1) gone ON true
      WHERE t.to_address = ${owner}
    ), moved AS (
      SELECT 'credit' AS kind, r.created_at AS at, held.node_id, t.amount_wei, r.round, NULL AS to_address, r.tx_hash, r.block_number,
        0 AS log_index
      FROM held JOIN nodes n USING (node_id) LEFT JOIN expulsions e USING (node_id)
      JOIN turns t ON t.cohort = coalesce(n.cohort, e.cohort) AND t.turn_no > n.turns_at_mint AND t.turn_no <= coalesce(e.turn_count, t.turn_no)
      JOIN rounds r ON r.round = t.round
      WHERE r.block_number >= held.from_block AND (held.to_block IS NULL OR r.block_number < held.to_block)
      UNION ALL
      SELECT 'withdrawal', w.created_at, w.node_id, w.amount_wei, NULL, w.to_address, w.tx_hash, w.block_number, w.log_index
      FROM held JOIN withdrawals w USING (node_id)
      WHERE w.status = 'sent' AND (w.block_number, w.log_index) > (held.from_block, held.from_log)
        AND (held.to_block IS NULL OR (w.block_number, w.log_index) < (held.to_block, held.to_log))
    )
    SELECT m.kind, iso(m.at), m.node_id::text, m.amount_wei::text, trim_scale(m.amount_wei::numeric * 1e-18)::text, h.usd::text,
      round(m.amount_wei::numeric * 1e-18 * h.usd::numeric, 2)::text, m.round::text, m.to_address, m.tx_hash, m.block_number::text
    FROM moved m LEFT JOIN price_history h ON h.hour = date_trunc('hour', m.at, 'UTC')
    WHERE ${between(sql, 'm.block_number', blocks)} ORDER BY m.block_number, m.kind, m.node_id, m.round, m.log_index`,
})

/** Fetches an export's rows in batches. `name` is the cursor's name, one per form, because the driver remembers the shape of a cursor's rows. */
export async function openRows(
  sql: Sql,
  name: string,
  form: ExportForm,
  blocks: Blocks | null,
): Promise<() => Promise<readonly (string | null)[][]>> {
  const cursor = sql(`export_${name}`)
  // An export may take long. This is the only place where we lift the limit.
  await sql`SET LOCAL statement_timeout = 0`
  await sql`DECLARE ${cursor} NO SCROLL CURSOR FOR ${form.select(sql, blocks)}`
  return async () =>
    (await sql`FETCH FORWARD ${sql.unsafe(String(FETCH))} FROM ${cursor}`.values()) as (string | null)[][]
}
