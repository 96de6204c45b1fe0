// Reads the figures of an account statement for a range of blocks. Every query uses an index over blocks, so the cost grows with the period, not with
// the ledger. Nothing here writes.
import type { Address } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { type Assurance, assuranceOf } from '../payments/assurance.ts'
import { flow } from '../payments/wallet.ts'
import type { Blocks } from './exports.ts'

/** Payments of one tier with the same state and reason. */
export interface PaymentsLine {
  tierId: string | null
  state: string
  reason: string | null
  count: number
  valueWei: bigint
}

/** Payments by tier and by current state and reason. Failed transfers count no value here, because it never arrived. */
export async function readPaymentLines(sql: Sql, { after, upTo }: Blocks): Promise<PaymentsLine[]> {
  return await sql<PaymentsLine[]>`
    SELECT tier_id AS "tierId", state, reason, count(*) AS count, coalesce(sum(value_wei) FILTER (WHERE succeeded), 0) AS "valueWei"
    FROM payments WHERE block_number > ${after} AND block_number <= ${upTo}
    GROUP BY tier_id, state, reason ORDER BY tier_id NULLS LAST, state, reason`
}

/** Payments that arrived, or turns that were credited, with the same assurance. */
export interface AssuranceLine {
  of: 'payments' | 'turns'
  /** Null for turns whose seed the ledger does not have. */
  assurance: Assurance | null
  count: number
  wei: bigint
}

export async function readAssurance(sql: Sql, { after, upTo }: Blocks): Promise<AssuranceLine[]> {
  return await sql<AssuranceLine[]>`
    SELECT of, assurance, sum(n)::bigint AS count, sum(wei) AS wei FROM (
      SELECT 'payments' AS of, ${assuranceOf(sql)} AS assurance, 1 AS n, p.value_wei::numeric AS wei
      FROM payments p WHERE succeeded AND state <> 'ignored' AND block_number > ${after} AND block_number <= ${upTo}
      UNION ALL
      SELECT 'turns', t.proof, t.turns, t.amount_wei * t.node_count
      FROM turns t JOIN rounds r USING (round) WHERE r.block_number > ${after} AND r.block_number <= ${upTo}
    ) lines GROUP BY of, assurance ORDER BY of, assurance NULLS LAST`
}

/** Counts and sums of the period, other than those of payments. */
export interface PeriodTotals {
  nodes: number
  /** Nodes without a payment. */
  nodesUnpaid: number
  /** Expelled nodes that had been paid for. */
  paidNodesExpelled: number
  /** Rounds, the credits of single nodes in them, and the sum of these credits. */
  rounds: number
  credits: number
  creditedWei: bigint
  /** The part of the credits that came with the rounds' own transactions. The other credits came from the contract's surplus. */
  treasuryWei: bigint
  withdrawals: number
  withdrawnWei: bigint
  withdrawalsFailed: number
  refunds: number
  refundedWei: bigint
  /** The part of the refunds that left the payments wallet. */
  refundedFromWalletWei: bigint
}

export async function readHappened(sql: Sql, { after, upTo }: Blocks): Promise<PeriodTotals> {
  const [row] = await sql<PeriodTotals[]>`
    SELECT n.*, x.*, r.*, w.*, f.* FROM
      (SELECT count(*) AS nodes, count(*) FILTER (WHERE payment_id IS NULL) AS "nodesUnpaid"
        FROM nodes WHERE block_number > ${after} AND block_number <= ${upTo}) n,
      (SELECT count(*) AS "paidNodesExpelled" FROM expulsions e JOIN nodes USING (node_id)
        WHERE e.block_number > ${after} AND e.block_number <= ${upTo} AND payment_id IS NOT NULL) x,
      (SELECT count(*) FILTER (WHERE node_count > 0) AS rounds, coalesce(sum(node_count), 0)::bigint AS credits, coalesce(sum(total_wei), 0) AS "creditedWei",
          coalesce(sum(total_wei) FILTER (WHERE mode = 'treasury'), 0) AS "treasuryWei"
        FROM rounds WHERE block_number > ${after} AND block_number <= ${upTo}) r,
      (SELECT count(*) FILTER (WHERE status = 'sent') AS withdrawals,
          coalesce(sum(amount_wei) FILTER (WHERE status = 'sent'), 0) AS "withdrawnWei",
          count(*) FILTER (WHERE status = 'failed') AS "withdrawalsFailed"
        FROM withdrawals WHERE block_number > ${after} AND block_number <= ${upTo}) w,
      (SELECT count(*) AS refunds, coalesce(sum(f.value_wei), 0) AS "refundedWei",
          coalesce(sum(f.value_wei) FILTER (WHERE EXISTS (SELECT FROM wallet_outflows o WHERE o.tx_hash = f.tx_hash)), 0) AS "refundedFromWalletWei"
        FROM refunds f
        WHERE f.commission_of IS NULL AND f.block_number > ${after} AND f.block_number <= ${upTo}) f`
  if (!row) throw new Error('a query that always returns one row returned none')
  return row
}

