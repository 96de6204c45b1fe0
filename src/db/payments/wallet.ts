// The payments wallets: each wallet's balance according to the ledger, and the residues that the balance check found. Triggers maintain the balances,
// so a read costs the same in a large ledger.

import type { Evidence } from '../../domain/judgement.ts'
import type { Proof } from '../../domain/observed.ts'
import type { Address, Hash, Wei } from '../../domain/units.ts'
import type { Fragment, Sql } from '../core/sql.ts'
import { applyAttributions } from './attributions.ts'
import { enter } from './moves.ts'
import { decidedByHand } from './recheck.ts'

/** A wallet's expected balance at a followed block, both from one query. */
export interface WalletBalance {
  cursor: { number: number; hash: Hash }
  wallet: Address
  /** The first block and the last block that we read for it; the last is null while the wallet is open. */
  watchedFrom: number
  closedBlock: number | null
  inWei: Wei
  outWei: Wei
  /** The block at which the balance begins. Null before we could read a first balance, or if a reorganisation took that block out. */
  base: { block: number; wei: bigint } | null
  /** The last block at which the balance agreed with the chain, and what backs it there. */
  auditedBlock: number | null
  auditedProof: Proof | null
}

/**
 * Reads the balances, in order of entry, of all wallets that are open at the followed block or not yet checked up to their closing. Empty before the
 * first block is stored.
 */
export async function readOpenWalletBalances(sql: Sql): Promise<WalletBalance[]> {
  return readSome(
    sql,
    sql`w.watched_from <= c.block_number AND (w.closed_block IS NULL OR coalesce(b.audited_block < w.closed_block, true))`,
  )
}

/** Reads the balance of one wallet; null before the first block is stored. */
export async function readWalletBalance(sql: Sql, wallet: Address): Promise<WalletBalance | null> {
  const [balance] = await readSome(sql, sql`b.wallet = ${wallet}`)
  return balance ?? null
}

async function readSome(sql: Sql, where: Fragment): Promise<WalletBalance[]> {
  const rows = await sql<
    {
      number: number
      hash: Hash
      wallet: Address
      watchedFrom: number
      closedBlock: number | null
      inWei: Wei
      outWei: Wei
      baseBlock: number | null
      baseWei: bigint | null
      auditedBlock: number | null
      auditedProof: Proof | null
    }[]
  >`
    SELECT c.block_number AS number, c.block_hash AS hash, b.wallet, w.watched_from AS "watchedFrom",
      w.closed_block AS "closedBlock", b.in_wei AS "inWei", b.out_wei AS "outWei", b.base_block AS "baseBlock", b.base_wei AS "baseWei", b.audited_block AS "auditedBlock",
      b.audited_proof AS "auditedProof"
    FROM wallet_books b JOIN payment_wallets w USING (wallet), cursors c WHERE c.name = 'follow' AND ${where} ORDER BY w.id`
  return rows.map(({ number, hash, baseBlock, baseWei, ...row }) => ({
    ...row,
    cursor: { number, hash },
    base: baseBlock === null || baseWei === null ? null : { block: baseBlock, wei: baseWei },
  }))
}

