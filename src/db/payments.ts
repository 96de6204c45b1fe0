// Payments: what arrived at the payments wallet, where it stands, and every verdict on it with its evidence.
import type { Outflow, Transfer } from '../domain/observed.ts'
import type { Evidence, HoldReason, IgnoreReason, Verdict } from '../domain/payment.ts'
import type { Address, Hash, Wei } from '../domain/units.ts'
import { column, jsonRows, type Sql } from './sql.ts'

export type PaymentState =
  | 'seen'
  | 'accepted'
  | 'minting'
  | 'minted'
  | 'held'
  | 'refunded'
  | 'dismissed'
  | 'orphaned'
  | 'ignored'

/** A payment that is in a block. `blockTime` is unix seconds. */
export interface Payment {
  id: number
  txHash: Hash
  ref: Hash
  from: Address
  valueWei: Wei
  succeeded: boolean
  state: PaymentState
  reason: HoldReason | IgnoreReason | null
  tierId: string | null
  tierNo: number | null
  blockNumber: number
  blockHash: Hash
  blockTime: number
  txIndex: number
  innerIndex: number
}

function columns(sql: Sql) {
  return sql`p.id, p.tx_hash AS "txHash", p.ref, p.from_address AS "from", p.value_wei AS "valueWei", p.succeeded, p.state,
    p.reason, p.tier_id AS "tierId", t.tier_no AS "tierNo", p.block_number AS "blockNumber",
    p.block_hash AS "blockHash", extract(epoch FROM p.block_time)::bigint AS "blockTime",
    p.tx_index AS "txIndex", p.inner_index AS "innerIndex"`
}

/** The order in which payments are judged: block, then place in it. Never by id, since a payment may come back elsewhere. */
export function byPlace(a: Payment, b: Payment): number {
  return a.blockNumber - b.blockNumber || a.txIndex - b.txIndex || a.innerIndex - b.innerIndex
}

/**
 * Stores transfers found in blocks. One that a reorganisation had taken out comes back as `seen`, or as the operator last
 * decided it: his decisions outlive the block.
 * @returns how many were not there before.
 */
export async function insertTransfers(sql: Sql, transfers: readonly Transfer[]): Promise<number> {
  if (transfers.length === 0) return 0
  const rows = await sql`
    INSERT INTO payments AS p (tx_hash, ref, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time)
    SELECT tx_hash, tx_hash, from_address, value_wei, succeeded, block_number, block_hash, tx_index, to_timestamp(block_time)
    FROM unnest(${column(transfers, 'txHash')}::text[], ${column(transfers, 'from')}::text[],
        ${column(transfers, 'valueWei')}::numeric[], ${column(transfers, 'succeeded')}::boolean[],
        ${column(transfers, 'blockNumber')}::bigint[], ${column(transfers, 'blockHash')}::text[],
        ${column(transfers, 'txIndex')}::int[], ${column(transfers, 'blockTime')}::bigint[])
      AS r(tx_hash, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time)
    ORDER BY block_number, tx_index
    ON CONFLICT (tx_hash, inner_index) DO UPDATE SET
      (state, reason, tier_id, tier_version) = (
        SELECT coalesce(v.verdict, 'seen'), v.reason,
          -- A release names its tier; the payment has lost it where it came back failed in between.
          CASE WHEN v.verdict IS NOT NULL THEN coalesce(v.evidence ->> 'tierId', p.tier_id) END,
          CASE WHEN v.verdict IS NOT NULL THEN coalesce((v.evidence ->> 'tierVersion')::int, p.tier_version) END
        FROM (VALUES (1)) one(n) LEFT JOIN LATERAL (
          -- A transfer that fails where it came back moved nothing: whatever was decided about it, it is judged anew.
          SELECT verdict, reason, evidence FROM payment_verdicts WHERE payment_id = p.id AND decided_by <> 'pass' AND excluded.succeeded
          ORDER BY id DESC LIMIT 1) v ON true),
      -- A hash stands for one sender and one value: where they differ, a provider had misread them.
      from_address = excluded.from_address, value_wei = excluded.value_wei,
      outbox_id = NULL, succeeded = excluded.succeeded, block_number = excluded.block_number,
      block_hash = excluded.block_hash, tx_index = excluded.tx_index, block_time = excluded.block_time, updated_at = now()
    WHERE p.state = 'orphaned'`
  return rows.count
}

