// The blocks that give turns their seeds: each is the first at or after the time of a turn. We keep a block until every cohort's turn in it is paid,
// which may be long after its header is gone. There is one row for each block with turns, whatever the number of cohorts.
import type { Proof } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import { jsonRows, type Sql } from '../core/sql.ts'

/** A block whose seed is used for the turns due after its parent's time, up to its own time. */
export interface SeedBlock {
  number: number
  time: number
  /** Unix seconds; null for a block without a parent. */
  parentTime: number | null
  seed: Hash
  /** What proves these values. */
  proof: Proof
}

/** The seed of one turn, and its block. */
interface KeptSeed extends Pick<SeedBlock, 'seed' | 'proof'> {
  seedBlock: number
}

/** Stores the seed blocks of a range, in the range's transaction. */
export async function insertSeedBlocks(sql: Sql, blocks: readonly SeedBlock[]): Promise<void> {
  if (blocks.length === 0) return
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT number, time, "parentTime", seed, proof
    FROM jsonb_to_recordset(${jsonRows(blocks)}::text::jsonb) AS r(number bigint, time bigint, "parentTime" bigint, seed text, proof text)
    ON CONFLICT (number) DO UPDATE SET time = excluded.time, parent_time = excluded.parent_time, seed = excluded.seed,
      proof = excluded.proof`
}

/** Stores a block that we looked up on the chain, because its header is too old to be stored. No reorganisation that we can follow reaches it. */
export async function keepOldSeedBlock(sql: Sql, { number, time, parentTime, seed, proof }: SeedBlock): Promise<void> {
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT ${number}, ${time}, ${parentTime}, ${seed}, ${proof} WHERE ${number} < (SELECT min(number) FROM blocks)
    ON CONFLICT (number) DO NOTHING`
}

/** Replaces one provider's values for a followed block with values on which two providers agree. */
export async function keepAgreedSeedBlock(
  sql: Sql,
  { number, time, parentTime, seed, proof }: SeedBlock,
): Promise<void> {
  await sql`
    INSERT INTO seed_blocks (number, time, parent_time, seed, proof)
    SELECT ${number}, ${time}, ${parentTime}, ${seed}, ${proof} FROM cursors WHERE name = 'follow' AND block_number >= ${number}
    ON CONFLICT (number) DO UPDATE SET time = excluded.time, parent_time = excluded.parent_time, seed = excluded.seed, proof = excluded.proof`
}

/** The seed block of a turn; null if we do not keep it. */
export async function readSeedBlock(sql: Sql, due: number): Promise<KeptSeed | null> {
  // Beside the true block there may be one that an only provider invented.
  const [row] = await sql<KeptSeed[]>`
    WITH following AS (
      (SELECT * FROM seed_blocks WHERE time >= ${due} AND proof <> 'believed' ORDER BY time, number LIMIT 1)
      UNION ALL
      (SELECT * FROM seed_blocks WHERE time >= ${due} ORDER BY time, number LIMIT 1))
    SELECT number AS "seedBlock", seed, proof FROM following
    WHERE parent_time < ${due} OR parent_time IS NULL ORDER BY proof = 'believed' LIMIT 1`
  return row ?? null
}

/** Rewinds the seed blocks to a height. */
export async function rewindSeedBlocks(sql: Sql, height: number): Promise<void> {
  await sql`DELETE FROM seed_blocks WHERE number > ${height}`
}

/** The most rows that one call deletes. */
const FORGOTTEN_MAX = 1_000

/**
 * Deletes blocks older than any turn still to be paid, even after the deepest reorganisation that the ledger can follow. Deletes only some of them at
 * a time.
 */
export async function forgetSeedBlocks(sql: Sql): Promise<void> {
  await sql`
    DELETE FROM seed_blocks WHERE number IN (
      SELECT number FROM seed_blocks WHERE time < (
        SELECT min(next_due) FROM (
          SELECT next_due FROM cohorts WHERE size > 0 UNION ALL SELECT next_due FROM cohort_states WHERE size > 0) turns)
      ORDER BY time, number LIMIT ${FORGOTTEN_MAX})`
}
