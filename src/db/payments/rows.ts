// Payments: transfers to the payments wallets, their states, and every verdict on them with its evidence.

import type { HoldReason, IgnoreReason } from '../../domain/judgement.ts'
import type { Incoming, Outflow, Proof, Transfer } from '../../domain/observed.ts'
import { type NodeTier, type NodeTierFacts, nodeTierOf } from '../../domain/tiers.ts'
import type { PaymentState, ReasonAfter } from '../../domain/transitions.ts'
import type { Address, Hash, Wei } from '../../domain/units.ts'
import { column, jsonRows, type Sql } from '../core/sql.ts'
import { isOdd } from '../nodes/cohorts.ts'
import { enter, move, moveAndRead } from './moves.ts'
import { forgetRetries } from './retries.ts'

/** A payment that is in a block. `blockTime` is unix seconds. */
export interface Payment {
  id: number
  txHash: Hash
  ref: Hash
  /** The payments wallet that received it. */
  wallet: Address
  from: Address
  valueWei: Wei
  succeeded: boolean
  state: PaymentState
  reason: HoldReason | IgnoreReason | null
  tierNo: number | null
  blockNumber: number
  blockHash: Hash
  blockTime: number
  txIndex: number
  innerIndex: number
  /** Null if only a person's word or one provider's trace shows who sent it. */
  proof: Proof | null
  /** The type of a transaction without a signature; null for all others. */
  unsignedType: number | null
}

/** The fields of a payment `p` in its tier's version `t`. */
export function paymentColumns(sql: Sql) {
  return sql`p.id, p.tx_hash AS "txHash", p.ref, p.wallet, p.from_address AS "from", p.value_wei AS "valueWei", p.succeeded, p.state,
    p.reason, t.tier_no AS "tierNo", p.block_number AS "blockNumber",
    p.block_hash AS "blockHash", extract(epoch FROM p.block_time)::bigint AS "blockTime",
    p.tx_index AS "txIndex", p.inner_index AS "innerIndex", p.unsigned_type AS "unsignedType", p.proof`
}

/** Stores transfers found in blocks. @returns how many are new. */
export async function insertIncomingTransfers(
  sql: Sql,
  transfers: readonly (Incoming & Partial<Pick<Transfer, 'type' | 'isUnsigned' | 'proof' | 'codes'>>)[],
): Promise<number> {
  if (transfers.length === 0) return 0
  const unsignedTypes = transfers.map(({ type, isUnsigned }) => (isUnsigned && type !== undefined ? type : null))
  return await enter(sql, 'observe', {
    columns: sql`tx_hash, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time, unsigned_type, proof, codes`,
    rows: sql`
      SELECT tx_hash, tx_hash, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, to_timestamp(block_time),
        unsigned_type, proof, codes
      FROM unnest(${column(transfers, 'txHash')}::text[], ${column(transfers, 'wallet')}::text[], ${column(transfers, 'from')}::text[],
          ${column(transfers, 'valueWei')}::numeric[], ${column(transfers, 'succeeded')}::boolean[],
          ${column(transfers, 'blockNumber')}::bigint[], ${column(transfers, 'blockHash')}::text[],
          ${column(transfers, 'txIndex')}::int[], ${column(transfers, 'blockTime')}::bigint[], ${unsignedTypes}::int[],
          ${transfers.map(({ proof }) => proof ?? null)}::text[], ${transfers.map(({ codes }) => codes ?? null)}::text[])
        AS t(tx_hash, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time, unsigned_type, proof, codes)
      ORDER BY block_number, tx_index`,
  })
}

/** Updates what backs the payments of a block that rested on one provider's word. */
export async function noteProof(
  sql: Sql,
  { blockHash, txHashes }: { blockHash: Hash; txHashes: readonly Hash[] },
  proof: Exclude<Proof, 'believed'>,
): Promise<void> {
  await sql`
    WITH counted AS (
      UPDATE payments SET proof = ${proof}
      WHERE block_hash = ${blockHash} AND tx_hash = ANY(${[...txHashes]}) AND proof = 'believed' RETURNING id)
    DELETE FROM payment_retries WHERE payment_id IN (SELECT id FROM counted)`
}

