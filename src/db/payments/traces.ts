// Traces: how many blocks all instances have traced on a day, and the residues that are traced again.
import type { Block } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'
import { explainResidue } from './inner.ts'
import { decidedByHand } from './recheck.ts'

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

/** A residue in a block. */
export interface TraceableResidue {
  ref: Hash
  wallet: Address
  /** Negative where it left. */
  residueWei: bigint
  /** Decided by the operator, or about to be: it stays, whatever a trace shows. */
  decided: boolean
  block: Pick<Block, 'number' | 'hash' | 'time'>
}

/** The operator's decision about a residue `p` that arrived. */
const isDecided = (sql: Sql) => sql`(p.state <> 'held' OR p.reason <> 'unattributed' OR ${decidedByHand(sql)})`

/**
 * Residues of one block each whose turn it is: undecided ones first, and those never tried. A decided one has no further turn once a trace has
 * shown what it is made of. After each try the pause doubles, from a minute to a day, so that a provider that traces again is noticed soon, and
 * what no trace explains takes little of the budget.
 */
export async function readResiduesToTrace(sql: Sql, limit: number): Promise<TraceableResidue[]> {
  const rows = await sql<(Omit<TraceableResidue, 'block'> & { number: number; hash: Hash; time: number })[]>`
    SELECT r.ref, r.wallet, r.wei AS "residueWei", r.decided, r.block_number AS number, r.block_hash AS hash,
      extract(epoch FROM r.block_time)::bigint AS time
    FROM (
      SELECT p.ref, p.wallet, p.value_wei::numeric AS wei, ${isDecided(sql)} AS decided, p.block_number, p.block_hash, p.block_time
      FROM payments p WHERE p.tx_hash IS NULL AND p.state IN ('held', 'refunded', 'dismissed') AND p.value_wei > 0
        AND EXISTS (SELECT FROM payment_verdicts v WHERE v.payment_id = p.id AND v.evidence ->> 'rule' = 'unattributed'
          AND v.evidence ->> 'fromBlock' = v.evidence ->> 'toBlock')
      UNION ALL SELECT o.ref, o.wallet, -o.value_wei, false, o.block_number, o.block_hash, o.block_time
      FROM wallet_outflows o WHERE o.tx_hash IS NULL AND o.from_block = o.block_number
    ) r LEFT JOIN residue_traces t ON t.ref = r.ref
    WHERE NOT coalesce(t.kept, false) AND NOT (r.decided AND t.shown IS NOT NULL)
      AND (coalesce(t.tries, 0) = 0 OR t.tried_at < now() - least(interval '1 day', interval '1 minute' * 2 ^ least(t.tries, 12)))
    ORDER BY r.decided, t.tried_at NULLS FIRST, r.block_number, r.ref LIMIT ${limit}`
  return rows.map(({ number, hash, time, ...row }) => ({ ...row, block: { number, hash, time } }))
}

/** An undecided residue that rests on what providers say, or is wide, of the blocks from `fromBlock` on. */
export interface ToldResidue extends TraceableResidue {
  fromBlock: number
  /** It is of several blocks, because the states between were not to be had, and nothing was taken out of it. */
  isWide: boolean
}

