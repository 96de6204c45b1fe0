// A connection that goes in the middle of a transaction: whoever ran it is told, and the process lives on.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, inTransaction, type Pool, type Sql } from '../../src/db/sql.ts'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let pool: Pool
before(async () => {
  database = await createDatabase()
  pool = connect(database.url, { max: 3, prepare: true, applicationName: 'test' })
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

/** Ends the backend of a transaction, from another connection. */
async function cut(sql: Sql): Promise<void> {
  const [own] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
  await pool`SELECT pg_terminate_backend(${own?.pid ?? 0})`
}
/** Long enough for the driver to have noticed, and to fall over it. */
const NOTICED_MS = 100

test('lost between two statements', async () => {
  const run = inTransaction(pool, async (sql) => {
    await cut(sql)
    await sleep(NOTICED_MS)
    await sql`SELECT 1`
  })
  await assert.rejects(run)
  await sleep(NOTICED_MS)
  assert.equal((await pool`SELECT 1`).count, 1)
})

test('lost while a statement runs', async () => {
  const run = inTransaction(pool, async (sql) => {
    const [own] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`
    setTimeout(() => void pool`SELECT pg_terminate_backend(${own?.pid ?? 0})`.then(), 50)
    await sql`SELECT pg_sleep(5)`
  })
  await assert.rejects(run)
  await sleep(NOTICED_MS)
  assert.equal((await pool`SELECT 1`).count, 1)
})

test('lost before the commit', async () => {
  const run = inTransaction(pool, async (sql) => {
    await cut(sql)
    await sleep(NOTICED_MS)
  })
  await assert.rejects(run)
  await sleep(NOTICED_MS)
  assert.equal((await pool`SELECT 1`).count, 1)
})

test('an error of the body’s own takes everything back, and the connection serves on', async () => {
  const run = inTransaction(pool, async (sql) => {
    await sql`INSERT INTO settings (key, value, changed_by) VALUES ('gone', '1', 'test')`.catch(() => {})
    throw new Error('of its own')
  })
  await assert.rejects(run, /of its own/)
  for (let i = 0; i < 10; i++) assert.equal(await inTransaction(pool, async (sql) => (await sql`SELECT 1`).count), 1)
})

test('what a transaction holds is free again though its process is stopped: the server waits a minute for its next statement', async () => {
  const [row] = await inTransaction(pool, (sql) => sql`SHOW idle_in_transaction_session_timeout`)
  assert.deepEqual(row, { idle_in_transaction_session_timeout: '1min' })
  const [outside] = await pool`SHOW idle_in_transaction_session_timeout`
  assert.deepEqual(outside, { idle_in_transaction_session_timeout: '0' }, 'nobody else is given it by a pooler')
})
