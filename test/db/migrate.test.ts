// Migrations: each once, however many processes start at once; never one that was changed; never in the way of a newer schema.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { FirstVersionError, isMigrated, migrate, readMigrations } from '../../src/db/core/migrate.ts'
import { connect, type Pool } from '../../src/db/core/sql.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let pool: Pool
let names: string[]
before(async () => {
  database = await createEmptyDatabase()
  pool = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
  names = (await readMigrations()).map((migration) => migration.name)
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

test('an empty database is not migrated', async () => {
  assert.equal(await isMigrated(pool), false)
})

test('instances that start at once apply each migration once', async () => {
  const applied = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)])
  assert.deepEqual(applied.flat().sort(), names)
  assert.equal(await isMigrated(pool), true)
})

test('a second start has nothing to apply', async () => {
  assert.deepEqual(await migrate(database.url), [])
})

test('a schema newer than this code is no obstacle to it', async () => {
  await pool`INSERT INTO migrations (name, checksum) VALUES ('9999_from_the_future.sql', 'unknown')`
  assert.deepEqual(await migrate(database.url), [])
  assert.equal(await isMigrated(pool), true)
})

test('a migration that was changed after it ran is refused by its name, and nothing is applied', async () => {
  await pool`UPDATE migrations SET checksum = 'other' WHERE name = ${names[0] ?? ''}`
  await assert.rejects(migrate(database.url), new RegExp(`${names[0]} was changed after it was applied`))
})

test('a schema that lacks a migration is not migrated', async () => {
  await pool`DELETE FROM migrations WHERE name = ${names.at(-1) ?? ''}`
  assert.equal(await isMigrated(pool), false)
})

test('transactions from before the trends are given the time of their block, as far as anything tells it', async () => {
  const older = await createEmptyDatabase()
  const sql = connect(older.url, { max: 1, prepare: false, applicationName: 'test' })
  const before = (await readMigrations()).filter(({ name }) => name < '0012')
  await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`
  for (const { name, checksum, ...migration } of before) {
    await sql.unsafe(migration.sql)
    await sql`INSERT INTO migrations (name, checksum) VALUES (${name}, ${checksum})`
  }
  const hash = (n: number) => `0x${String(n).padStart(64, '0')}`
  await sql`INSERT INTO blocks (number, hash, parent_hash, time, prevrandao) VALUES (9, ${hash(9)}, ${hash(8)}, 900, ${hash(1)})`
  // The header of this one is forgotten.
  await sql`INSERT INTO rounds (round, block_number, block_hash, created_at, mode, node_count, total_wei, tx_hash)
    VALUES (1, 7, ${hash(7)}, to_timestamp(700), 'treasury', 1, 1, ${hash(17)})`
  const sender = `0x${'a1'.repeat(20)}`
  for (const [nonce, block] of [
    [1, 7],
    [2, 8],
    [3, 9],
    [4, null],
  ] as const)
    await sql`INSERT INTO outbox (kind, sender, nonce, call, gas_limit, valid_until, created_at, state, block_number, block_hash, tx_hash)
      VALUES ('credit', ${sender}, ${nonce}, '{}', 1, 1, to_timestamp(600), ${block ? 'mined' : 'pending'}, ${block}, ${block && hash(block)},
        ${block && hash(10 + block)})`
  await migrate(older.url)
  const rows = await sql<
    { sec: number | null }[]
  >`SELECT extract(epoch FROM block_time)::int AS sec FROM outbox ORDER BY nonce`
  assert.deepEqual(
    rows.map(({ sec }) => sec),
    [700, 600, 900, null],
  )
  await sql.end({ timeout: 1 })
  await older.drop()
})

test('a migration that fails leaves nothing behind', async () => {
  const broken = await createEmptyDatabase()
  const sql = connect(broken.url, { max: 1, prepare: false, applicationName: 'test' })
  // In the way of the last table of the first migration.
  await sql`CREATE TABLE audit (id int)`
  await assert.rejects(migrate(broken.url), /already exists/)
  const [found] = await sql`SELECT to_regclass('blocks')::text AS blocks, to_regclass('migrations')::text AS migrations`
  assert.deepEqual({ ...found }, { blocks: null, migrations: null })
  await sql.end({ timeout: 1 })
  await broken.drop()
})

test('a database of the first version is refused with the remedy, and nothing in it is changed', async () => {
  const former = await createEmptyDatabase()
  const sql = connect(former.url, { max: 1, prepare: false, applicationName: 'test' })
  await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL)`
  await sql`INSERT INTO migrations VALUES ('0001_ledger.sql', 'of the first version')`
  await assert.rejects(migrate(former.url), (error) => {
    assert.ok(error instanceof FirstVersionError)
    assert.match(error.message, /Nothing was changed\. Set DATABASE_URL/)
    return true
  })
  const tables = await sql<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  assert.deepEqual(
    tables.map(({ name }) => name),
    ['migrations'],
  )
  assert.equal((await sql`SELECT FROM migrations`).length, 1)
  await sql.end({ timeout: 1 })
  await former.drop()
})
