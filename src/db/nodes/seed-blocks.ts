// The blocks from which turns have their seeds: each was the first not before a turn. Kept until every cohort's turn in them is paid, which
// may be long after their headers are gone. One row for each block in which turns came, whatever the number of cohorts.
import type { Proof } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

/** A block with the seed of the turns that came after its parent and not after it. */
export interface SeedBlock {
  number: number
  time: number
  /** Unix seconds; null for a block without parent. */
  parentTime: number | null
  seed: Hash
  /** What they rest on. */
  proof: Proof
}

/** The same of a turn. */
interface KeptSeed extends Pick<SeedBlock, 'seed' | 'proof'> {
  seedBlock: number
}

/** Keeps blocks of a range that is being stored. */
export async function insertSeedBlocks(sql: Sql, blocks: readonly SeedBlock[]): Promise<void> {
  if (blocks.length === 0) return
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT number, time, "parentTime", seed, proof
    FROM jsonb_to_recordset(${jsonRows(blocks)}::text::jsonb) AS r(number bigint, time bigint, "parentTime" bigint, seed text, proof text)
    ON CONFLICT (number) DO UPDATE SET time = excluded.time, parent_time = excluded.parent_time, seed = excluded.seed,
      proof = excluded.proof`
}

/** Keeps a block that was looked up on the chain, where its header is too old to be stored: no reorganisation can be followed that deep. */
export async function keepOldSeedBlock(sql: Sql, { number, time, parentTime, seed, proof }: SeedBlock): Promise<void> {
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT ${number}, ${time}, ${parentTime}, ${seed}, ${proof} WHERE ${number} < (SELECT min(number) FROM blocks)
    ON CONFLICT (number) DO NOTHING`
}

/** Keeps a followed block as two providers tell it, in the place of what one has told. */
export async function keepAgreedSeedBlock(
  sql: Sql,
  { number, time, parentTime, seed, proof }: SeedBlock,
): Promise<void> {
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT ${number}, ${time}, ${parentTime}, ${seed}, ${proof} FROM cursors WHERE name = 'follow' AND block_number >= ${number}
    ON CONFLICT (number) DO UPDATE SET time = excluded.time, parent_time = excluded.parent_time, seed = excluded.seed, proof = excluded.proof`
}

/** The block of a turn; null where it is not kept. */
export async function readSeedBlock(sql: Sql, due: number): Promise<KeptSeed | null> {
  const [row] = await sql<(KeptSeed & { isFirst: boolean })[]>`
    SELECT number AS "seedBlock", seed, proof, coalesce(parent_time < ${due}, true) AS "isFirst" FROM seed_blocks
    WHERE time >= ${due} ORDER BY time, number LIMIT 1`
  return row?.isFirst ? { seedBlock: row.seedBlock, seed: row.seed, proof: row.proof } : null
}

/** Takes back what is above a height. */
export async function rewindSeedBlocks(sql: Sql, height: number): Promise<void> {
  await sql`DELETE FROM seed_blocks WHERE number > ${height}`
}

/** Rows that one call forgets at most. */
const FORGOTTEN_MAX = 1_000

/**
 * Forgets blocks before every turn that is still to be paid, now or after a reorganisation that the ledger can follow. Removes a part of
 * them at once.
 */
export async function forgetSeedBlocks(sql: Sql): Promise<void> {
  await sql`
    DELETE FROM seed_blocks WHERE number IN (
      SELECT number FROM seed_blocks WHERE time < (
        SELECT min(next_due) FROM (
          SELECT next_due FROM cohorts WHERE size > 0 UNION ALL SELECT next_due FROM cohort_states WHERE size > 0) turns)
      ORDER BY time, number LIMIT ${FORGOTTEN_MAX})`
}
