// Our signer accounts' transactions, for the operator: their purpose, every signed attempt, their outcome. Pages start after an id, so all pages cost
// the same.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'

export const TRANSACTION_STATES = ['pending', 'mined', 'reverted', 'displaced'] as const

/** How many payments we list for one mint. A batch has a few hundred at most, and we show their number. */
const PAYMENTS_SHOWN = 100

export interface TransactionsQuery {
  sender: Address | null
  status: string | null
  /** Only rows with a lower id. */
  before: number | null
  limit: number
}

/** One page, newest first. Amounts are decimal strings. */
export async function readTransactions(
  sql: Sql,
  { sender, status, before, limit }: TransactionsQuery,
): Promise<{ id: number }[]> {
  return await sql<{ id: number }[]>`
    SELECT o.id, o.sender, o.nonce, CASE WHEN o.state = 'displaced' AND o.kind <> 'foreign' THEN o.kind || ' (displaced)' ELSE o.kind END AS kind,
      o.state AS status, o.tx_hash AS "txHash", o.to_address AS "to", o.value_wei::text AS "valueWei", o.gas_limit AS "gasLimit",
      o.gas_used AS "gasUsed", o.fee_wei::text AS "feeWei", o.block_number AS "blockNumber", iso(o.created_at) AS "createdAt",
      CASE WHEN o.state = 'pending' THEN extract(epoch FROM clock_timestamp() - o.created_at)::int END AS "pendingSec",
      CASE WHEN o.state = 'pending' THEN greatest(0, (SELECT block_number FROM cursors WHERE name = 'follow')
        - (SELECT min(signed_at_block) FROM outbox_attempts a WHERE a.outbox_id = o.id)) END AS "pendingBlocks",
      (o.call ->> 'round')::bigint AS "distributionId",
      jsonb_array_length(coalesce(o.call -> 'orders', '[]')) AS orders,
      jsonb_array_length(coalesce(o.call -> 'openings', '[]')) AS openings,
      coalesce((SELECT jsonb_agg(jsonb_build_object('ref', asked.ref, 'txHash', p.tx_hash, 'status', p.state,
          'nodeId', p.node_id::text) ORDER BY asked.place)
        FROM (SELECT entry ->> 'ref' AS ref, place FROM jsonb_array_elements(o.call -> 'orders') WITH ORDINALITY AS e(entry, place)
          LIMIT ${PAYMENTS_SHOWN}) asked
        LEFT JOIN payments p ON p.ref = asked.ref), '[]') AS payments,
      coalesce((SELECT jsonb_agg(jsonb_build_object('txHash', a.tx_hash, 'attempt', a.attempt, 'maxFeeWei', a.max_fee_wei::text,
          'maxPriorityFeeWei', a.max_priority_fee_wei::text, 'signedAt', iso(a.signed_at), 'signedAtBlock', a.signed_at_block,
          'sends', a.sends, 'lastSentAt', iso(a.last_sent_at), 'lastOutcome', a.last_outcome) ORDER BY a.attempt)
        FROM outbox_attempts a WHERE a.outbox_id = o.id), '[]') AS attempts
    FROM outbox o
    WHERE ${before === null ? sql`true` : sql`o.id < ${before}`}
      ${sender === null ? sql`` : sql`AND o.sender = ${sender}`} ${status === null ? sql`` : sql`AND o.state = ${status}`}
    ORDER BY o.id DESC LIMIT ${limit}`
}

/** A transaction that we signed long ago and that is in no followed block. */
export interface StuckRow {
  id: number
  sender: Address
  nonce: number
  kind: string
  /** Blocks since its first attempt was signed. */
  pendingBlocks: number
  attempts: number
  /** The providers' answer to the last attempt (null before they answered), and that attempt's maximum gas price. */
  lastOutcome: string | null
  maxFeeWei: bigint
  /** The base fee of the last followed block; null if the chain has none. */
  baseFeeWei: bigint | null
  /** True if it has expired and could only revert. */
  isOver: boolean
  /** True if another transaction of the same signer account, with a lower nonce, is pending too. */
  isBehind: boolean
}