/** Such residues whose turn it is to be compared with proofs. */
export async function readToldResidues(sql: Sql, limit: number): Promise<ToldResidue[]> {
  const rows = await sql<(Omit<ToldResidue, 'block'> & { number: number; hash: Hash; time: number })[]>`
    SELECT r.ref, r.wallet, r.wei AS "residueWei", false AS decided, r.from_block AS "fromBlock", r.is_wide AS "isWide",
      r.block_number AS number, r.block_hash AS hash, extract(epoch FROM r.block_time)::bigint AS time
    FROM residue_traces t JOIN (
      SELECT p.ref, p.wallet, p.value_wei::numeric AS wei, (v.evidence ->> 'fromBlock')::bigint AS from_block,
        v.evidence ->> 'balanceBeforeWei' IS NULL
          AND NOT EXISTS (SELECT FROM attributions a WHERE a.residue_ref = p.ref OR a.part_of = p.ref) AS is_wide, p.block_number, p.block_hash, p.block_time
      FROM payments p CROSS JOIN LATERAL (SELECT evidence FROM payment_verdicts
        WHERE payment_id = p.id AND evidence ->> 'rule' = 'unattributed' ORDER BY id DESC LIMIT 1) v
      WHERE p.tx_hash IS NULL AND p.state = 'held' AND NOT ${isDecided(sql)}
      UNION ALL SELECT ref, wallet, -value_wei, from_block, false, block_number, block_hash, block_time FROM wallet_outflows
      WHERE tx_hash IS NULL
    ) r USING (ref) WHERE t.prove_at <= now() AND r.block_number IS NOT NULL ORDER BY t.prove_at, r.block_number LIMIT ${limit}`
  return rows.map(({ number, hash, time, ...row }) => ({ ...row, block: { number, hash, time } }))
}

/** Notes when a residue is to be compared with proofs, in so many seconds from now; null once it is proven. */
export async function proveResidueIn(sql: Sql, ref: Hash, seconds: number | null): Promise<void> {
  await sql`
    INSERT INTO residue_traces (ref, prove_at) VALUES (${ref}, now() + ${seconds} * interval '1 second')
    ON CONFLICT (ref) DO UPDATE SET prove_at = excluded.prove_at`
}

/** Notes that a residue is traced again now. */
export async function noteResidueTrace(sql: Sql, ref: Hash): Promise<void> {
  await sql`
    INSERT INTO residue_traces AS t (ref, tries) VALUES (${ref}, 1)
    ON CONFLICT (ref) DO UPDATE SET tries = t.tries + 1, tried_at = now()`
}

/** A transfer of a trace as it is noted on a residue. */
export interface ShownTransfer {
  txHash: Hash
  direction: 'in' | 'out'
  innerIndex: number
  other: Address
  valueWei: string
}

/** Notes on a residue that stays what a trace shows of it. */
export async function noteShown(sql: Sql, ref: Hash, shown: readonly ShownTransfer[]): Promise<void> {
  await sql`
    INSERT INTO residue_traces (ref, shown) VALUES (${ref}, ${jsonRows(shown)}::text::jsonb)
    ON CONFLICT (ref) DO UPDATE SET shown = excluded.shown`
}

/** Locks a residue. False where it is not what it was: decided, attributed in part, or in no block any more. */
export async function lockResidue(sql: Sql, { ref, residueWei, decided, block }: TraceableResidue): Promise<boolean> {
  const locked =
    residueWei > 0n
      ? await sql`
          SELECT FROM payments p WHERE p.ref = ${ref} AND p.state IN ('held', 'refunded', 'dismissed') AND p.tx_hash IS NULL
            AND p.value_wei = ${residueWei.toString()} AND p.block_hash = ${block.hash} AND ${isDecided(sql)} = ${decided} FOR UPDATE OF p`
      : await sql`
          SELECT FROM wallet_outflows o WHERE o.ref = ${ref} AND o.tx_hash IS NULL AND o.block_hash = ${block.hash} FOR UPDATE OF o`
  return locked.count > 0
}

/** Takes a residue out of the books: the transfers that it was made of are in them. It must be locked and undecided. */
export async function replaceResidue(sql: Sql, { ref, residueWei }: TraceableResidue): Promise<void> {
  const gone =
    residueWei > 0n
      ? await explainResidue(sql, sql`p.ref = ${ref}`)
      : (await sql`DELETE FROM wallet_outflows WHERE ref = ${ref}`).count
  if (gone !== 1) throw new Error(`residue ${ref} was locked, and is not there any more`)
  await sql`DELETE FROM residue_traces WHERE ref = ${ref}`
}