/** True if a payment of that block rests on one provider's word. `isOpen`: true if two providers may still agree on it, because it is not decided. */
export async function hasBelieved(sql: Sql, blockNumber: number, { isOpen = false } = {}): Promise<boolean> {
  const rows = await sql`
    SELECT FROM payments WHERE block_number = ${blockNumber} AND proof = 'believed'
      AND (${!isOpen} OR state IN ('seen', 'accepted', 'minting', 'held')) LIMIT 1`
  return rows.count > 0
}

/** Stores outflows of the payments wallets, so that the books can account for their balances. */
export async function insertOutflows(sql: Sql, outflows: readonly Outflow[]): Promise<void> {
  if (outflows.length === 0) return
  const rows = outflows.map((o) => ({ ...o, valueWei: o.succeeded ? o.valueWei : 0n }))
  await sql`
    INSERT INTO wallet_outflows (ref, tx_hash, wallet, to_address, value_wei, fee_wei, block_number, block_hash, block_time)
    SELECT "txHash", "txHash", wallet, "to", "valueWei", "feeWei", "blockNumber", "blockHash", to_timestamp("blockTime")
    FROM jsonb_to_recordset(${jsonRows(rows)}::text::jsonb) AS r("txHash" text, wallet text, "to" text, "valueWei" numeric,
      "feeWei" numeric, "blockNumber" bigint, "blockHash" text, "blockTime" bigint)`
}

/**
 * Payments by id, locked until the transaction ends, in judging order. Without `wait` it throws if a payment is locked, because waiting for a lock
 * while holding others risks a deadlock.
 */
export async function lockPayments(sql: Sql, ids: readonly number[], { wait } = { wait: true }): Promise<Payment[]> {
  const payments = await sql<Payment[]>`
    SELECT ${paymentColumns(sql)} FROM payments p LEFT JOIN tiers t ON t.tier_id = p.tier_id AND t.version = p.tier_version
    WHERE p.id = ANY(${[...ids]}) ORDER BY p.block_number, p.tx_index, p.inner_index FOR UPDATE OF p ${wait ? sql`` : sql`SKIP LOCKED`}`
  if (!wait && payments.length < ids.length) throw new Error('someone else is deciding about one of these payments')
  return payments
}

/**
 * Locks payments that we read before, as `lockPayments` does. @returns the ids of those that are as they were: not decided elsewhere, and not removed by
 * a reorganisation.
 */
export async function lockUnchanged(
  sql: Sql,
  payments: readonly Payment[],
  options: { wait: boolean },
): Promise<Set<number>> {
  const ids = payments.map(({ id }) => id)
  const current = new Map((await lockPayments(sql, ids, options)).map((payment) => [payment.id, payment]))
  const isUnchanged = ({ id, state, reason, blockHash }: Payment) => {
    const now = current.get(id)
    return now?.state === state && now.reason === reason && now.blockHash === blockHash
  }
  return new Set(payments.filter(isUnchanged).map(({ id }) => id))
}

/** The payments that a transaction made, in any state: its own transfer, then those of its inner calls, in order. */
export async function findPayments(
  sql: Sql,
  txHash: Hash,
): Promise<{ id: number; state: PaymentState; blockNumber: number | null }[]> {
  return await sql<{ id: number; state: PaymentState; blockNumber: number | null }[]>`
    SELECT id, state, block_number AS "blockNumber" FROM payments WHERE tx_hash = ${txHash} ORDER BY inner_index, wallet`
}

/** Payments that this service still has to process: seen, accepted or minting. */
export async function countOpenPayments(sql: Sql): Promise<number> {
  const [row] = await sql<{ open: number }[]>`
    SELECT count(*) AS open FROM payments WHERE state IN ('seen', 'accepted', 'minting')`
  return row?.open ?? 0
}

/** Marks accepted payments as being minted by an intent. */
export async function markMinting(sql: Sql, paymentIds: readonly number[], outboxId: number): Promise<void> {
  await move(sql, 'startMinting', { where: sql`p.id = ANY(${[...paymentIds]})`, set: sql`outbox_id = ${outboxId}` })
}