/** Stores what the payments wallet itself sent: the other side of its balance. */
export async function insertOutflows(sql: Sql, outflows: readonly Outflow[]): Promise<void> {
  if (outflows.length === 0) return
  const rows = outflows.map((o) => ({ ...o, valueWei: o.succeeded ? o.valueWei : 0n }))
  await sql`
    INSERT INTO wallet_outflows (ref, tx_hash, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
    SELECT "txHash", "txHash", "to", "valueWei", "feeWei", "blockNumber", "blockHash", to_timestamp("blockTime")
    FROM jsonb_to_recordset(${jsonRows(rows)}::text::jsonb) AS r("txHash" text, "to" text, "valueWei" numeric,
      "feeWei" numeric, "blockNumber" bigint, "blockHash" text, "blockTime" bigint)`
}

/**
 * Payments in one of these states, in the order in which they are judged: block, then position in it. With `walletMax` only those of wallets
 * that hold fewer nodes.
 */
export async function readPayments(
  sql: Sql,
  filter: { states: PaymentState[]; reason?: HoldReason; walletMax?: number; upToBlock: number; limit: number },
): Promise<Payment[]> {
  return await sql<Payment[]>`
    SELECT ${columns(sql)} FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE p.state = ANY(${filter.states}) AND p.block_number <= ${filter.upToBlock}
      ${filter.reason ? sql`AND p.reason = ${filter.reason}` : sql``}
      ${filter.walletMax === undefined ? sql`` : sql`AND coalesce((SELECT o.nodes FROM owners o WHERE o.owner = p.from_address), 0) < ${filter.walletMax}`}
      AND p.from_address IS NOT NULL AND p.tx_hash IS NOT NULL
    ORDER BY p.block_number, p.tx_index, p.inner_index LIMIT ${filter.limit}`
}

/** Payments by id, locked until the transaction ends, in judging order. */
export async function lockPayments(sql: Sql, ids: readonly number[]): Promise<Payment[]> {
  return await sql<Payment[]>`
    SELECT ${columns(sql)} FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE p.id = ANY(${[...ids]}) ORDER BY p.block_number, p.tx_index, p.inner_index FOR UPDATE OF p`
}

/** A payment by its transaction, whatever its state; null when the ledger has none. */
export async function findPayment(
  sql: Sql,
  txHash: Hash,
): Promise<{ id: number; state: PaymentState; blockNumber: number | null } | null> {
  const [row] = await sql<{ id: number; state: PaymentState; blockNumber: number | null }[]>`
    SELECT id, state, block_number AS "blockNumber" FROM payments WHERE tx_hash = ${txHash} AND inner_index = 0`
  return row ?? null
}

/** Payments that still wait for something of ours: seen, accepted or minting. */
export async function countOpenPayments(sql: Sql): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    SELECT count(*) AS open FROM payments WHERE state IN ('seen', 'accepted', 'minting')`
  return row?.open ?? 0
}

/** What a wallet holds and has paid for, of one tier and of all: what the allowance and the cap are counted against. */
export interface WalletUse {
  walletNodes: number
  walletInFlight: number
  tierNodes: number
  tierInFlight: number
}

/** Counts a wallet's nodes and payments in flight. Nodes count by the cohort's tier, however they came. */
export async function readWalletUse(sql: Sql, wallet: Address, tierNo: number | null): Promise<WalletUse> {
  const [row] = await sql<WalletUse[]>`
    SELECT
      (SELECT count(*) FROM nodes WHERE owner = ${wallet}) AS "walletNodes",
      (SELECT count(*) FROM payments WHERE from_address = ${wallet} AND state IN ('accepted', 'minting')) AS "walletInFlight",
      (SELECT count(*) FROM nodes n JOIN cohorts c USING (cohort) WHERE n.owner = ${wallet} AND c.tier_no = ${tierNo}) AS "tierNodes",
      (SELECT count(*) FROM payments p JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
        WHERE p.from_address = ${wallet} AND p.state IN ('accepted', 'minting') AND t.tier_no = ${tierNo}) AS "tierInFlight"`
  return row ?? { walletNodes: 0, walletInFlight: 0, tierNodes: 0, tierInFlight: 0 }
}

/** Serialises judgements about one wallet across instances, until the transaction ends. */
export async function lockWallet(sql: Sql, wallet: Address): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${wallet}, 7))`
}

