// Payments by internal call whose payer the operator had traced. Such a payment is the inner transfer itself for as long as its block
// stands. Once that block is reorganised out it is an unexplained residue again, without payer, transaction and tier.
import type { Address, Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { move } from './moves.ts'
import { isReleased } from './recheck.ts'
import { adoptNodes } from './rows.ts'

export interface Attribution {
  /** The filed residue. */
  residueRef: Hash
  /** The identity under which it is minted. */
  ref: Hash
  wallet: Address
  valueWei: bigint
  txHash: Hash
  txIndex: number
  innerIndex: number
  from: Address
  by: string
}

/**
 * Gives a payment its payer. The payment must be locked. A transfer that came back in another block was filed again there, and now belongs
 * to that payment. @returns false when another payment is that transfer.
 */
export async function attribute(sql: Sql, attribution: Attribution): Promise<boolean> {
  const { residueRef, ref, wallet, valueWei, txHash, txIndex, innerIndex, from, by } = attribution
  const taken = await sql`SELECT FROM payments WHERE ref = ${ref}`
  if (taken.count > 0) return false
  await sql`
    INSERT INTO attributions (residue_ref, ref, wallet, value_wei, tx_hash, tx_index, inner_index, from_address, attributed_by)
    VALUES (${residueRef}, ${ref}, ${wallet}, ${valueWei.toString()}, ${txHash}, ${txIndex}, ${innerIndex}, ${from}, ${by})
    ON CONFLICT (ref) DO UPDATE SET residue_ref = excluded.residue_ref, part_of = NULL, tx_index = excluded.tx_index,
      wallet = excluded.wallet, value_wei = excluded.value_wei, from_address = excluded.from_address,
      attributed_at = now(), attributed_by = excluded.attributed_by`
  await applyAttribution(sql, residueRef)
  return true
}

/**
 * Gives a payment that was just filed (again) its known payer. It stands as the operator last decided, and where its node is on chain
 * already, that is its node.
 */
export async function applyAttribution(sql: Sql, residueRef: Hash): Promise<void> {
  const [applied] = await sql<{ id: number; ref: Hash }[]>`
    UPDATE payments p SET ref = a.ref, tx_hash = a.tx_hash, tx_index = a.tx_index, inner_index = a.inner_index,
      from_address = a.from_address, updated_at = now()
    FROM attributions a WHERE a.residue_ref = ${residueRef} AND p.ref = a.residue_ref AND p.state <> 'orphaned'
    RETURNING p.id, p.ref`
  if (!applied) return
  if (await isReleased(sql, applied.id)) await move(sql, 'resume', { where: sql`p.id = ${applied.id}` })
  await adoptNodes(sql, [applied.ref])
}

/**
 * Takes the payer from payments whose block was reorganised out: a transfer that comes back is filed by its block, and may be another one.
 */
export async function detachOrphans(sql: Sql): Promise<void> {
  await sql`
    UPDATE payments p SET ref = a.residue_ref, tx_hash = NULL, tx_index = NULL, inner_index = 0, from_address = NULL
    FROM attributions a WHERE p.ref = a.ref AND p.state = 'orphaned' AND a.part_of IS NULL
      AND NOT EXISTS (SELECT FROM payments q WHERE q.ref = a.residue_ref)`
}

/** A payment's state, and its node's chain id. */
export async function readStanding(sql: Sql, paymentId: number): Promise<{ state: string; nodeId: string | null }> {
  const [row] = await sql<{ state: string; nodeId: string | null }[]>`
    SELECT state, node_id::text AS "nodeId" FROM payments WHERE id = ${paymentId}`
  if (!row) throw new Error(`payment ${paymentId} is missing, though it is locked`)
  return row
}