/** A node on chain for a payment, minted to the wallet that paid. */
interface NodeOfPayment {
  paymentId: number
  ref: Hash
  nodeId: number
  tierNo: number
  valueWei: Wei
  state: PaymentState
  /** Whether the node's tier is the tier that was paid for. */
  tier: NodeTier
}

/** The outcome of assigning nodes to payments. */
export interface AdoptedPayment {
  /** Payments that were minted although they were held, refunded, dismissed or ignored. */
  surprises: MintSurprise[]
  /** Nodes whose tier may not be the tier that was paid for. We report each node once. */
  toConfirm: NodeOfPayment[]
  /** Nodes whose tier is not the tier that was paid for, so they do not belong to the payments. */
  others: NodeOfPayment[]
}

/** A payment that was minted but should not have been. `before` is its state before the mint. */
export interface MintSurprise {
  ref: Hash
  before: PaymentState
  heldFor: HoldReason | IgnoreReason | null
}

/**
 * Assigns the nodes of these refs to payments in followed blocks, if a node was minted to the wallet that paid and in the tier that was paid for. All
 * other nodes stay without a payment.
 */
export async function adoptNodes(sql: Sql, refs: readonly Hash[]): Promise<AdoptedPayment> {
  if (refs.length === 0) return { surprises: [], toConfirm: [], others: [] }
  const nodes = await readNodesOfPayments(sql, refs)
  const adoptedNodes = nodes.filter(({ tier }) => tier !== 'other')
  const toConfirm = await neverTold(
    sql,
    nodes.filter(({ tier }) => tier === 'unknown'),
  )
  return {
    surprises: await markMinted(sql, adoptedNodes),
    toConfirm,
    others: nodes.filter(({ tier }) => tier === 'other'),
  }
}

/** The nodes of these refs that were minted to the wallets that paid, in order of their ids. */
async function readNodesOfPayments(sql: Sql, refs: readonly Hash[]): Promise<NodeOfPayment[]> {
  const rows = await sql<(Omit<NodeOfPayment, 'tier'> & NodeTierFacts)[]>`
    SELECT p.id AS "paymentId", p.ref, n.node_id AS "nodeId", c.tier_no AS "tierNo", p.value_wei AS "valueWei", p.state, p.state <> 'seen' AS "isJudged",
      p.succeeded, ${isOdd(sql)} AS "isOdd", paid.tier_no AS "paidTierNo", p.inner_index AS "innerIndex", prices.of_tier AS "isTierPrice", prices.in_force AS "isPriceInForce",
      p.block_number <= (SELECT recheck_up_to FROM ledger_state) AS "beforeRestore"
    FROM nodes n
    JOIN payments p ON p.ref = n.ref AND p.state NOT IN ('orphaned', 'minted')
      AND p.from_address = coalesce((SELECT t.to_address FROM node_transfers t WHERE t.node_id = n.node_id
        ORDER BY t.block_number, t.log_index LIMIT 1), n.owner)
    JOIN cohorts c ON c.cohort = coalesce(n.cohort, (SELECT e.cohort FROM expulsions e WHERE e.node_id = n.node_id))
    LEFT JOIN tiers paid ON paid.tier_id = p.tier_id AND paid.version = p.tier_version
    CROSS JOIN LATERAL ( -- The versions up to the payment's block at its price: whether one is of the node's tier, and whether one was in force there.
      SELECT bool_or(v.tier_no = c.tier_no) AS of_tier, bool_or(NOT EXISTS (SELECT FROM tiers later
        WHERE later.tier_id = v.tier_id AND (later.from_time, later.version) > (v.from_time, v.version) AND later.from_block <= p.block_number)) AS in_force
      FROM tiers v WHERE v.price_wei = p.value_wei AND v.from_block <= p.block_number) prices
    WHERE n.ref = ANY(${[...refs]}) ORDER BY n.node_id`
  return rows.map((row) => {
    const { paymentId, ref, nodeId, tierNo, valueWei, state } = row
    return { paymentId, ref, nodeId, tierNo, valueWei, state, tier: nodeTierOf(row) }
  })
}

