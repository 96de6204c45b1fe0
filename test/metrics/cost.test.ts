// A scrape costs the same whatever the ledger holds: it scans nothing that grows with the ledger.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { readFigures } from '../../src/db/reads/metrics.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'
import { readFigure } from './figure.ts'

/** Tables that grow with the ledger; the others are as small as the operator's terms. */
const GROWING = [
  'payments',
  'nodes',
  'rounds',
  'turns',
  'withdrawals',
  'outbox',
  'outbox_attempts',
  'webhook_deliveries',
  'webhook_events',
]
const PAYMENTS = 40_000

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(1, { prepare: false })
  pool = database.pool
  const hash = (n: string) => pool`'0x' || lpad(to_hex(${pool.unsafe(n)}), 64, '0')`
  await pool`INSERT INTO payments (tx_hash, ref, wallet, from_address, value_wei, succeeded, state, reason, block_number, block_hash, tx_index, block_time)
    SELECT ${hash('n')}, ${hash('n')}, '0x' || repeat('f3', 20), '0x' || repeat('a1', 20), 5, true, 'ignored', 'operator', n, ${hash('n')}, 0, to_timestamp(100)
    FROM generate_series(1, ${PAYMENTS}::int) n`
  await pool`UPDATE payments SET state = 'held', reason = 'wrongAmount' WHERE id % 2000 = 0`
  await pool`INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until, state, block_number, block_hash, tx_hash, gas_used, fee_wei)
    SELECT 'mint', '0x' || repeat('b2', 20), n, '{}', 1, 900, 'mined', n, ${hash('n')}, ${hash('n')}, 1, 1 FROM generate_series(1, 10000) n`
  await pool`INSERT INTO outbox_attempts (tx_hash, outbox_id, attempt, raw, max_fee_wei, max_priority_fee_wei, signed_at_block)
    SELECT ${hash('id')}, id, 1, '0x00', 1, 1, 1 FROM outbox`
  await pool`INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by) VALUES ('x', 'https://x.example', '{whsec_x}', 'test')`
  await pool`INSERT INTO webhook_events (id, type, body) SELECT n::text, 't', '{}' FROM generate_series(1, 10000) n`
  await pool`INSERT INTO webhook_deliveries (seq, endpoint, state) SELECT seq, 'x', CASE WHEN seq > 9990 THEN 'pending' ELSE 'delivered' END
    FROM webhook_events`
  await pool`VACUUM ANALYZE`
})
after(() => database.close())

test('on a ledger of tens of thousands of rows it reads few of them', async () => {
  assert.equal(await readFigure(pool, 'node_ledger_payments_held', { reason: 'wrongAmount' }), PAYMENTS / 2_000)
  assert.equal(await readFigure(pool, 'node_ledger_webhook_pending'), 10)
  const before = await rowsRead()
  for (let i = 0; i < 3; i++) await readFigures(pool)
  const after = await rowsRead()
  for (const table of GROWING) {
    const read = (after[table] ?? 0) - (before[table] ?? 0)
    assert.ok(read < 1_000, `${read} rows of ${table} were read by three scrapes`)
  }
})

/** Rows read of each table, from the table or its indexes, by PostgreSQL's own count. */
async function rowsRead(): Promise<Record<string, number>> {
  await pool`SELECT pg_stat_force_next_flush()`
  await pool`SELECT pg_stat_clear_snapshot()`
  const rows = await pool<{ name: string; n: number }[]>`
    SELECT relname AS name, seq_tup_read + coalesce((SELECT sum(idx_tup_read) FROM pg_stat_user_indexes i WHERE i.relid = t.relid), 0)::bigint AS n
    FROM pg_stat_user_tables t`
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]))
}
