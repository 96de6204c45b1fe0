// Migrations: each once, whoever starts and how many at once; never one that was changed; never in the way of a newer schema.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isMigrated, migrate, readMigrations } from '../../src/db/migrate.ts'
import { connect, type Pool } from '../../src/db/sql.ts'
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
