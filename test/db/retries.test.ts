// The time to read payments that await a verdict grows only with their number, whatever statistics the database has for the table.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { readUndecidedPayments } from '../../src/db/payments/queues.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

const PAYMENTS = 1_000

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
  // One wallet's, in one block; another one's behind them.
  const hash = pool`'0x' || lpad(to_hex(n), 64, '0')`
  await pool`INSERT INTO payments (id, tx_hash, ref, wallet, from_address, value_wei, succeeded, state, block_number, block_hash, tx_index, block_time)
    OVERRIDING SYSTEM VALUE
    SELECT n, ${hash}, ${hash}, '0x' || repeat('f3', 20), '0x' || repeat(CASE WHEN n > ${PAYMENTS} THEN 'b2' ELSE 'a1' END, 20), 5, true, 'seen', 7,
      '0x' || repeat('77', 32), n, to_timestamp(100) FROM generate_series(1, ${PAYMENTS + 1}::int) n`
})
after(() => database.close())

const read = (sql: Pool, now: number) => readUndecidedPayments(sql, now, { upToBlock: 7, limit: 10_000 })

test('many payments of one wallet are read once each, none of them once for each other', async () => {
  const rows = await pool.begin(async (sql) => {
    assert.equal((await read(sql as unknown as Pool, 200)).length, PAYMENTS + 1)
    const [counted] = await sql<{ rows: number }[]>`
      SELECT seq_tup_read + coalesce(idx_tup_fetch, 0) AS rows FROM pg_stat_xact_user_tables WHERE relname = 'payments'`
    return counted?.rows ?? assert.fail()
  })
  assert.ok(rows < 5 * PAYMENTS, `${rows} rows were read`)
})
