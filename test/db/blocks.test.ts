// The followed headers.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertBlocks, readBlock } from '../../src/db/blocks/blocks.ts'
import { connect } from '../../src/db/core/sql.ts'
import type { Block } from '../../src/domain/observed.ts'
import type { Hash } from '../../src/domain/units.ts'
import { createDatabase } from '../support/postgres.ts'

const hash = (digit: number) => `0x${String(digit).repeat(64)}` as Hash

test('a header takes the place of another one of its height, and leaves its own as it is', async () => {
  const database = await createDatabase()
  const pool = connect(database.url, { max: 1, prepare: true, applicationName: 'test' })
  try {
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
  } finally {
    await pool.end({ timeout: 1 })
    await database.drop()
  }
})
