// The followed chain: recent headers and the cursor. The cursor moves only together with the contents of its blocks, in one transaction
// that holds the cursor's row lock.
import type { Block } from '../../domain/observed.ts'
import type { Hash } from '../../domain/units.ts'
import { column, type Sql } from '../core/sql.ts'

/** The block up to which the ledger has followed. `time` is unix seconds. */
export interface Cursor {
  number: number
  hash: Hash
  time: number
}

/** Reads the cursor; null before the first block is stored. With `lock`, no other transaction can move it until this one ends. */
export async function readCursor(sql: Sql, options: { lock: boolean } = { lock: false }): Promise<Cursor | null> {
  const [row] = await sql<Cursor[]>`
    SELECT block_number AS number, block_hash AS hash, block_time AS time FROM cursors WHERE name = 'follow'
    ${options.lock ? sql`FOR UPDATE` : sql``}`
  return row ?? null
}

/**
 * Sets a cursor if there is none. In that case there is no row to lock. If several transactions store the first blocks at the same time, all but one wait
 * here.
 * @returns false if another transaction has set the cursor.
 */
export async function beginCursor(sql: Sql, cursor: Cursor): Promise<boolean> {
  const insertion = await sql`
    INSERT INTO cursors (name, block_number, block_hash, block_time)
    VALUES ('follow', ${cursor.number}, ${cursor.hash}, ${cursor.time}) ON CONFLICT (name) DO NOTHING`
  return insertion.count > 0
}

/** Removes the cursor, so the ledger has followed no block. */
export async function removeCursor(sql: Sql): Promise<void> {
  await sql`DELETE FROM cursors WHERE name = 'follow'`
}

export async function writeCursor(sql: Sql, cursor: Cursor): Promise<void> {
  await sql`
    INSERT INTO cursors (name, block_number, block_hash, block_time)
    VALUES ('follow', ${cursor.number}, ${cursor.hash}, ${cursor.time})
    ON CONFLICT (name) DO UPDATE SET block_number = excluded.block_number, block_hash = excluded.block_hash,
      block_time = excluded.block_time`
}

/** Stores headers. A header replaces the one stored at its height. */
export async function insertBlocks(sql: Sql, blocks: readonly Block[]): Promise<void> {
  await sql`
    INSERT INTO blocks AS b (number, hash, parent_hash, time, prevrandao)
    SELECT * FROM unnest(${column(blocks, 'number')}::bigint[], ${column(blocks, 'hash')}::text[],
      ${column(blocks, 'parentHash')}::text[], ${column(blocks, 'time')}::bigint[], ${column(blocks, 'prevrandao')}::text[])
    ON CONFLICT (number) DO UPDATE SET hash = excluded.hash, parent_hash = excluded.parent_hash, time = excluded.time,
      prevrandao = excluded.prevrandao WHERE b.hash <> excluded.hash`
}

/** A stored header, or null. */
export async function readBlock(sql: Sql, number: number): Promise<Block | null> {
  const [row] = await sql<Block[]>`
    SELECT number, hash, parent_hash AS "parentHash", time, prevrandao FROM blocks WHERE number = ${number}`
  return row ?? null
}

/** The hashes of the stored headers among these heights. */
export async function readHashes(sql: Sql, numbers: readonly number[]): Promise<Map<number, Hash>> {
  const rows = await sql<{ number: number; hash: Hash }[]>`
    SELECT number, hash FROM blocks WHERE number = ANY(${[...numbers]})`
  return new Map(rows.map(({ number, hash }) => [number, hash]))
}

/** The newest stored header up to a height and a time; null if there is none. */
export async function readBlockUpTo(sql: Sql, at: { number: number; time: number }): Promise<Block | null> {
  const [row] = await sql<Block[]>`
    SELECT number, hash, parent_hash AS "parentHash", time, prevrandao FROM blocks
    WHERE number <= ${at.number} AND time <= ${at.time} ORDER BY number DESC LIMIT 1`
  return row ?? null
}

/** Lowest stored height, or null if none is stored. */
export async function oldestBlockNumber(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ number: number | null }[]>`SELECT min(number) AS number FROM blocks`
  return row?.number ?? null
}

/** The first stored block not before `time`, with its parent. Null if its parent is not stored, because then an earlier block may qualify too. */
export async function firstStoredBlockAt(sql: Sql, time: number): Promise<{ block: Block; parent: Block } | null> {
  // Binary search for one block: no header has an earlier time than its parent, and none is missing in between.
  const [block] = await sql<Block[]>`
    WITH RECURSIVE search(low, high) AS (
      SELECT min(number), max(number) FROM blocks
      UNION ALL
      SELECT CASE WHEN b.time < ${time} THEN b.number + 1 ELSE s.low END, CASE WHEN b.time < ${time} THEN s.high ELSE b.number END
      FROM search s JOIN blocks b ON b.number = (s.low + s.high) / 2 WHERE s.low < s.high)
    SELECT number, hash, parent_hash AS "parentHash", time, prevrandao FROM search JOIN blocks ON number = low
    WHERE low = high AND time >= ${time}`
  if (!block) return null
  const parent = await readBlock(sql, block.number - 1)
  return parent && parent.time < time ? { block, parent } : null
}

/** Deletes headers below a height. */
export async function pruneBlocks(sql: Sql, below: number): Promise<void> {
  await sql`DELETE FROM blocks WHERE number < ${below}`
}

/** Deletes headers above a height, because they are no longer canonical. */
export async function deleteBlocksAbove(sql: Sql, height: number): Promise<number> {
  const result = await sql`DELETE FROM blocks WHERE number > ${height}`
  return result.count
}