/** The nodes that the audit log has not yet reported. */
async function neverTold(sql: Sql, nodes: readonly NodeOfPayment[]): Promise<NodeOfPayment[]> {
  if (nodes.length === 0) return []
  const refs = nodes.map(({ ref }) => ref)
  const reports = await sql<{ subject: string }[]>`
    SELECT DISTINCT subject FROM audit WHERE subject = ANY(${refs}) AND action = 'nodeToConfirm'`
  return nodes.filter(({ ref }) => !reports.some(({ subject }) => subject === ref))
}

/**
 * Links nodes to their payments, and marks the payments as minted. A payment keeps the tier of its verdict. If there is none yet (the mint came first,
 * as in a rebuild), it gets the version of the node's tier that was in force in the payment's block; if none was, the tier's first.
 */
async function markMinted(sql: Sql, nodes: readonly NodeOfPayment[]): Promise<MintSurprise[]> {
  if (nodes.length === 0) return []
  const rows = sql`jsonb_to_recordset(${jsonRows(nodes)}::text::jsonb) AS r("paymentId" bigint, "nodeId" bigint, "tierNo" int)`
  await sql`UPDATE nodes n SET payment_id = r."paymentId" FROM ${rows} WHERE n.node_id = r."nodeId"`
  const chosenRows = sql`
    SELECT p.id, r."nodeId", p.state AS before, p.reason AS held_for, t.tier_id, t.version
    FROM ${rows} JOIN payments p ON p.id = r."paymentId"
    LEFT JOIN LATERAL (
      (SELECT 1 AS choice, tier_id, version FROM tiers WHERE tier_no = r."tierNo" AND from_block <= p.block_number ORDER BY from_time DESC, version DESC LIMIT 1)
      UNION ALL
      (SELECT 2, tier_id, version FROM tiers WHERE tier_no = r."tierNo" AND from_block > p.block_number ORDER BY from_time, version LIMIT 1)
      ORDER BY choice LIMIT 1) t ON true`
  const set = sql`node_id = c."nodeId", tier_id = coalesce(p.tier_id, c.tier_id), tier_version = coalesce(p.tier_version, c.version)`
  const mints = await moveAndRead(
    sql,
    'recordMint',
    { chosen: chosenRows, where: sql`p.id = c.id`, set, returning: sql`c.before, c.held_for` },
    sql<MintSurprise[]>`ref, before, held_for AS "heldFor"`,
  )
  return mints.filter((row) => ['held', 'refunded', 'dismissed', 'ignored'].includes(row.before))
}

/** The refs among these that have a node. For hundreds of refs this is much faster than the statements that examine each node. */
export async function readRefsOfNodes(sql: Sql, refs: readonly Hash[]): Promise<Hash[]> {
  if (refs.length === 0) return []
  const rows = await sql<
    { ref: Hash }[]
  >`SELECT n.ref FROM unnest(${[...refs]}::text[]) AS r(ref) JOIN nodes n ON n.ref = r.ref`
  return rows.map(({ ref }) => ref)
}

/** If an intent was mined without minting its payments, releases them for a later intent to mint. */
export async function releaseUnminted(sql: Sql, outboxIds: readonly number[]): Promise<void> {
  if (outboxIds.length === 0) return
  await move(sql, 'lapseMint', { where: sql`p.outbox_id = ANY(${[...outboxIds]})` })
}

/**
 * Releases the payments that wait for an intent of an account other than the current minter. That account's key was replaced, so we no longer send
 * its transactions. @returns their refs.
 */
export async function releaseFromFormer(sql: Sql, minter: Address): Promise<Hash[]> {
  const chosenRows = sql`SELECT o.id FROM outbox o WHERE o.state = 'pending' AND o.sender <> ${minter}`
  const change = { chosen: chosenRows, where: sql`p.outbox_id = c.id` }
  const rows = await moveAndRead(sql, 'takeOverMint', change, sql<{ ref: Hash }[]>`ref`)
  return rows.map((row) => row.ref)
}