/** The cost of a signer account's transactions of one kind. */
export interface GasLine {
  sender: Address
  kind: string
  transactions: number
  reverted: number
  gasUsed: bigint
  feeWei: bigint
}

/** Gas by signer account and kind, from the receipts: gas used at the effective price, and a rollup's extra charges. */
export async function readGas(sql: Sql, { after, upTo }: Blocks): Promise<GasLine[]> {
  return await sql<GasLine[]>`
    SELECT sender, CASE WHEN state = 'displaced' THEN 'foreign' ELSE kind END AS kind, count(*) AS transactions,
      count(*) FILTER (WHERE state = 'reverted') AS reverted, coalesce(sum(gas_used), 0)::numeric AS "gasUsed",
      coalesce(sum(fee_wei), 0) AS "feeWei"
    FROM outbox WHERE block_number > ${after} AND block_number <= ${upTo}
    GROUP BY 1, 2 ORDER BY 1, 2`
}

/** Ether that moved into an account (positive) or out of it, by cause. */
export interface Movement {
  what: string
  count: number
  wei: bigint
}

/**
 * SQL: how many refunds and commissions were recorded of an outflow `o`. Of several transfers to one recipient in a transaction, only as many prove one
 * as were recorded of their value, so each has its number among them, `nth`.
 */
const RECORDED = `SELECT count(*) FILTER (WHERE commission_of IS NULL) AS refunds, count(*) AS recorded FROM refunds f
  WHERE f.tx_hash = o.tx_hash AND (o.inner_index = 0 OR f.to_address = o.to_address AND f.value_wei = o.value_wei)`
const NTH = `CASE WHEN inner_index = 0 THEN 1
  ELSE row_number() OVER (PARTITION BY tx_hash, to_address, value_wei, inner_index = 0 ORDER BY inner_index) END AS nth`

/**
 * A payments wallet's movements: every transfer that we saw, dust as one sum, residues that the balance check filed, its outflows, and the fees it
 * paid.
 */
export async function readWalletMovements(sql: Sql, wallet: Address, { after, upTo }: Blocks): Promise<Movement[]> {
  return await sql<Movement[]>`
    SELECT CASE WHEN tx_hash IS NULL THEN 'arrivedUnattributed' WHEN state = 'ignored' THEN 'arrivedIgnored' ELSE 'payments' END AS what,
      count(*) AS count, sum(value_wei) AS wei
    FROM payments WHERE block_number > ${after} AND block_number <= ${upTo} AND succeeded AND wallet = ${wallet} GROUP BY 1
    UNION ALL
    SELECT 'dust', count(*), sum(value_wei) FROM dust d JOIN payment_wallets w ON w.id = d.wallet_id
    WHERE d.block_number > ${after} AND d.block_number <= ${upTo} AND w.wallet = ${wallet} HAVING count(*) > 0
    UNION ALL
    SELECT CASE WHEN o.tx_hash IS NULL THEN 'leftUnattributed'
        WHEN nth <= refunds THEN 'refunds' WHEN nth <= recorded THEN 'commissions' ELSE 'sent' END,
      count(*), -sum(o.value_wei)
    FROM (SELECT *, ${sql.unsafe(NTH)} FROM wallet_outflows
      WHERE block_number > ${after} AND block_number <= ${upTo} AND wallet = ${wallet}) o, LATERAL (${sql.unsafe(RECORDED)}) f GROUP BY 1
    UNION ALL
    SELECT 'fees', count(*), -sum(fee_wei) FROM wallet_outflows
    WHERE block_number > ${after} AND block_number <= ${upTo} AND wallet = ${wallet} HAVING count(*) > 0`
}

