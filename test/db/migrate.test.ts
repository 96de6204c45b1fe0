// Migrations: each runs once, however many processes start at once; never a changed one; never against a newer schema. This test
// makes up what a release adds to the first one. A ledger of a checkout from before the first release is refused.
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  compareMigrations,
  isLedger,
  isMigrated,
  MIGRATIONS,
  migrate,
  readMigrations,
  UnreleasedLedgerError,
} from '../../src/db/core/migrate.ts'
import { connect, type Pool } from '../../src/db/core/sql.ts'
import { createEmptyDatabase, meetAt, type TestDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'

/** The migrations of a next release: this code's, and a made-up one. */
const next = pathToFileURL(`${temporaryDirectory()}/`)
cpSync(fileURLToPath(MIGRATIONS), fileURLToPath(next), { recursive: true })
let names: string[]
let added: string
let database: TestDatabase
let pool: Pool
before(async () => {
  database = await createEmptyDatabase()
  pool = connect(database.url, { max: 2, prepare: false, applicationName: 'test' })
  names = (await readMigrations()).map((migration) => migration.name)
  added = `${String(names.length + 1).padStart(4, '0')}_notes.sql`
  writeNext('CREATE TABLE notes (id bigint PRIMARY KEY); ALTER TABLE payments ADD COLUMN note text;')
})
after(async () => {
  await pool.end({ timeout: 1 })
  await database.drop()
})

/** Applies what is missing of each of these, by instances that meet at the lock. */
const start = (...folders: URL[]) =>
  meetAt(
    pool,
    (sql) => sql`SELECT pg_advisory_xact_lock(7340001)`,
    folders.map((folder) => () => migrate(database.url, folder)),
  )
const writeNext = (sql: string, name = added) => writeFileSync(new URL(name, next), sql)
const tablesOf = async (sql: Pool) => {
  const rows = await sql<{ name: string }[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`
  return rows.map(({ name }) => name)
}
const isUnreleased = (error: unknown) =>
  error instanceof UnreleasedLedgerError &&
  error.message ===
    'this ledger belongs to an unreleased checkout; its refunds, releases and deny list are not on the chain, so export them with that checkout first'

test('an empty database is not migrated, and no ledger', async () => {
  assert.deepEqual([await isMigrated(pool), await isLedger(pool)], [false, false])
})

test('instances that start together apply each migration once', async () => {
  const applied = await start(MIGRATIONS, MIGRATIONS, MIGRATIONS)
  assert.deepEqual(applied.flat().sort(), names)
  assert.deepEqual([await isMigrated(pool), await isLedger(pool)], [true, true])
})

test('a second start has nothing to apply', async () => {
  assert.deepEqual(await migrate(database.url), [])
})

test('a next migration that fails leaves nothing behind, and the ledger as it was', async () => {
  const before = await tablesOf(pool)
  writeNext('CREATE TABLE notes (id bigint PRIMARY KEY); SELECT no_such_function();')
  await assert.rejects(migrate(database.url, next), /no_such_function/)
  assert.deepEqual((await tablesOf(pool)).sort(), before.sort())
  writeNext('CREATE TABLE notes (id bigint PRIMARY KEY); ALTER TABLE payments ADD COLUMN note text;')
})

test('one of several starting instances applies a new migration once, beside old code', async () => {
  const applied = await start(next, MIGRATIONS, next)
  assert.deepEqual(applied.flat(), [added])
  assert.ok((await tablesOf(pool)).includes('notes'))
})

test('a schema newer than this code is no obstacle to it', async () => {
  assert.deepEqual(await migrate(database.url), [])
  assert.equal(await isMigrated(pool), true)
  assert.deepEqual(await compareMigrations(pool), { applied: names, missing: [], unknown: [added] })
})

test('a later migration that changed after it ran is refused by name, and nothing is applied', async () => {
  writeNext('CREATE TABLE notes (id bigint PRIMARY KEY, text text);')
  writeNext('CREATE TABLE more_notes (id bigint PRIMARY KEY);', `${String(names.length + 2).padStart(4, '0')}_more.sql`)
  await assert.rejects(migrate(database.url, next), new RegExp(`${added} was changed after it was applied`))
  assert.equal((await tablesOf(pool)).includes('more_notes'), false)
})

test('a folder in which a number is missing is refused', async () => {
  const gap = pathToFileURL(`${temporaryDirectory()}/`)
  cpSync(fileURLToPath(MIGRATIONS), fileURLToPath(gap), { recursive: true })
  writeFileSync(new URL('0009_gap.sql', gap), 'SELECT 1')
  await assert.rejects(migrate(database.url, gap), /without gaps; 0009_gap\.sql/)
})

test('a schema that lacks a migration is not migrated', async () => {
  await pool`DELETE FROM migrations`
  assert.equal(await isMigrated(pool), false)
})

test('a first migration that fails leaves nothing behind', async () => {
  const broken = await createEmptyDatabase()
  const sql = connect(broken.url, { max: 1, prepare: false, applicationName: 'test' })
  // Conflicts with one of its last tables.
  await sql`CREATE TABLE audit (id int)`
  await assert.rejects(migrate(broken.url), /already exists/)
  assert.deepEqual(await tablesOf(sql), ['audit'])
  await sql.end({ timeout: 1 })
  await broken.drop()
})

for (const [what, rows] of [
  ['whose first migration has another text', [['0001_schema.sql', 'of another text']]],
  ['whose first migration has another name', [['0001_ledger.sql', 'of another text']]],
  [
    'of many migrations',
    [
      ['0001_schema.sql', 'of another text'],
      ['0002_junk.sql', 'of another text'],
    ],
  ],
] as const)
  test(`a ledger ${what} is of an unreleased checkout: it is refused, and nothing in it is changed`, async () => {
    const older = await createEmptyDatabase()
    const sql = connect(older.url, { max: 1, prepare: false, applicationName: 'test' })
    await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL)`
    for (const [name, checksum] of rows) await sql`INSERT INTO migrations VALUES (${name}, ${checksum})`
    for (const look of [
      () => migrate(older.url),
      () => isLedger(sql),
      () => isMigrated(sql),
      () => compareMigrations(sql),
    ])
      await assert.rejects(look, isUnreleased)
    assert.deepEqual(await tablesOf(sql), ['migrations'])
    assert.equal((await sql`SELECT FROM migrations`).length, rows.length)
    await sql.end({ timeout: 1 })
    await older.drop()
  })