/** Holds payments whose ref another node uses. @returns their refs, without payments already held for that reason. */
export async function holdRefsTaken(sql: Sql, refs: readonly Hash[]): Promise<Hash[]> {
  if (refs.length === 0) return []
  const losesRef = sql`p.ref = ANY(${[...refs]}) AND p.from_address IS NOT NULL AND p.succeeded AND p.reason IS DISTINCT FROM 'mintedElsewhere'
    AND EXISTS (SELECT FROM nodes n WHERE n.ref = p.ref AND n.payment_id IS NULL)`
  const evidence = { rule: 'mintedElsewhere', by: 'contract' }
  const rows = await moveAndRead(sql, 'loseRef', { where: losesRef, evidence, by: 'pass' }, sql<{ ref: Hash }[]>`ref`)
  return rows.map(({ ref }) => ref)
}

/** Holds payments whose order the contract skipped: the wallet was full, or no later order could succeed either. */
export async function holdSkipped(sql: Sql, refs: readonly Hash[], reason: ReasonAfter<'skipMint'>): Promise<void> {
  if (refs.length === 0) return
  const evidence = { rule: reason, by: 'contract' }
  await move(sql, 'skipMint', { where: sql`p.ref = ANY(${[...refs]})`, reason, evidence, by: 'pass' })
}

/**
 * Rewinds payments to a height. Payments above it are orphaned. If a payment is below it but its node was minted above it, the payment returns to its
 * last verdict's state, and continues if that verdict accepted it. The mint itself does not count as acceptance, because the payer may not have been
 * entitled to it. Runs before nodes and outbox are rewound. @returns how many were orphaned.
 */
export async function rewindPayments(sql: Sql, height: number): Promise<number> {
  const chosenRows = sql`
    SELECT was.id, last.reason,
      CASE
        WHEN last.verdict IS NULL THEN 'seen'
        WHEN last.verdict = 'accepted' AND EXISTS (SELECT FROM outbox o
          WHERE o.id = was.outbox_id AND (o.state = 'pending' OR o.block_number > ${height})) THEN 'minting'
        ELSE last.verdict END AS state,
      -- A mint names a tier for a payment that had none; with the mint that goes.
      CASE WHEN last.verdict IS NULL THEN NULL WHEN last.evidence ? 'tierId' THEN last.evidence ->> 'tierId'
        ELSE was.tier_id END AS tier_id,
      CASE WHEN last.verdict IS NULL THEN NULL WHEN last.evidence ? 'tierId' THEN (last.evidence ->> 'tierVersion')::int
        ELSE was.tier_version END AS tier_version
    FROM nodes n JOIN payments was ON was.id = n.payment_id
      LEFT JOIN LATERAL (SELECT verdict, reason, evidence FROM standing_verdicts
        WHERE payment_id = was.id ORDER BY id DESC LIMIT 1) last ON true
    WHERE n.block_number > ${height}`
  // In everyone's order, because a mint or an act may be waiting for several of them.
  await sql`SELECT FROM payments WHERE block_number > ${height} ORDER BY block_number, tx_index, inner_index FOR UPDATE`
  await move(sql, 'undoMint', {
    chosen: chosenRows,
    where: sql`p.id = c.id`,
    to: sql`c.state`,
    reason: sql`c.reason`,
    set: sql`node_id = NULL, tier_id = c.tier_id, tier_version = c.tier_version`,
  })
  const orphanedCount = await move(sql, 'orphan', {
    where: sql`p.block_number > ${height}`,
    set: sql`node_id = NULL, block_number = NULL, block_hash = NULL, tx_index = NULL`,
  })
  await sql`DELETE FROM wallet_outflows WHERE block_number > ${height}`
  // In another block, or as other providers report it, a payment need not wait for the same fact.
  await forgetRetries(sql)
  return orphanedCount
}

/** The refs among these that belong to payments. That includes attributed payments, even if they are currently part of a residue in no block. */
export async function readPaymentRefs(sql: Sql, refs: readonly Hash[]): Promise<Hash[]> {
  const rows = await sql<{ ref: Hash }[]>`
    SELECT ref FROM payments WHERE ref = ANY(${[...refs]})
    UNION SELECT ref FROM attributions WHERE ref = ANY(${[...refs]})`
  return rows.map(({ ref }) => ref)
}