/** Writes a verdict and what follows from it. The payment must be `seen`, or held `walletLimit`. */
export async function writeVerdict(
  sql: Sql,
  paymentId: number,
  verdict: Exclude<Verdict, { kind: 'undecided' }>,
  evidence: Evidence,
  decidedBy: string,
): Promise<void> {
  const reason = verdict.kind === 'accepted' ? null : verdict.reason
  const tier = verdict.kind === 'ignored' ? null : verdict.tier
  await sql`
    UPDATE payments SET state = ${verdict.kind}, reason = ${reason}, tier_id = ${tier?.tierId ?? null},
      tier_version = ${tier?.version ?? null}, updated_at = now()
    WHERE id = ${paymentId}`
  await sql`
    INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by)
    VALUES (${paymentId}, ${verdict.kind}, ${reason}, ${JSON.stringify(evidence)}::text::jsonb, ${decidedBy})`
}

/** Marks accepted payments as carried by an intent to mint. */
export async function markMinting(sql: Sql, paymentIds: readonly number[], outboxId: number): Promise<void> {
  await sql`
    UPDATE payments SET state = 'minting', outbox_id = ${outboxId}, updated_at = now()
    WHERE id = ANY(${[...paymentIds]}) AND state = 'accepted'`
}

/**
 * Marks the payments whose node was minted. The tier is the verdict's; where the payment had none yet (the mint came first, as
 * when a ledger is rebuilt), the version of the node's tier that was in force. One that is in no followed block stays so.
 * @returns payments minted although they were not on their way: refs of held, refunded or dismissed ones.
 */
export async function markMinted(
  sql: Sql,
  minted: readonly { ref: Hash; nodeId: bigint; tierNo: number }[],
): Promise<Hash[]> {
  if (minted.length === 0) return []
  const rows = await sql<{ ref: Hash; before: PaymentState }[]>`
    WITH minted AS (
      SELECT p.id, r."nodeId", p.state AS before, t.tier_id, t.version
      FROM jsonb_to_recordset(${jsonRows(minted)}::text::jsonb) AS r(ref text, "nodeId" bigint, "tierNo" int)
      JOIN payments p ON p.ref = r.ref AND p.state <> 'orphaned'
      LEFT JOIN LATERAL (
        SELECT tier_id, version FROM tiers WHERE tier_no = r."tierNo"
        ORDER BY (from_block <= p.block_number) DESC, CASE WHEN from_block <= p.block_number THEN version ELSE -version END DESC
        LIMIT 1) t ON true
    )
    UPDATE payments p SET state = 'minted', reason = NULL, node_id = m."nodeId",
      tier_id = coalesce(p.tier_id, m.tier_id),
      tier_version = CASE WHEN p.tier_id IS NULL THEN m.version ELSE p.tier_version END, updated_at = now()
    FROM minted m WHERE p.id = m.id RETURNING p.ref, m.before`
  return rows.filter((row) => ['held', 'refunded', 'dismissed', 'ignored'].includes(row.before)).map((row) => row.ref)
}

/** Gives payments that were just stored (again) the nodes that are on chain for them already. */
export async function adoptNodes(sql: Sql, refs: readonly Hash[]): Promise<void> {
  if (refs.length === 0) return
  const nodes = await sql<{ ref: Hash; nodeId: number; tierNo: number }[]>`
    UPDATE nodes n SET payment_id = p.id FROM payments p, cohorts c
    WHERE n.ref = ANY(${[...refs]}) AND p.ref = n.ref AND p.state <> 'minted' AND c.cohort = n.cohort
    RETURNING n.ref, n.node_id AS "nodeId", c.tier_no AS "tierNo"`
  await markMinted(
    sql,
    nodes.map((node) => ({ ...node, nodeId: BigInt(node.nodeId) })),
  )
}

