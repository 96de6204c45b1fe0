// The parts of a block that this chain's blocks prove. Once a block has proven a part, we require its proof. The operator, or two providers that
// agree, can end that ("lower" the part), but one provider cannot. We then believe the part without proof.
import type { ProofStates, ProvenPart } from '../../domain/observed.ts'
import type { Sql } from '../core/sql.ts'
import { writeAudit } from '../core/state.ts'

/** Which parts must be proven, and which were lowered. */
export async function readProofStates(sql: Sql): Promise<ProofStates> {
  const rows = await sql<{ part: ProvenPart; state: 'askedFor' | 'lowered' }[]>`
    SELECT part, CASE WHEN lowered_block IS NULL THEN 'askedFor' ELSE 'lowered' END AS state FROM chain_proofs`
  return new Map(rows.map(({ part, state }) => [part, state]))
}

/**
 * The lowered parts, which we believe without proof, each with the block at which it was lowered and by whom: `pass` if two providers agreed on a
 * block that fails its proof.
 */
export async function readLowered(sql: Sql): Promise<{ part: ProvenPart; block: number; by: string }[]> {
  return await sql<{ part: ProvenPart; block: number; by: string }[]>`
    SELECT part, lowered_block AS block, lowered_by AS by FROM chain_proofs WHERE lowered_block IS NOT NULL ORDER BY part`
}

/** A block after which all followed blocks have a header that we recomputed; null while we do not require that. */
export async function headersProvenFrom(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ number: number }[]>`
    SELECT proven_block AS number FROM chain_proofs WHERE part = 'header' AND lowered_block IS NULL`
  return row?.number ?? null
}

/** True if we rejected a provider's answer within the last day. */
export async function isDoubted(sql: Sql): Promise<boolean> {
  const rows = await sql`
    SELECT WHERE EXISTS (SELECT FROM settings WHERE name = 'trouble proof')
      OR EXISTS (SELECT FROM audit WHERE action = 'proofFailed' AND at > now() - interval '1 day')`
  return rows.count > 0
}

/**
 * Notes that a block has proven a part. From now on we require the part's proof, even if the part was lowered. A block before the one that lowered
 * the part changes nothing. The record names the followed block if that is higher, because blocks up to it were read without that proof.
 */
export async function noteProven(sql: Sql, part: ProvenPart, blockNumber: number): Promise<void> {
  const rows = await sql`
    INSERT INTO chain_proofs (part, proven_block)
    VALUES (${part}, greatest(${blockNumber}, (SELECT block_number FROM cursors WHERE name = 'follow')))
    ON CONFLICT (part) DO UPDATE SET proven_block = excluded.proven_block, lowered_block = NULL, lowered_by = NULL
      WHERE chain_proofs.lowered_block < ${blockNumber}`
  if (rows.count > 0)
    await writeAudit(sql, { actor: 'pass', action: 'proofRaised', subject: part, detail: { blockNumber } })
}

interface LoweredBy {
  blockNumber: number
  by: string
  requestId?: string | null
  /** The operator's reason, if a person lowered it. */
  reason?: string | null
}

/** Lowers a part because a block does not prove it, even if the part was never proven. `by`: who decided, or `pass` if two providers agree. */
export async function lowerProof(
  sql: Sql,
  part: ProvenPart,
  { blockNumber, by, requestId = null, ...given }: LoweredBy,
): Promise<void> {
  const rows = await sql`
    INSERT INTO chain_proofs (part, lowered_block, lowered_by) VALUES (${part}, ${blockNumber}, ${by})
    ON CONFLICT (part) DO UPDATE SET lowered_block = excluded.lowered_block, lowered_by = excluded.lowered_by
      WHERE chain_proofs.lowered_block IS NULL`
  if (rows.count > 0)
    await writeAudit(sql, {
      actor: by,
      action: 'proofLowered',
      subject: part,
      detail: { blockNumber, ...given },
      requestId,
    })
}
