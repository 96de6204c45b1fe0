// Residues that the operator splits. If the operator attributes an inner transfer, that transfer becomes a payment with its payer, as long as its
// block is on the chain. If a reorganisation takes the block out, the whole value is an unexplained residue again. If the same block returns, the
// attributions apply again.
import type { InnerTransferIn } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'
import { explainResidue, reattach, withdrawStrayVerdicts } from './inner.ts'
import { byVerdict, enter, move } from './moves.ts'
import { decidedByHand, isReleased } from './recheck.ts'
import { adoptNodes } from './rows.ts'

/** An inner transfer that the operator attributes: part of a residue, or all of it. */
export interface Part {
  /** The ref under which the transfer's node is minted. */
  ref: Hash
  txHash: Hash
  txIndex: number
  innerIndex: number
  from: Address
  valueWei: bigint
  /** The transaction's trace or, if no provider has it, only the operator's word. */
  proof: 'trace' | 'stated'
}

/** A residue in a block. */
interface Residue {
  id: number
  ref: Hash
  wallet: Address
  valueWei: bigint
}

/**
 * Takes inner transfers out of a residue and makes each a payment with its payer. If a transfer is all that is left, it takes over the residue's row.
 * Cursor and residue must be locked, none of the transfers may be in the books, and their sum is at most the residue.
 * @returns the rows of the parts, in order, and what is left.
 */
export async function takeParts(
  sql: Sql,
  residue: Residue,
  { parts, by }: { parts: readonly Part[]; by: string },
): Promise<{ ids: number[]; restWei: bigint }> {
  let restWei = residue.valueWei
  const ids: number[] = []
  for (const part of parts) {
    // A refunded transfer stays refunded, whichever block it is in now. Other transfers are decided again.
    await reattach(sql, [part.ref], sql`EXISTS (SELECT FROM refunds r WHERE r.payment_ref = a.ref)`)
    const isRest = part.valueWei === restWei && (await findByRef(sql, part.ref)) === null
    await remember(sql, residue, { part, by, isRest })
    await applyAttributions(sql, residue.ref)
    restWei -= part.valueWei
    const id = await findByRef(sql, part.ref)
    if (id === null || (await readValue(sql, residue.id)) !== (isRest ? part.valueWei : restWei))
      throw new Error(`the transfer ${part.ref} was not taken out of residue ${residue.id}`)
    ids.push(id)
  }
  return { ids, restWei }
}

async function remember(
  sql: Sql,
  residue: Residue,
  { part, by, isRest }: { part: Part; by: string; isRest: boolean },
): Promise<void> {
  const { ref, txHash, txIndex, innerIndex, from, valueWei, proof } = part
  // An earlier attribution of what is left no longer applies.
  if (isRest) await sql`DELETE FROM attributions WHERE residue_ref = ${residue.ref} AND is_rest AND ref <> ${ref}`
  await sql`
    INSERT INTO attributions (ref, residue_ref, is_rest, wallet, value_wei, tx_hash, tx_index, inner_index, from_address, attributed_by, proof)
    VALUES (${ref}, ${residue.ref}, ${isRest}, ${residue.wallet}, ${valueWei.toString()}, ${txHash}, ${txIndex}, ${innerIndex}, ${from}, ${by}, ${proof})
    ON CONFLICT (ref) DO UPDATE SET residue_ref = excluded.residue_ref, is_rest = excluded.is_rest, tx_index = excluded.tx_index,
      wallet = excluded.wallet, value_wei = excluded.value_wei, from_address = excluded.from_address, proof = excluded.proof,
      attributed_at = now(), attributed_by = excluded.attributed_by`
}

async function findByRef(sql: Sql, ref: Hash): Promise<number | null> {
  const [row] = await sql<{ id: number }[]>`SELECT id FROM payments WHERE ref = ${ref}`
  return row?.id ?? null
}

async function readValue(sql: Sql, paymentId: number): Promise<bigint | null> {
  const [row] = await sql<{ wei: bigint }[]>`SELECT value_wei AS wei FROM payments WHERE id = ${paymentId}`
  return row?.wei ?? null
}

/**
 * Applies the operator's attributions to a residue that is in a block (again). Its parts become separate payments again, with their earlier
 * decisions, and what is left gets its known payer. A node that is already on chain is assigned to its payment.
 */
export async function applyAttributions(sql: Sql, residueRef: Hash): Promise<void> {
  const refs = await fileParts(sql, residueRef)
  const [payment] = await sql<{ id: number; ref: Hash }[]>`
    UPDATE payments p SET ref = a.ref, tx_hash = a.tx_hash, tx_index = a.tx_index, inner_index = a.inner_index,
      from_address = a.from_address, updated_at = now()
    FROM attributions a WHERE a.residue_ref = ${residueRef} AND a.is_rest AND p.ref = a.residue_ref AND p.state <> 'orphaned'
      AND coalesce(a.value_wei = p.value_wei, true) AND NOT EXISTS (SELECT FROM payments q WHERE q.ref = a.ref)
    RETURNING p.id, p.ref`
  if (payment && (await isReleased(sql, payment.id))) {
    const to = byVerdict(sql, { tierId: sql`p.tier_id`, verdict: sql`'accepted'`, reason: sql`NULL` })
    await move(sql, 'resume', { where: sql`p.id = ${payment.id}`, ...to })
  }
  await adoptNodes(sql, payment ? [...refs, payment.ref] : refs)
}