/** Pending transactions whose first attempt is at least `blocks` old, lowest nonce first. */
export async function readStuck(sql: Sql, blocks: number): Promise<StuckRow[]> {
  return await sql<StuckRow[]>`
    SELECT o.id, o.sender, o.nonce, o.kind, c.block_number - a.first AS "pendingBlocks", a.attempts, a."lastOutcome",
      a."maxFeeWei", (SELECT base_fee_wei FROM block_fees ORDER BY number DESC LIMIT 1) AS "baseFeeWei",
      o.valid_until < c.block_time AS "isOver",
      EXISTS (SELECT FROM outbox before WHERE before.sender = o.sender AND before.state = 'pending' AND before.nonce < o.nonce) AS "isBehind"
    FROM outbox o JOIN cursors c ON c.name = 'follow'
    CROSS JOIN LATERAL (SELECT min(signed_at_block) AS first, count(*)::int AS attempts,
      (array_agg(last_outcome ORDER BY attempt DESC))[1] AS "lastOutcome", (array_agg(max_fee_wei ORDER BY attempt DESC))[1]::numeric AS "maxFeeWei"
      FROM outbox_attempts WHERE outbox_id = o.id) a
    WHERE o.state = 'pending' AND c.block_number - a.first >= ${blocks} ORDER BY o.sender, o.nonce`
}

/** The last gas price that a signer account paid, in wei, rounded up; null before its first transaction. */
export async function readLastGasPrice(sql: Sql, sender: Address): Promise<bigint | null> {
  const [row] = await sql<{ wei: bigint }[]>`
    SELECT ceil(fee_wei::numeric / gas_used) AS wei FROM outbox WHERE sender = ${sender} AND gas_used > 0 ORDER BY id DESC LIMIT 1`
  return row?.wei ?? null
}

/** True if a signer account has a transaction that is in no followed block yet. */
export async function hasPending(sql: Sql, sender: Address): Promise<boolean> {
  const rows = await sql`SELECT FROM outbox WHERE sender = ${sender} AND state = 'pending' LIMIT 1`
  return rows.length > 0
}

/** One page of rounds, newest first, each with its credits, its skips and its cost. `id` is the round's number. */
export async function readRounds(
  sql: Sql,
  { before, limit }: { before: number | null; limit: number },
): Promise<{ id: number }[]> {
  return await sql<{ id: number }[]>`
    SELECT r.round AS id, r.mode, r.total_wei::text AS "totalWei", r.node_count AS "nodeCount", iso(r.created_at) AS "createdAt",
      r.tx_hash AS "txHash", r.block_number AS "blockNumber", o.gas_used AS "gasUsed", o.fee_wei::text AS "feeWei",
      coalesce((SELECT jsonb_agg(jsonb_build_object('cohort', t.cohort, 'tierId', t.tier_id, 'due', iso(to_timestamp(t.due)),
          'turns', t.turns, 'seedBlock', t.seed_block, 'amountWei', t.amount_wei::text, 'nodeCount', t.node_count) ORDER BY t.cohort)
        FROM turns t WHERE t.round = r.round), '[]') AS turns,
      coalesce((SELECT jsonb_agg(jsonb_build_object('cohort', s.cohort, 'due', iso(to_timestamp(s.due)), 'turns', s.turns)
          ORDER BY s.cohort)
        FROM skips s WHERE s.round = r.round), '[]') AS skips
    FROM rounds r LEFT JOIN LATERAL (SELECT gas_used, fee_wei FROM outbox
      WHERE block_number = r.block_number AND tx_hash = r.tx_hash LIMIT 1) o ON true
    WHERE ${before === null ? sql`true` : sql`r.round < ${before}`} ORDER BY r.round DESC LIMIT ${limit}`
}
