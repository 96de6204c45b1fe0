// The outbox: every intent to send, and every signed transaction, stored before we send it. The outcome of an intent is written only when its block
// is followed.
import type { SenderTransaction } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { type Fragment, jsonRows, type Sql } from '../core/sql.ts'

/** How many blocks back a contract can see hashes on every chain. Some chains go back further, but on others an older guard reverts. */
const BLOCK_HASHES_REACH = 256

export type IntentKind = 'openCohorts' | 'mint' | 'credit'

/** A signed transaction of an intent. */
export interface Attempt {
  txHash: Hash
  raw: `0x${string}`
  maxFeeWei: bigint
  maxPriorityFeeWei: bigint
  signedAtBlock: number
}

/** An intent that is not in a followed block yet, with its last attempt. */
export interface PendingIntent extends Attempt {
  id: number
  nonce: number
  call: unknown
  gasLimit: number
  /** Null if the call carries no guard. */
  guardBlock: number | null
  /** The last block time at which the intent can be executed. */
  validUntil: number
  attempts: number
  /** The outcome of broadcasting its last attempt: the kind of a `SendOutcome`, with a detail after "unknown". */
  lastOutcome: string | null
}

/** Stores an intent with its first signed attempt. A signer account and a nonce occur only once, so a second writer fails here, before it sends. */
export async function insertIntent(
  sql: Sql,
  intent: {
    kind: IntentKind
    sender: Address
    nonce: number
    call: object
    gasLimit: bigint
    guardBlock: number | null
    validUntil: number
  },
  attempt: Attempt,
): Promise<number> {
  const [row] = await sql<{ id: number }[]>`
    INSERT INTO outbox (kind, sender, nonce, call, gas_limit, guard_block, valid_until)
    VALUES (${intent.kind}, ${intent.sender}, ${intent.nonce}, ${jsonRows([intent.call])}::text::jsonb -> 0,
      ${Number(intent.gasLimit)}, ${intent.guardBlock}, ${intent.validUntil})
    RETURNING id`
  if (!row) throw new Error('the outbox row was not returned')
  await insertAttempt(sql, row.id, attempt)
  return row.id
}

/** Stores another signed attempt of an intent. */
export async function insertAttempt(sql: Sql, outboxId: number, attempt: Attempt): Promise<void> {
  await sql`
    INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block)
    VALUES (${attempt.txHash}, ${outboxId},
      (SELECT coalesce(max(attempt), 0) + 1 FROM outbox_attempts WHERE outbox_id = ${outboxId}), ${attempt.raw},
      ${attempt.maxFeeWei.toString()}, ${attempt.maxPriorityFeeWei.toString()}, ${attempt.signedAtBlock})`
}

/** Notes a provider's answer to an attempt, for the operator. No decision depends on it. */
export async function noteSend(sql: Sql, txHash: Hash, outcome: string): Promise<void> {
  await sql`
    UPDATE outbox_attempts SET sends = sends + 1, last_sent_at = now(), last_outcome = ${outcome.slice(0, 500)}
    WHERE tx_hash = ${txHash}`
}

/** The transactions among these that are not attempts of ours. */
export async function neverStored(sql: Sql, txHashes: readonly Hash[]): Promise<Hash[]> {
  if (txHashes.length === 0) return []
  const rows = await sql<{ txHash: Hash }[]>`
    SELECT h AS "txHash" FROM unnest(${[...txHashes]}::text[]) AS h
    WHERE NOT EXISTS (SELECT FROM outbox_attempts WHERE tx_hash = h)`
  return rows.map((row) => row.txHash)
}