/** Frees the payments of an intent that was mined without minting them: they are minted anew by a later one. */
export async function releaseUnminted(sql: Sql, outboxIds: readonly number[]): Promise<void> {
  if (outboxIds.length === 0) return
  await sql`
    UPDATE payments SET state = 'accepted', updated_at = now()
    WHERE outbox_id = ANY(${[...outboxIds]}) AND state = 'minting'`
}

/**
 * Frees the payments that wait for an intent of another sender than the one that mints now: its key was replaced, and nobody hands
 * over what it signed any more. @returns their refs.
 */
export async function releaseFromFormer(sql: Sql, minter: Address): Promise<Hash[]> {
  const rows = await sql<{ ref: Hash }[]>`
    UPDATE payments p SET state = 'accepted', updated_at = now() FROM outbox o
    WHERE o.id = p.outbox_id AND p.state = 'minting' AND o.state = 'pending' AND o.sender <> ${minter} RETURNING p.ref`
  return rows.map((row) => row.ref)
}

/** Holds payments whose order the contract skipped: because the wallet was full, or for what no other order would mend. */
export async function holdSkipped(
  sql: Sql,
  refs: readonly Hash[],
  reason: 'walletLimit' | 'mintReverted',
): Promise<void> {
  if (refs.length === 0) return
  const rows = await sql<{ id: number }[]>`
    UPDATE payments SET state = 'held', reason = ${reason}, updated_at = now()
    WHERE ref = ANY(${[...refs]}) AND state IN ('minting', 'accepted') RETURNING id`
  const evidence = JSON.stringify({ rule: reason, by: 'contract' })
  await sql`
    INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by)
    SELECT id, 'held', ${reason}, ${evidence}::text::jsonb, 'pass' FROM unnest(${rows.map((r) => r.id)}::bigint[]) AS id`
}

/**
 * Takes payments back to height: those above it are orphaned; those below whose node was minted above stand again where their
 * last verdict put them, on their way if it accepted them. That a node was minted is no verdict: whoever minted it may have had
 * no leave to. Runs before the nodes go and before the outbox is taken back. @returns how many were orphaned.
 */
export async function rewindPayments(sql: Sql, height: number): Promise<number> {
  await sql`
    UPDATE payments p SET node_id = NULL, updated_at = now(), state = v.state, reason = v.reason, tier_id = v.tier_id,
      tier_version = v.tier_version
    FROM nodes n JOIN payments was ON was.id = n.payment_id CROSS JOIN LATERAL (
      SELECT
        CASE
          WHEN last.verdict IS NULL THEN 'seen'
          WHEN last.verdict = 'accepted' AND EXISTS (SELECT FROM outbox o
            WHERE o.id = was.outbox_id AND (o.state = 'pending' OR o.block_number > ${height})) THEN 'minting'
          ELSE last.verdict END AS state,
        last.reason,
        -- A mint names a tier for a payment that had none; with the mint that goes.
        CASE WHEN last.verdict IS NULL THEN NULL WHEN last.evidence ? 'tierId' THEN last.evidence ->> 'tierId'
          ELSE was.tier_id END AS tier_id,
        CASE WHEN last.verdict IS NULL THEN NULL WHEN last.evidence ? 'tierId' THEN (last.evidence ->> 'tierVersion')::int
          ELSE was.tier_version END AS tier_version
      FROM (VALUES (1)) one(n) LEFT JOIN LATERAL (SELECT verdict, reason, evidence FROM payment_verdicts
        WHERE payment_id = was.id ORDER BY id DESC LIMIT 1) last ON true) v
    WHERE was.id = p.id AND n.block_number > ${height}`
  const orphaned = await sql`
    UPDATE payments SET state = 'orphaned', node_id = NULL, block_number = NULL, block_hash = NULL, tx_index = NULL,
      updated_at = now()
    WHERE block_number > ${height}`
  await sql`DELETE FROM wallet_outflows WHERE block_number > ${height}`
  return orphaned.count
}
