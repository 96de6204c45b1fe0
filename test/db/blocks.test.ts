// The followed headers, and what they prove.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { insertBlocks, readBlock } from '../../src/db/blocks/blocks.ts'
import { lowerProof, noteProven, readProofStates } from '../../src/db/blocks/proofs.ts'
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

test('a header takes the place of another one of its height, and leaves its own as it is', async () => {
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

test('a block that stops runs is counted for itself: another one begins anew', async () => {
  const stops = (block: number) => noteStuck(pool, { block, rule: 'a rule', host: null })
  for (const block of [5, 5, 5]) await stops(block)
  await pool`UPDATE settings SET value = value || '{"since": "2020-01-01T00:00:00.000Z"}' WHERE name = 'stuck'`
  assert.equal(await stops(6), null)
  assert.equal(await readStuck(pool), null)
  const [row] = await pool`SELECT value FROM settings WHERE name = 'stuck'`
  assert.deepEqual([row?.value.block, row?.value.runs, row?.value.since > '2021'], [6, 1, true])
})

test('a part that a block lowered is proven again by a later block alone, not by that one or an older one', async () => {
  await noteProven(pool, 'header', 5)
  await lowerProof(pool, 'header', { blockNumber: 20, by: 'pass' })
  for (const [number, state] of [
    [19, 'lowered'],
    [20, 'lowered'],
    [21, 'askedFor'],
  ] as const) {
    await noteProven(pool, 'header', number)
    assert.equal((await readProofStates(pool)).get('header'), state, String(number))
  }
})