/** A signer account's intents that are not in a followed block, lowest nonce first. */
export async function readPending(sql: Sql, sender: Address): Promise<PendingIntent[]> {
  return await sql<PendingIntent[]>`
    SELECT o.id, o.nonce, o.call, o.gas_limit AS "gasLimit", o.guard_block AS "guardBlock",
      o.valid_until AS "validUntil", a.attempt AS attempts, a.tx_hash AS "txHash", a.raw, a.max_fee_wei AS "maxFeeWei", a.max_priority_fee_wei AS "maxPriorityFeeWei", a.signed_at_block AS "signedAtBlock",
      a.last_outcome AS "lastOutcome"
    FROM outbox o
    JOIN LATERAL (SELECT * FROM outbox_attempts WHERE outbox_id = o.id ORDER BY attempt DESC LIMIT 1) a ON true
    WHERE o.sender = ${sender} AND o.state = 'pending' ORDER BY o.nonce`
}

/** True if sending an intent again is useless: it has expired, or a chain may no longer know its guard's block. */
export function isLapsed(
  { guardBlock, validUntil }: Pick<PendingIntent, 'guardBlock' | 'validUntil'>,
  at: { number: number; time: number },
): boolean {
  return at.time > validUntil || (guardBlock !== null && at.number >= guardBlock + BLOCK_HASHES_REACH)
}

/**
 * True if a mint with this ref is stored and may still be executed: it is in no followed block, it has not expired, and its guard is not on another
 * fork. The guard's age does not matter, because some chains know all of their blocks.
 */
export async function mayStillMint(sql: Sql, ref: Hash): Promise<boolean> {
  const [row] = await sql<{ may: boolean }[]>`SELECT ${mintMayCome(sql, sql`${ref}::text`)} AS may`
  return row?.may ?? false
}

/** SQL: `mayStillMint`, as a condition on a ref. */
export const mintMayCome = (sql: Sql, ref: Fragment) =>
  sql`EXISTS (SELECT FROM outbox o JOIN cursors c ON c.name = 'follow'
    WHERE o.state = 'pending' AND o.kind = 'mint' AND o.call -> 'orders' @> jsonb_build_array(jsonb_build_object('ref', ${ref}))
      AND o.valid_until >= c.block_time
      AND NOT EXISTS (SELECT FROM blocks b WHERE b.number = o.guard_block AND b.hash <> o.call #>> '{guard,hash}'))`

/** What the ledger knows about a signer account's nonces. */
export interface KnownNonces {
  /** The nonce after the last one that the outbox assigned or saw used, or the signer account's base. */
  next: number
  /** The lowest nonce that we assigned and no followed block has used: the first pending intent's, or `next` if none is pending. */
  followed: number
}

/** SQL: a signer account's nonce after the last one in a followed block, or its base if that is higher. Null if the ledger has neither. */
const shownNonce = (sql: Sql, sender: Address) => sql`greatest(
  (SELECT max(nonce) + 1 FROM outbox WHERE sender = ${sender} AND state <> 'pending'),
  (SELECT nonce FROM sender_bases WHERE sender = ${sender}))`

/** Reads what the ledger knows about a signer account's nonces; null if there is nothing. */
export async function readKnownNonces(sql: Sql, sender: Address): Promise<KnownNonces | null> {
  const [row] = await sql<{ next: number | null; waiting: number | null }[]>`
    SELECT greatest((SELECT max(nonce) + 1 FROM outbox WHERE sender = ${sender}),
      (SELECT nonce FROM sender_bases WHERE sender = ${sender})) AS next,
      (SELECT min(nonce) FROM outbox WHERE sender = ${sender} AND state = 'pending') AS waiting`
  if (row == null || row.next === null) return null
  return { next: row.next, followed: row.waiting ?? row.next }
}

/** Sets a signer account's base, the nonce from which we know its transactions, as of a followed block. */
export async function writeBase(
  sql: Sql,
  sender: Address,
  base: { nonce: number; blockNumber: number },
): Promise<void> {
  await sql`
    INSERT INTO sender_bases (sender, nonce, block_number) VALUES (${sender}, ${base.nonce}, ${base.blockNumber})
    ON CONFLICT (sender) DO UPDATE SET nonce = excluded.nonce, block_number = excluded.block_number`
}

