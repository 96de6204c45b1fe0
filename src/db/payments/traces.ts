// Traces: how many blocks all instances have traced on a day, and the residues that are traced again.
import type { Block } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import type { Sql } from '../core/sql.ts'
import { move } from './moves.ts'

/** Takes one trace out of the day's budget. @returns false where it is used up, which is counted. */
export async function takeTrace(sql: Sql, perDay: number): Promise<boolean> {
  const taken = await sql`
    INSERT INTO trace_days AS t (day, traced) VALUES (current_date, 1)
    ON CONFLICT (day) DO UPDATE SET traced = t.traced + 1 WHERE t.traced < ${perDay}`
  if (taken.count > 0) return true
  await sql`UPDATE trace_days SET unbudgeted = unbudgeted + 1 WHERE day = current_date`
  return false
}

/** Counts a trace that told nothing apart: no provider had it, two disagreed, or it did not add up. */
export async function noteFailedTrace(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO trace_days AS t (day, failed) VALUES (current_date, 1) ON CONFLICT (day) DO UPDATE SET failed = t.failed + 1`
}

/** A residue that arrived in one block, and that is undecided. */
export interface TraceableResidue {
  id: number
  ref: Hash
  wallet: Address
  valueWei: bigint
  block: Pick<Block, 'number' | 'hash' | 'time'>
}

/**
 * Held residues of one block each whose turn it is: those never tried first. After each try the pause doubles, from a minute to a day, so that
 * a provider that traces again is noticed soon, and what no trace explains takes little of the budget.
 */
export async function readResiduesToTrace(sql: Sql, limit: number): Promise<TraceableResidue[]> {
  const rows = await sql<(Omit<TraceableResidue, 'block'> & { number: number; hash: Hash; time: number })[]>`
    SELECT p.id, p.ref, p.wallet, p.value_wei AS "valueWei", p.block_number AS number, p.block_hash AS hash,
      extract(epoch FROM p.block_time)::bigint AS time
    FROM payments p LEFT JOIN residue_traces t ON t.ref = p.ref
    WHERE p.state = 'held' AND p.reason = 'unattributed' AND p.tx_hash IS NULL
      AND (t.ref IS NULL OR t.tried_at < now() - least(interval '1 day', interval '1 minute' * 2 ^ least(t.tries, 12)))
      AND EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ->> 'rule' = 'unattributed'
        AND v.evidence ->> 'fromBlock' = v.evidence ->> 'toBlock')
      AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass')
    ORDER BY t.tried_at NULLS FIRST, p.id LIMIT ${limit}`
  return rows.map(({ number, hash, time, ...row }) => ({ ...row, block: { number, hash, time } }))
}

/** Notes that a residue is traced again now. */
export async function noteResidueTrace(sql: Sql, ref: Hash): Promise<void> {
  await sql`
    INSERT INTO residue_traces AS t (ref, tries) VALUES (${ref}, 1)
    ON CONFLICT (ref) DO UPDATE SET tries = t.tries + 1, tried_at = now()`
}

/** Locks a residue. False where it is not what it was: decided, attributed in part, or in no block any more. */
export async function lockUndecidedResidue(sql: Sql, { id, valueWei, block }: TraceableResidue): Promise<boolean> {
  const locked = await sql`
    SELECT FROM payments p WHERE p.id = ${id} AND p.state = 'held' AND p.reason = 'unattributed' AND p.tx_hash IS NULL
      AND p.value_wei = ${valueWei.toString()} AND p.block_hash = ${block.hash}
      AND NOT EXISTS (SELECT FROM standing_verdicts v WHERE v.payment_id = p.id AND v.decided_by <> 'pass') FOR UPDATE OF p`
  return locked.count > 0
}

/** Takes a residue out of the books: the transfers that it was made of are in them. It must be locked. */
export async function replaceResidue(sql: Sql, id: number): Promise<void> {
  const set = sql`block_number = NULL, block_hash = NULL, tx_index = NULL`
  const moved = await move(sql, 'explainResidue', { where: sql`p.id = ${id}`, set })
  if (moved !== 1) throw new Error(`residue ${id} was locked, and is not held any more`)
  await sql`DELETE FROM residue_traces t WHERE NOT EXISTS (SELECT FROM payments p WHERE p.ref = t.ref AND p.state = 'held')`
}
