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