/** Gives up a signer account's intents below a nonce, because the account has used those nonces in transactions that no followed block holds. @returns their ids. */
export async function displaceBelow(
  sql: Sql,
  { sender, nonce, at }: { sender: Address; nonce: number; at: { number: number; hash: Hash } },
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    UPDATE outbox SET state = 'displaced', block_number = ${at.number}, block_hash = ${at.hash}
    WHERE sender = ${sender} AND nonce < ${nonce} AND state = 'pending' RETURNING id`
  return rows.map(({ id }) => id)
}

/**
 * If a signer account's intents begin above an unused nonce, returns that nonce: the next one as of the followed blocks. The intents cannot be
 * mined until it is used. This happens if a reorganisation drops a foreign transaction but keeps its successors. Otherwise returns null, also if the
 * ledger has neither a base nor an intent in a followed block.
 */
export async function freeNonceBelowPending(sql: Sql, sender: Address): Promise<number | null> {
  const [row] = await sql<{ free: number }[]>`
    SELECT free FROM (SELECT ${shownNonce(sql, sender)} AS free) shown
    WHERE free < (SELECT min(nonce) FROM outbox WHERE sender = ${sender} AND state = 'pending')`
  return row?.free ?? null
}

export interface MinedSend {
  outboxId: number
  kind: IntentKind
  state: 'mined' | 'reverted' | 'displaced'
  txHash: Hash
}

/**
 * Settles intents of any account by transactions found in blocks. If a transaction is not one of our attempts, a foreign transaction took the
 * intent's nonce, and the intent is displaced. If no intent had the nonce and it belongs to one of our `signers`, we record it as used.
 * @returns the settled intents, and our accounts' transactions that match no intent.
 */
export async function recordMined(
  sql: Sql,
  sent: readonly Omit<SenderTransaction, 'type' | 'proof'>[],
  signers: readonly Address[],
): Promise<{ settled: MinedSend[]; foreign: Hash[] }> {
  if (sent.length === 0) return { settled: [], foreign: [] }
  const settledSends = await sql<MinedSend[]>`
    UPDATE outbox o SET
      state = CASE WHEN a.tx_hash IS NULL THEN 'displaced' WHEN r.succeeded THEN 'mined' ELSE 'reverted' END,
      block_number = r."blockNumber", block_hash = r."blockHash", tx_hash = r."txHash", gas_used = r."gasUsed",
      fee_wei = r."feeWei", value_wei = r."valueWei", to_address = r."to"
    FROM jsonb_to_recordset(${jsonRows(sent)}::text::jsonb) AS r(sender text, nonce bigint, "txHash" text, succeeded boolean,
      "blockNumber" bigint, "blockHash" text, "gasUsed" bigint, "feeWei" numeric, "valueWei" numeric, "to" text)
    LEFT JOIN outbox_attempts a ON a.tx_hash = r."txHash"
    WHERE o.sender = r.sender AND o.nonce = r.nonce AND o.state = 'pending'
    RETURNING o.id AS "outboxId", o.kind, o.state, r."txHash"`
  const ownHashes = new Set(settledSends.filter((s) => s.state !== 'displaced').map((s) => s.txHash))
  const foreign = sent.filter((tx) => signers.includes(tx.sender) && !ownHashes.has(tx.txHash))
  if (foreign.length > 0)
    await sql`
    INSERT INTO outbox (kind, sender, nonce, call, gas_limit, state, block_number, block_hash, tx_hash, gas_used, fee_wei,
      value_wei, to_address)
    SELECT 'foreign', sender, nonce, '{}', "gasUsed", 'displaced', "blockNumber", "blockHash", "txHash", "gasUsed", "feeWei",
      "valueWei", "to"
    FROM jsonb_to_recordset(${jsonRows(foreign)}::text::jsonb) AS r(sender text, nonce bigint, "txHash" text,
      "blockNumber" bigint, "blockHash" text, "gasUsed" bigint, "feeWei" numeric, "valueWei" numeric, "to" text)
    ON CONFLICT (sender, nonce) DO NOTHING`
  return { settled: settledSends, foreign: foreign.map((tx) => tx.txHash) }
}

/**
 * How many of a signer account's last intents reverted in a row, counted up to `look`, and the block time of the last revert. A mint after which its
 * payments are accepted, and none has a node, counts as reverted: the contract skips orders beyond the budget. A skip for a full wallet does not count.
 * Reverts because of age do not count: the intent had expired, or its guard's block was too far back or not on the fork that mined it.
 */
export async function readReverts(
  sql: Sql,
  sender: Address,
  look: number,
): Promise<{ inARow: number; lastTime: number | null }> {
  const refs = sql`(SELECT "order" ->> 'ref' AS ref FROM jsonb_array_elements(o.call -> 'orders') "order") orders`
  const rows = await sql<{ state: string; time: number | null }[]>`
    SELECT CASE WHEN o.kind = 'mint' AND EXISTS (SELECT FROM ${refs} JOIN payments p USING (ref) WHERE p.state = 'accepted'
        AND NOT EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ->> 'by' = 'contract' AND v.decided_at >= o.created_at))
      AND NOT EXISTS (SELECT FROM ${refs} JOIN nodes n USING (ref)) THEN 'reverted' ELSE o.state END AS state, at.time FROM outbox o
    LEFT JOIN blocks at ON at.number = o.block_number
    LEFT JOIN blocks guard ON guard.number = o.guard_block
    WHERE o.sender = ${sender} AND (o.state = 'mined' OR o.state = 'reverted' AND o.valid_until >= coalesce(at.time, 0)
      AND (o.guard_block IS NULL OR guard.hash = o.call -> 'guard' ->> 'hash' AND o.block_number - o.guard_block BETWEEN 1 AND ${BLOCK_HASHES_REACH}))
    ORDER BY o.nonce DESC LIMIT ${look}`
  const firstMined = rows.findIndex((row) => row.state === 'mined')
  return {
    inARow: firstMined === -1 ? rows.length : firstMined,
    lastTime: rows[0]?.state === 'reverted' ? rows[0].time : null,
  }
}

/** A guarded intent that reverted although the ledger has its guard's block. */
export interface StandingGuard {
  outboxId: number
  guardBlock: number
  guardHash: Hash
  /** The block in which it reverted. */
  minedIn: number
  txHash: Hash
  gasUsed: number
  feeWei: bigint
}

/**
 * A signer account's last guarded intent in a followed block, if it reverted before it expired although the ledger has its guard's block. Null
 * otherwise.
 */
export async function readStandingGuard(sql: Sql, sender: Address): Promise<StandingGuard | null> {
  const [row] = await sql<StandingGuard[]>`
    SELECT o.id AS "outboxId", o.guard_block AS "guardBlock", guard.hash AS "guardHash", o.block_number AS "minedIn", o.tx_hash AS "txHash",
      o.gas_used AS "gasUsed", o.fee_wei AS "feeWei"
    FROM outbox o
    JOIN blocks at ON at.number = o.block_number
    JOIN blocks guard ON guard.number = o.guard_block AND guard.hash = o.call #>> '{guard,hash}'
    WHERE o.state = 'reverted' AND o.valid_until >= at.time AND o.block_number - o.guard_block BETWEEN 1 AND ${BLOCK_HASHES_REACH}
      AND o.id = (SELECT id FROM outbox WHERE sender = ${sender} AND guard_block IS NOT NULL AND state IN ('mined', 'reverted')
        ORDER BY nonce DESC LIMIT 1)`
  return row ?? null
}

/** Reopens the intents that were settled above a height, to be sent again, lowest nonce first. Deletes records of foreign transactions. */
export async function rewindOutbox(sql: Sql, height: number): Promise<number> {
  await sql`DELETE FROM sender_bases WHERE block_number > ${height}`
  await sql`DELETE FROM outbox WHERE kind = 'foreign' AND block_number > ${height}`
  const update = await sql`
    UPDATE outbox SET state = 'pending', block_number = NULL, block_hash = NULL, tx_hash = NULL, gas_used = NULL, fee_wei = NULL,
      value_wei = NULL, to_address = NULL
    WHERE block_number > ${height}`
  return update.count
}
