// Databases in which no ledger can begin. The service refuses each with a sentence that says what to do, and leaves nothing in it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { migrateWhenUp } from '../../src/boot/preflight.ts'
import { connect, type Pool } from '../../src/db/core/sql.ts'
import { runHere, runProcess, worldEnv } from '../support/cli.ts'
import { createEmptyDatabase, type TestDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
let database: TestDatabase
let admin: Pool
before(async () => {
  world = await startWorld()
  database = await createEmptyDatabase()
  admin = connect(database.url, { max: 1, prepare: false, applicationName: 'test' })
})
after(async () => {
  await admin.end({ timeout: 1 })
  await database.drop()
  await world.close()
})

const at = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href

/** Runs `migrate` on a database that it must refuse in a few words. @returns its message. */
async function refused(url: string): Promise<string> {
  const { code, err } = await runHere(['migrate'], { ...worldEnv(world), DATABASE_URL: url, DATABASE_DIRECT_URL: '' })
  assert.ok(code === 1 || code === 2, `${code}: ${err}`)
  assert.doesNotMatch(err, /report it|at .*\.ts:\d/)
  return err
}
const tables = () => admin`SELECT FROM pg_tables WHERE schemaname = 'public'`.then(({ count }) => count)

test('one whose encoding lacks most letters', async () => {
  await admin`CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0`
  assert.match(await refused(at(database.url, 'latin')), /server_encoding is LATIN1.*ENCODING 'UTF8'/)
  await admin`DROP DATABASE latin`
})

test('one in which the user may make no tables, as PostgreSQL 15 has it', async () => {
  await admin`CREATE ROLE plain LOGIN PASSWORD 'plain'`
  const url = Object.assign(new URL(database.url), { username: 'plain', password: 'plain' }).href
  assert.match(await refused(url), /does not permit.*GRANT CREATE ON SCHEMA public/)
  await admin`DROP ROLE plain`
})

test('one with a table “migrations” of another program, or with any other table of ours', async () => {
  await admin`CREATE TABLE migrations (id serial PRIMARY KEY, migration text)`
  assert.match(await refused(database.url), /"migrations" belongs to another program.*empty database/)
  await admin`DROP TABLE migrations`
  await admin`CREATE TABLE audit (id serial PRIMARY KEY)`
  assert.match(await refused(database.url), /"audit" already exists.*empty database/)
  assert.equal(await tables(), 1)
  await admin`DROP TABLE audit`
})

test('one whose sessions accept no writes: the start does not wait', async () => {
  const said = migrateWhenUp(`${database.url}?default_transaction_read_only=on`, () => assert.fail('it waits'))
  await assert.rejects(said, /read-only.*primary/)
})

test('a URL with a parameter that the server does not know', async () => {
  assert.match(await refused(`${database.url}?supabase=yes`), /parameter.*"supabase".*Remove it/)
})

/**
 * Runs a command with a disk of a few megabytes at `disk`, in a mount namespace of its own. So the disk is gone with the command's last process, however
 * it ends. Needs root.
 */
const disk = join(temporaryDirectory(), 'disk')
const onSmallDisk = [
  'unshare',
  ...['--mount', 'sh', '-c', `mount -t tmpfs -o size=8m,mode=0755 tmpfs '${disk}' && exec "$@"`, 'sh'],
]
mkdirSync(disk)
const canMount = spawnSync('unshare', [...onSmallDisk.slice(1), 'true']).status === 0

test('a disk that is full at the first start', {
  skip: !canMount && 'no small disk can be mounted here: that takes root',
}, async () => {
  const ports = { PORT: '0', CHAIN_PORT: '0', METRICS_PORT: '0' }
  const env = { NODE_ENV: 'development', DATA_DIR: join(disk, 'data'), ...ports }
  const { code, err } = await runProcess(['start'], env, { within: onSmallDisk })
  assert.equal(code, 1, err)
  assert.match(err, /No space left.*DATA_DIR/)
  assert.doesNotMatch(err, /report it/)
})

test('a DATA_DIR that cannot be written, or is a file, is a sentence with the directory', async () => {
  const folder = temporaryDirectory()
  const file = join(folder, 'file')
  writeFileSync(file, '')
  const places = [file, join(file, 'below')]
  if (process.getuid?.() !== 0) {
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o500)
    places.push(closed)
  }
  for (const DATA_DIR of places) {
    const { code, err } = await runHere(['start'], { NODE_ENV: 'development', DATA_DIR, PORT: '0' })
    assert.equal(code, 1, err)
    assert.match(err, /DATA_DIR/)
    assert.doesNotMatch(err, /report it/)
  }
})