/**
 * Files the missing parts of a residue as payments in its block, and subtracts their value from it. What is left stays the residue; if nothing is left,
 * the residue is gone. @returns the refs of those parts.
 */
async function fileParts(sql: Sql, residueRef: Hash): Promise<Hash[]> {
  const parts = await sql<{ ref: Hash; from: Address; blockHash: Hash }[]>`
    SELECT ref, "from", "blockHash" FROM (
      SELECT a.ref, a.from_address AS "from", p.block_hash AS "blockHash", p.value_wei AS whole,
        sum(a.value_wei) OVER (ORDER BY a.attributed_at, a.ref) AS taken
      FROM attributions a JOIN payments p ON p.ref = a.residue_ref AND p.state <> 'orphaned' AND p.tx_hash IS NULL
      WHERE a.residue_ref = ${residueRef} AND NOT a.is_rest AND NOT EXISTS (SELECT FROM payments q WHERE q.ref = a.ref AND q.state <> 'orphaned')) r
    WHERE taken <= whole`
  if (parts.length === 0) return []
  const refs = parts.map(({ ref }) => ref)
  await withdrawStrayVerdicts(sql, parts)
  const count = await enter(sql, 'filePart', {
    columns: sql`tx_hash, inner_index, ref, wallet, from_address, value_wei, succeeded, block_number, block_hash, tx_index, block_time`,
    rows: sql`
      SELECT a.tx_hash, a.inner_index, a.ref, p.wallet, a.from_address, a.value_wei, true, p.block_number, p.block_hash, a.tx_index, p.block_time
      FROM attributions a JOIN payments p ON p.ref = a.residue_ref WHERE a.ref = ANY(${refs})`,
    evidence: { rule: 'part', partOf: residueRef },
  })
  if (count !== refs.length)
    throw new Error(`only ${count} of ${refs.length} parts of residue ${residueRef} were filed`)
  await sql`
    UPDATE payments SET value_wei = value_wei - (SELECT sum(a.value_wei) FROM attributions a WHERE a.ref = ANY(${refs})), updated_at = now()
    WHERE ref = ${residueRef}`
  await explainResidue(sql, sql`p.ref = ${residueRef} AND p.value_wei = 0`)
  return refs
}

/** Removes the payer from payments whose block was reorganised out. We file a transfer by its block, and a different transfer may come back. */
export async function detachOrphans(sql: Sql): Promise<void> {
  await sql`
    UPDATE payments p SET ref = a.residue_ref, tx_hash = NULL, tx_index = NULL, inner_index = 0, from_address = NULL
    FROM attributions a WHERE p.ref = a.ref AND p.state = 'orphaned' AND a.is_rest
      AND NOT EXISTS (SELECT FROM payments q WHERE q.ref = a.residue_ref)`
}

/** A payment's state, and the chain id of its node. */
export async function readStanding(sql: Sql, paymentId: number): Promise<{ state: string; nodeId: string | null }> {
  const [row] = await sql<{ state: string; nodeId: string | null }[]>`
    SELECT state, node_id::text AS "nodeId" FROM payments WHERE id = ${paymentId}`
  if (!row) throw new Error(`payment ${paymentId} is missing, though it is locked`)
  return row
}

/** A residue that was found (again) and that was already known to this ledger, or to the ledger from which this one was rebuilt. */
export interface KnownResidue {
  ref: Hash
  /** The operator has decided about the residue, or about what is left of it. No trace replaces it. */
  decided: boolean
}

/** The residues among these that the operator has decided or split. */
export async function readKnownResidues(sql: Sql, refs: readonly Hash[]): Promise<KnownResidue[]> {
  return await sql<KnownResidue[]>`
    SELECT ref, bool_or(decided) AS decided FROM (
      SELECT ref, true AS decided FROM residue_traces WHERE ref = ANY(${[...refs]}) AND kept
      UNION ALL SELECT p.ref, NOT EXISTS (SELECT FROM attributions a WHERE a.residue_ref = p.ref AND a.is_rest) FROM payments p
      WHERE p.ref = ANY(${[...refs]}) AND ${decidedByHand(sql)}
      UNION ALL SELECT residue_ref, false FROM attributions WHERE residue_ref = ANY(${[...refs]})) r GROUP BY ref`
}

/** A transfer from a trace, with the fields that we compare with attributions. */
type Shown = Pick<InnerTransferIn, 'txHash' | 'wallet' | 'innerIndex' | 'from' | 'valueWei'>

/** True if a trace shows every attributed transfer of a residue exactly as the operator attributed it. */
export async function agreesWithAttributions(
  sql: Sql,
  residueRef: Hash,
  transfers: readonly Shown[],
): Promise<boolean> {
  const [row] = await sql<{ agrees: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM attributions a WHERE a.residue_ref = ${residueRef}
      AND NOT EXISTS (SELECT FROM jsonb_to_recordset(${jsonRows(transfers)}::text::jsonb)
          AS r("txHash" text, wallet text, "innerIndex" int, "from" text, "valueWei" numeric)
        WHERE r."txHash" = a.tx_hash AND r."innerIndex" = a.inner_index AND r."from" = a.from_address
          AND r.wallet = coalesce(a.wallet, r.wallet) AND r."valueWei" = coalesce(a.value_wei, r."valueWei"))) AS agrees`
  return row?.agrees ?? false
}
