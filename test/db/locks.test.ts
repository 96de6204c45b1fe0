// The pass locks: one holder across instances, freed however the holder ends, and a loss raises an error.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { withLock } from '../../src/db/core/locks.ts'
import type { Pool } from '../../src/db/core/sql.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
})
after(() => database.close())

test('a second caller is refused a held lock immediately, other locks stay free', async () => {
  const taken = Promise.withResolvers<void>()
  const { promise: done, resolve: release } = Promise.withResolvers<string>()
  const held = withLock(database.url, 'payments', () => {
    taken.resolve()
    return done
  })
  await taken.promise
  assert.equal(await withLock(database.url, 'payments', async () => assert.fail('two holders')), null)
  assert.equal(await withLock(database.url, 'credit', async () => 'another lock'), 'another lock')
  release('done')
  assert.equal(await held, 'done')
  assert.equal(await withLock(database.url, 'payments', async () => 'free again'), 'free again')
})

test('a holder that throws frees the lock', async () => {
  await assert.rejects(
    withLock(database.url, 'payments', async () => {
      throw new Error('mid-way')
    }),
    /mid-way/,
  )
  assert.equal(await withLock(database.url, 'payments', async () => 'free again'), 'free again')
})

test('a holder with a cut connection learns of it, and another may acquire the lock', { timeout: 30_000 }, async () => {
  const outcome = await withLock(database.url, 'payments', async (signal) => {
    assert.equal(signal.aborted, false)
    await pool`
      SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
      WHERE application_name = 'node-ledger lock payments' AND datname = current_database()`
    const aborted = once(signal, 'abort')
    const other = await withLock(database.url, 'payments', async () => 'taken over')
    await aborted
    return other
  })
  assert.equal(outcome, 'taken over')
})
