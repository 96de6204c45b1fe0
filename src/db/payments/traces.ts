// Traces: how many blocks all instances have traced in a day, and the residues that we trace again.
import type { Block } from '../../domain/observed.ts'
import type { Address, Hash } from '../../domain/units.ts'
import { type Fragment, jsonRows, type Sql } from '../core/sql.ts'
import { explainResidue } from './inner.ts'
import { decidedByHand } from './recheck.ts'
import { filedEvidence } from './wallet.ts'

/** Counts a trace. */
export async function noteTrace(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO trace_days AS t (day, traced) VALUES (current_date, 1) ON CONFLICT (day) DO UPDATE SET traced = t.traced + 1`
}

/** Counts a trace without a result: no provider had it, two disagreed, or it did not add up. */
export async function noteFailedTrace(sql: Sql): Promise<void> {
  await sql`
    INSERT INTO trace_days AS t (day, failed) VALUES (current_date, 1) ON CONFLICT (day) DO UPDATE SET failed = t.failed + 1`
}

/** A residue in a block. */
export interface TraceableResidue {
  ref: Hash
  wallet: Address
  /** Negative if the value left. */
  residueWei: bigint
  /** True if the operator has decided about it, or is about to. It stays, whatever a trace shows. */
  decided: boolean
  block: Pick<Block, 'number' | 'hash' | 'time'>
}

/** SQL: true if the operator has decided about a residue `p` that arrived. */
const isDecided = (sql: Sql) => sql`(p.state <> 'held' OR p.reason <> 'unattributed' OR ${decidedByHand(sql)})`

/**
 * Single-block residues that are due for a trace: undecided ones first, and those never tried. Once a trace has shown the parts of a decided residue,
 * it is no longer due. After each try the pause doubles, from a minute to a day. So we soon notice a provider that can trace again, yet residues that
 * no trace explains use little of the budget.
 */
export async function readResiduesToTrace(sql: Sql, limit: number): Promise<TraceableResidue[]> {
  const rows = await sql<(Omit<TraceableResidue, 'block'> & { number: number; hash: Hash; time: number })[]>`
    SELECT r.ref, r.wallet, r.wei AS "residueWei", r.decided, r.block_number AS number, r.block_hash AS hash,
      extract(epoch FROM r.block_time)::bigint AS time
    FROM (
      SELECT p.ref, p.wallet, p.value_wei::numeric AS wei, ${isDecided(sql)} AS decided, p.block_number, p.block_hash, p.block_time
      FROM payments p WHERE p.tx_hash IS NULL AND p.state IN ('held', 'refunded', 'dismissed') AND p.value_wei > 0
        AND EXISTS (SELECT FROM ${filedEvidence(sql)} v WHERE v.evidence ->> 'fromBlock' = v.evidence ->> 'toBlock')
      UNION ALL SELECT o.ref, o.wallet, -o.value_wei, false, o.block_number, o.block_hash, o.block_time
      FROM wallet_outflows o WHERE o.tx_hash IS NULL AND o.from_block = o.block_number
    ) r LEFT JOIN residue_traces t ON t.ref = r.ref
    WHERE NOT coalesce(t.kept, false) AND NOT (r.decided AND t.shown IS NOT NULL)
      AND (coalesce(t.tries, 0) = 0 OR t.tried_at < now() - least(interval '1 day', interval '1 minute' * 2 ^ least(t.tries, 12)))
    ORDER BY r.decided, t.tried_at NULLS FIRST, r.block_number, r.ref LIMIT ${limit}`
  return rows.map(({ number, hash, time, ...row }) => ({ ...row, block: { number, hash, time } }))
}

/** An undecided residue that rests on what providers report, or covers several blocks. It covers the blocks from `fromBlock` on. */
export interface ToldResidue extends TraceableResidue {
  fromBlock: number
  /** True if it covers several blocks, because no provider had the states in between, and no part has been taken out of it. */
  isWide: boolean
}

/** Undecided residues that are due for a comparison with proofs. */
export const readToldResidues = (sql: Sql, limit: number): Promise<ToldResidue[]> =>
  readUndecided(sql, sql`t.prove_at <= now() ORDER BY t.prove_at, r.block_number LIMIT ${limit}`)

/** A wallet's undecided residues whose blocks include all of these. */
export const readResiduesOver = (
  sql: Sql,
  wallet: Address,
  { fromBlock, toBlock }: { fromBlock: number; toBlock: number },
) =>
  readUndecided(
    sql,
    sql`r.wallet = ${wallet} AND r.from_block <= ${fromBlock} AND r.block_number >= ${toBlock} ORDER BY r.block_number, r.ref`,
  )

async function readUndecided(sql: Sql, which: Fragment): Promise<ToldResidue[]> {
  const rows = await sql<(Omit<ToldResidue, 'block'> & { number: number; hash: Hash; time: number })[]>`
    SELECT r.ref, r.wallet, r.wei AS "residueWei", false AS decided, r.from_block AS "fromBlock",
      coalesce(t.is_wide, false) AND r.is_whole AS "isWide",
      r.block_number AS number, r.block_hash AS hash, extract(epoch FROM r.block_time)::bigint AS time
    FROM (
      SELECT p.ref, p.wallet, p.value_wei::numeric AS wei, (v.evidence ->> 'fromBlock')::bigint AS from_block,
        NOT EXISTS (SELECT FROM attributions a WHERE a.residue_ref = p.ref) AS is_whole, p.block_number, p.block_hash, p.block_time
      FROM payments p CROSS JOIN LATERAL ${filedEvidence(sql)} v
      WHERE p.tx_hash IS NULL AND p.state = 'held' AND NOT ${isDecided(sql)}
      UNION ALL SELECT ref, wallet, -value_wei, from_block, true, block_number, block_hash, block_time FROM wallet_outflows
      WHERE tx_hash IS NULL
    ) r LEFT JOIN residue_traces t USING (ref) WHERE r.block_number IS NOT NULL AND ${which}`
  return rows.map(({ number, hash, time, ...row }) => ({ ...row, block: { number, hash, time } }))
}

/** Schedules the first comparison of a residue with proofs. */
export async function proveResidueNow(sql: Sql, ref: Hash, isWide: boolean): Promise<void> {
  await sql`
    INSERT INTO residue_traces (ref, prove_at, is_wide) VALUES (${ref}, now(), ${isWide})
    ON CONFLICT (ref) DO UPDATE SET prove_at = excluded.prove_at, is_wide = excluded.is_wide`
}

/** Schedules the next comparison, in this many seconds; never if null, because it is proven. */
export async function proveResidueIn(sql: Sql, ref: Hash, seconds: number | null): Promise<void> {
  await sql`UPDATE residue_traces SET prove_at = now() + ${seconds} * interval '1 second' WHERE ref = ${ref}`
}

/** Records that a residue is traced again now. */
export async function noteResidueTrace(sql: Sql, ref: Hash): Promise<void> {
  await sql`
    INSERT INTO residue_traces AS t (ref, tries) VALUES (${ref}, 1)
    ON CONFLICT (ref) DO UPDATE SET tries = t.tries + 1, tried_at = now()`
}

/** A transfer from a trace, as a residue records it. */
export interface ShownTransfer {
  txHash: Hash
  direction: 'in' | 'out'
  innerIndex: number
  other: Address
  valueWei: string
}

/** Records what a trace shows on a residue that remains. */
export async function noteShown(sql: Sql, ref: Hash, transfers: readonly ShownTransfer[]): Promise<void> {
  await sql`
    INSERT INTO residue_traces (ref, shown) VALUES (${ref}, ${jsonRows(transfers)}::text::jsonb)
    ON CONFLICT (ref) DO UPDATE SET shown = excluded.shown`
}

/** Locks a residue. False if it has changed: decided, partly attributed, or no longer in a block. */
export async function lockResidue(
  sql: Sql,
  { ref, residueWei, decided: isDecidedByHand, block }: TraceableResidue,
): Promise<boolean> {
  const rows =
    residueWei > 0n
      ? await sql`
          SELECT FROM payments p WHERE p.ref = ${ref} AND p.state IN ('held', 'refunded', 'dismissed') AND p.tx_hash IS NULL
            AND p.value_wei = ${residueWei.toString()} AND p.block_hash = ${block.hash} AND ${isDecided(sql)} = ${isDecidedByHand} FOR UPDATE OF p`
      : await sql`
          SELECT FROM wallet_outflows o WHERE o.ref = ${ref} AND o.tx_hash IS NULL AND o.block_hash = ${block.hash} FOR UPDATE OF o`
  return rows.count > 0
}

/** Takes a residue out of the books, because its transfers are now booked one by one. It must be locked and undecided. */
export async function replaceResidue(sql: Sql, { ref, residueWei }: TraceableResidue): Promise<void> {
  const removedCount =
    residueWei > 0n
      ? await explainResidue(sql, sql`p.ref = ${ref}`)
      : (await sql`DELETE FROM wallet_outflows WHERE ref = ${ref}`).count
  if (removedCount !== 1) throw new Error(`residue ${ref} was locked, but is gone`)
  await sql`DELETE FROM residue_traces WHERE ref = ${ref}`
}