/** True if every wallet that we read at a block has been checked up to it, so we know what arrived by inner calls. */
export async function isBalanceChecked(sql: Sql, block: number): Promise<boolean> {
  const [row] = await sql<{ checked: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM wallet_books b JOIN payment_wallets w USING (wallet)
      WHERE w.watched_from <= ${block} AND (w.closed_block IS NULL OR w.closed_block >= ${block})
        AND coalesce(b.audited_block < ${block}, true)) AS checked`
  return row?.checked ?? false
}

/** True if a held residue covers a block. A contract's payment in it may be part of that residue. */
export async function isInResidue(sql: Sql, block: number): Promise<boolean> {
  const [row] = await sql<{ covered: boolean }[]>`
    SELECT EXISTS (SELECT FROM payments p CROSS JOIN LATERAL ${filedEvidence(sql)} v
      WHERE p.state = 'held' AND p.reason = 'unattributed' AND p.tx_hash IS NULL AND p.block_number >= ${block}
        AND (v.evidence ->> 'fromBlock')::bigint <= ${block})
      OR EXISTS (SELECT FROM wallet_outflows o WHERE o.tx_hash IS NULL AND ${block} BETWEEN o.from_block AND o.block_number) AS covered`
  return row?.covered ?? false
}

/** Sets a wallet's opening balance at a block: `wei` is its balance on chain minus what the ledger has booked by then. It may be negative. */
export async function writeBaseBalance(
  sql: Sql,
  wallet: Address,
  block: number,
  { wei, proof }: { wei: bigint; proof: Proof },
): Promise<void> {
  await sql`
    UPDATE wallet_books SET base_block = ${block}, base_wei = ${wei.toString()}, audited_block = ${block}, audited_proof = ${proof}
    WHERE wallet = ${wallet}`
}

/** Notes the last block at which a wallet's balance agreed with the chain. */
export async function writeCheckedBlock(sql: Sql, wallet: Address, block: number, proof: Proof): Promise<void> {
  await sql`
    UPDATE wallet_books SET audited_block = ${block}, audited_proof = ${proof} WHERE wallet = ${wallet} AND audited_block <> ${block}`
}

/**
 * Marks a wallet to be checked again from the start of its balance. `proven` is the true balance after a block for which a provider had reported a
 * different balance. If the wallet's balance starts at that block, it now starts with `proven`.
 */
export async function checkAgain(
  sql: Sql,
  wallet: Address,
  proven: { block: number; wei: bigint } | null,
): Promise<void> {
  await sql`
    UPDATE wallet_books SET audited_block = base_block, audited_proof = 'believed' WHERE wallet = ${wallet} AND base_block IS NOT NULL`
  if (proven === null) return
  await sql`
    UPDATE wallet_books SET audited_proof = 'proven',
      base_wei = ${proven.wei.toString()}::numeric - in_wei + out_wei + ${flow(sql, wallet, sql`block_number > ${proven.block}`)}
    WHERE wallet = ${wallet} AND base_block = ${proven.block}`
}

/** Inflows minus outflows (fees included) of a wallet in the blocks after `block` up to `upTo`. The cost grows with the number of rows. */
export async function netFlow(
  sql: Sql,
  wallet: Address,
  { block, upTo }: { block: number; upTo: number },
): Promise<bigint> {
  const blocks = sql`block_number > ${block} AND block_number <= ${upTo}`
  const [row] = await sql<{ wei: bigint }[]>`SELECT ${flow(sql, wallet, blocks)} AS wei`
  return row?.wei ?? 0n
}

/** SQL for the sum of `netFlow`. `blocks` is a condition on the column block_number. */
export const flow = (sql: Sql, wallet: Address, blocks: Fragment) => sql`(
  (SELECT coalesce(sum(value_wei), 0) FROM payments WHERE ${blocks} AND succeeded AND wallet = ${wallet})
  + (SELECT coalesce(sum(d.value_wei), 0) FROM dust d JOIN payment_wallets w ON w.id = d.wallet_id
    WHERE ${blocks} AND w.wallet = ${wallet})
  - (SELECT coalesce(sum(value_wei + fee_wei), 0) FROM wallet_outflows WHERE ${blocks} AND wallet = ${wallet}))`

/** A residue: value that moved in a block without a transaction of its own. */
export interface Residue {
  ref: Hash
  wallet: Address
  valueWei: bigint
  blockNumber: number
  blockHash: Hash
  blockTime: number
  evidence: Evidence
  /** The first block in which the value may have moved; `blockNumber` is the last. */
  fromBlock: number
}

/**
 * Files value that arrived, as a payment without a payer, held for the operator. If the payment was released, reorganised out and filed again, it
 * continues only once it has its payer (attributions.ts). @returns false if it was filed already.
 */
export async function insertResidue(sql: Sql, residue: Residue): Promise<boolean> {
  const { ref, wallet, valueWei, blockNumber, blockHash, blockTime, evidence } = residue
  const count = await enter(sql, 'fileResidue', {
    columns: sql`ref, wallet, value_wei, succeeded, block_number, block_hash, block_time`,
    rows: sql`SELECT ${ref}, ${wallet}, ${valueWei.toString()}::numeric, true, ${blockNumber}::bigint, ${blockHash}, to_timestamp(${blockTime})`,
    evidence,
  })
  if (count === 0) return false
  await noteBlocks(sql, residue)
  await applyAttributions(sql, ref)
  return true
}

/** Records the blocks of a residue that was filed before with others, because the states in between could not be read then, or cannot now. */
async function noteBlocks(sql: Sql, { ref, fromBlock, evidence }: Residue): Promise<void> {
  await sql`
    INSERT INTO payment_verdicts (payment_id, verdict, reason, evidence, decided_by)
    SELECT p.id, 'held', p.reason, ${JSON.stringify(evidence)}::text::jsonb, 'pass' FROM payments p CROSS JOIN LATERAL ${filedEvidence(sql)} v
    WHERE p.ref = ${ref} AND p.state = 'held' AND p.reason = 'unattributed' AND NOT ${decidedByHand(sql)}
      AND (v.evidence ->> 'fromBlock')::bigint <> ${fromBlock}`
}

/** SQL for what was recorded when a residue \`p\` was last filed: a row with its evidence. */
export const filedEvidence = (sql: Sql) =>
  sql`(SELECT evidence FROM payment_verdicts WHERE payment_id = p.id AND evidence ->> 'rule' = 'unattributed' ORDER BY id DESC LIMIT 1)`

/** Files value that left, as an outflow without a transaction. @returns false if it was filed already. */
export async function insertResidueOutflow(sql: Sql, residue: Residue): Promise<boolean> {
  const { ref, wallet, valueWei, fromBlock, blockNumber, blockHash, blockTime } = residue
  const insertion = await sql`
    INSERT INTO wallet_outflows (ref, wallet, value_wei, fee_wei, from_block, block_number, block_hash, block_time)
    VALUES (${ref}, ${wallet}, ${valueWei.toString()}, 0, ${fromBlock}, ${blockNumber}, ${blockHash}, to_timestamp(${blockTime}))
    ON CONFLICT (ref) DO NOTHING`
  return insertion.count > 0
}

/** The fees of a wallet's own transactions in a block, as a provider reported them. */
export async function readOwnFees(sql: Sql, wallet: Address, block: number): Promise<{ txHash: Hash; feeWei: Wei }[]> {
  return await sql<{ txHash: Hash; feeWei: Wei }[]>`
    SELECT tx_hash AS "txHash", fee_wei AS "feeWei" FROM wallet_outflows
    WHERE wallet = ${wallet} AND block_number = ${block} AND tx_hash IS NOT NULL AND inner_index = 0`
}

/** Replaces the fee of a wallet's transaction. */
export async function writeOwnFee(
  sql: Sql,
  { wallet, txHash, feeWei }: { wallet: Address; txHash: Hash; feeWei: Wei },
): Promise<void> {
  const fee = feeWei.toString()
  await sql`
    WITH former AS (SELECT fee_wei FROM wallet_outflows WHERE wallet = ${wallet} AND tx_hash = ${txHash} AND inner_index = 0),
      changed AS (UPDATE wallet_outflows SET fee_wei = ${fee} WHERE wallet = ${wallet} AND tx_hash = ${txHash} AND inner_index = 0)
    UPDATE wallet_books SET out_wei = out_wei - former.fee_wei + ${fee}::numeric FROM former WHERE wallet = ${wallet}`
}

/**
 * The next block, from `from` on, with a residue or an attributed part of a residue; null if there is none. A residue that covers several blocks ends
 * at this block, so a ledger that is checked at this block finds the same residue.
 */
export async function readNextResidueBlock(sql: Sql, from: number): Promise<number | null> {
  const [row] = await sql<{ block: number | null }[]>`
    SELECT min(block_number) AS block FROM (
      SELECT min(block_number) AS block_number FROM payments WHERE tx_hash IS NULL AND block_number >= ${from}
      UNION ALL SELECT min(p.block_number) FROM payments p JOIN attributions a USING (ref) WHERE p.block_number >= ${from}
      UNION ALL SELECT min(block_number) FROM wallet_outflows WHERE tx_hash IS NULL AND block_number >= ${from}) r`
  return row?.block ?? null
}

/** Resets the balances to those of a new ledger. The rows that they sum must be gone already. */
export async function forgetWalletBalances(sql: Sql): Promise<void> {
  await sql`UPDATE wallet_books SET base_block = NULL, base_wei = NULL, audited_block = NULL, audited_proof = NULL`
}

/** Rewinds the balances to a height. The sums follow their rows; a balance that began above the height begins again. */
export async function rewindWalletBalances(sql: Sql, height: number): Promise<void> {
  await sql`
    UPDATE wallet_books SET audited_block = least(audited_block, ${height}) WHERE base_block <= ${height}`
  await sql`
    UPDATE wallet_books SET base_block = NULL, base_wei = NULL, audited_block = NULL, audited_proof = NULL
    WHERE base_block > ${height}`
}
