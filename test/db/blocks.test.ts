// The followed headers, and what they prove.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertBlocks, readBlock } from '../../src/db/blocks/blocks.ts'
import { headersProvenFrom, readMode, setMode } from '../../src/db/blocks/evidence.ts'
import { noteStuck, readStuck } from '../../src/db/blocks/stuck.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import type { Block } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
})
after(() => database.close())

const hash = (digit: number) => `0x${String(digit).repeat(64)}` as Hash

test('a header replaces another one of its height, and never its own', async () => {
  const blocks = [1, 2].map(
    (n): Block => ({ number: n, hash: hash(n), parentHash: hash(n - 1), time: 100 + n, prevrandao: hash(7) }),
  )
  const [first, second] = blocks as [Block, Block]
  await insertBlocks(pool, blocks)
  const other = { number: 2, hash: hash(3), parentHash: hash(4), time: 105, prevrandao: hash(8) }
  await insertBlocks(pool, [first, other])
  assert.deepEqual({ ...(await readBlock(pool, 1)) }, first)
  assert.deepEqual({ ...(await readBlock(pool, 2)) }, other)
  await insertBlocks(pool, [second])
  assert.deepEqual({ ...(await readBlock(pool, 2)) }, second)
})

test('each block that stops runs has its own count', async () => {
  const stops = (block: number) => noteStuck(pool, { block, rule: 'a rule', host: null })
  for (const block of [5, 5, 5]) await stops(block)
  await pool`UPDATE troubles SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'stuck'`
  assert.equal(await stops(6), null)
  assert.equal(await readStuck(pool), null)
  const [row] = await pool`SELECT value FROM troubles WHERE name = 'stuck'`
  assert.deepEqual([row?.value.block, row?.value.runs, row?.value.since > '2021'], [6, 1, true])
})

test('a mode counts from the block after the cursor, and setting it twice changes nothing', async () => {
  assert.deepEqual([await readMode(pool), await headersProvenFrom(pool)], [null, null])
  await setMode(pool, 'proven', { by: 'pass' })
  assert.deepEqual(await readMode(pool), { mode: 'proven', fromBlock: 0, by: 'pass' })
  assert.equal(await headersProvenFrom(pool), -1)
  await pool`INSERT INTO cursors (name, block_number, block_hash, block_time) VALUES ('follow', 20, ${hash(2)}, 20)`
  await setMode(pool, 'proven', { by: 'a person' })
  assert.equal((await readMode(pool))?.by, 'pass')
  await setMode(pool, 'agreed', { by: 'a person', reason: 'a fork' })
  assert.deepEqual(
    [await readMode(pool), await headersProvenFrom(pool)],
    [{ mode: 'agreed', fromBlock: 21, by: 'a person' }, null],
  )
  await setMode(pool, 'proven', { by: 'a person' })
  assert.equal(await headersProvenFrom(pool), 20)
  const rows = await pool<{ detail: object }[]>`SELECT detail FROM audit WHERE action = 'evidenceSet' ORDER BY id`
  assert.deepEqual(
    rows.map(({ detail }) => detail),
    [
      { before: null, after: 'proven', fromBlock: 0 },
      { before: 'proven', after: 'agreed', fromBlock: 21, reason: 'a fork' },
      { before: 'agreed', after: 'proven', fromBlock: 21 },
    ],
  )
})