/** A signer account's movements: inflows from the payments wallets, value and cost of its transactions, and owners' withdrawals to it. */
export async function readSenderMovements(sql: Sql, sender: Address, { after, upTo }: Blocks): Promise<Movement[]> {
  return await sql<Movement[]>`
    SELECT 'fromPaymentsWallet' AS what, count(*) AS count, sum(value_wei) AS wei FROM wallet_outflows
    WHERE block_number > ${after} AND block_number <= ${upTo} AND to_address = ${sender} HAVING count(*) > 0
    UNION ALL
    SELECT 'withdrawnTo', count(*), sum(amount_wei) FROM withdrawals
    WHERE block_number > ${after} AND block_number <= ${upTo} AND status = 'sent' AND to_address = ${sender} HAVING count(*) > 0
    UNION ALL
    SELECT CASE WHEN r.tx_hash IS NOT NULL THEN 'rounds' ELSE 'sent' END, count(*), -sum(o.value_wei)
    FROM outbox o LEFT JOIN (SELECT DISTINCT tx_hash FROM rounds WHERE block_number > ${after} AND block_number <= ${upTo}) r
      ON r.tx_hash = o.tx_hash
    WHERE o.block_number > ${after} AND o.block_number <= ${upTo} AND o.sender = ${sender} AND o.value_wei > 0
      AND o.to_address IS DISTINCT FROM ${sender} GROUP BY 1
    UNION ALL
    -- The fee is null if we do not know the transaction that took an intent's nonce.
    SELECT 'gas', count(*), -coalesce(sum(fee_wei), 0) FROM outbox
    WHERE block_number > ${after} AND block_number <= ${upTo} AND sender = ${sender} HAVING count(*) > 0
    UNION ALL
    SELECT 'fromSenders', count(*), sum(value_wei) FROM outbox
    WHERE block_number > ${after} AND block_number <= ${upTo} AND sender <> ${sender} AND to_address = ${sender} AND value_wei > 0
    HAVING count(*) > 0`
}

/**
 * The factory's movements: rounds whose value came with them, withdrawals, sweeps, and ether from the payments wallets, a signer account or anyone
 * else.
 */
export async function readFactoryMovements(sql: Sql, factory: Address, { after, upTo }: Blocks): Promise<Movement[]> {
  return await sql<Movement[]>`
    SELECT 'rounds' AS what, count(*) AS count, sum(total_wei) AS wei FROM rounds
    WHERE block_number > ${after} AND block_number <= ${upTo} AND mode = 'treasury' AND node_count > 0 HAVING count(*) > 0
    UNION ALL
    SELECT 'withdrawals', count(*), -sum(amount_wei) FROM withdrawals
    WHERE block_number > ${after} AND block_number <= ${upTo} AND status = 'sent' HAVING count(*) > 0
    UNION ALL
    SELECT 'fromPaymentsWallet', count(*), sum(value_wei) FROM wallet_outflows
    WHERE block_number > ${after} AND block_number <= ${upTo} AND to_address = ${factory} AND value_wei > 0 HAVING count(*) > 0
    UNION ALL
    SELECT 'fromSenders', count(*), sum(o.value_wei) FROM outbox o
    WHERE o.block_number > ${after} AND o.block_number <= ${upTo} AND o.to_address = ${factory} AND o.value_wei > 0
      AND NOT EXISTS (SELECT FROM rounds r WHERE r.tx_hash = o.tx_hash AND r.block_number = o.block_number) HAVING count(*) > 0
    UNION ALL
    SELECT 'swept', count(*), -sum((detail ->> 'amount')::numeric) FROM owner_acts
    WHERE block_number > ${after} AND block_number <= ${upTo} AND name = 'Swept' HAVING count(*) > 0
    UNION ALL
    SELECT 'strayEther', count(*), sum((a.detail ->> 'amount')::numeric) FROM owner_acts a
    WHERE a.block_number > ${after} AND a.block_number <= ${upTo} AND a.name = 'EtherReceived' AND (a.detail ->> 'amount')::numeric > 0
      AND NOT EXISTS (SELECT FROM wallet_outflows o WHERE o.tx_hash = a.tx_hash AND o.wallet = a.detail ->> 'sender' AND o.to_address = ${factory})
      AND NOT EXISTS (SELECT FROM outbox o WHERE o.tx_hash = a.tx_hash AND o.to_address = ${factory} AND o.value_wei > 0)
    HAVING count(*) > 0`
}

/** The contract's debt at a block according to the ledger: all credits up to it, minus all withdrawals. */
export async function readOutstandingAt(sql: Sql, block: number): Promise<bigint> {
  const [row] = await sql<{ wei: bigint }[]>`
    SELECT t.distributed_wei - t.withdrawn_wei
      - (SELECT coalesce(sum(total_wei), 0) FROM rounds WHERE block_number > ${block})
      + (SELECT coalesce(sum(amount_wei), 0) FROM withdrawals WHERE block_number > ${block} AND status = 'sent') AS wei
    FROM totals t`
  return row?.wei ?? 0n
}

/** A payments wallet's balance at a block according to its books; null if its books have no opening balance. */
export async function readBookedWalletAt(sql: Sql, wallet: Address, block: number): Promise<bigint | null> {
  const [row] = await sql<{ wei: bigint }[]>`
    SELECT b.base_wei + b.in_wei - b.out_wei - ${flow(sql, wallet, sql`block_number > ${block}`)} AS wei
    FROM wallet_books b WHERE b.wallet = ${wallet} AND b.base_block <= ${block}`
  return row?.wei ?? null
}
