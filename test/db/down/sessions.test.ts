// Sessions that are up but useless: read-only ones from before a fail-over, a role's unexpected defaults, limits that end a statement.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { databaseFault } from '../../../src/db/core/faults.ts'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import { readTierVersions } from '../../../src/db/sale/tiers.ts'
import { databaseRead } from '../../../src/http/database-read.ts'
import { refusalOfFault } from '../../../src/http/refusals.ts'
import { runHere, worldEnv } from '../../support/cli.ts'
import { startService } from '../../support/http.ts'
import { createDatabase } from '../../support/postgres.ts'
import { startWorld, type World } from '../../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

/** Sets a default for all new sessions of a database; null removes it. */
async function byDefault(admin: Pool, setting: string, value: string | null): Promise<void> {
  const [row] = await admin<{ name: string }[]>`SELECT current_database() AS name`
  await admin.unsafe(`ALTER DATABASE ${row?.name} ${value === null ? `RESET ${setting}` : `SET ${setting} = ${value}`}`)
}

/** Runs `body` with such a default. */
async function withDefault<T>(admin: Pool, setting: string, value: string, body: () => Promise<T>): Promise<T> {
  await byDefault(admin, setting, value)
  try {
    return await body()
  } finally {
    await byDefault(admin, setting, null)
  }
}

/** Opens all the sessions that a pool may have. */
const fill = (pool: Pool, max: number) => Promise.all(Array.from({ length: max }, () => pool`SELECT pg_sleep(0.05)`))
const readOnlySessions = async (pool: Pool, max: number) => {
  const answers = await Promise.all(
    Array.from({ length: max }, () => pool`SELECT pg_sleep(0.05), current_setting('transaction_read_only') AS is`),
  )
  return answers.filter(([row]) => row?.is === 'on').length
}

test('read-only sessions stop a pass and the probe until the database is writable again', async () => {
  const pool = connect(world.directUrl, { max: 3, prepare: true, applicationName: 'test' })
  const service = await startService({ sql: pool, readSql: pool })
  try {
    await withDefault(world.pool, 'default_transaction_read_only', 'on', async () => {
      await fill(pool, 3)
      await assert.rejects(world.instance({ pool }).payments(), { code: '25006' })
      assert.equal((await service.get('/readyz')).status, 503)
      assert.equal((await service.get('/api/stats')).status, 200)
      const { out } = await runHere(['doctor', '--json'], worldEnv(world))
      const writes = JSON.parse(out).findings.find(({ check }: { check: string }) => check === 'database.writes')
      assert.equal(writes.verdict, 'fail')
      assert.match(writes.todo, /default_transaction_read_only is off/)
      await fill(pool, 3)
      assert.equal(await readOnlySessions(pool, 3), 3)
    })
    assert.equal(await readOnlySessions(pool, 3), 3, 'a session keeps what it began with')
    // A pool is renewed at most once a second.
    await world.pool`SELECT pg_sleep(1)`
    assert.equal((await world.instance({ pool }).payments()).ran, true)
    assert.equal(await readOnlySessions(pool, 3), 0)
    service.clock.now += 3_000
    assert.equal((await service.get('/readyz')).status, 200)
  } finally {
    await pool.end({ timeout: 1 })
    await service.close()
  }
})

test('the first refused statement replaces a read-only session, also without a transaction', async () => {
  const pool = connect(world.directUrl, { max: 1, prepare: true, applicationName: 'test' })
  await withDefault(world.pool, 'default_transaction_read_only', 'on', () => fill(pool, 1))
  const write = () => pool`UPDATE troubles SET value = value WHERE name = 'none'`
  // At least a second after the pool was opened.
  await pool`SELECT pg_sleep(1)`
  await assert.rejects(async () => await write(), { code: '25006' })
  assert.equal((await write()).count, 0)
  await pool.end({ timeout: 1 })
})

/** The class of a PostgreSQL failure with that code. */
async function failWith(code: string): Promise<unknown> {
  const failing = world.pool.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`)
  return await failing.then(
    () => assert.fail('it went through'),
    (error: unknown) => error,
  )
}

describe('each refusal of the database has its code and remedy, and is no fault of ours', () => {
  const rows: [code: string, says: RegExp, remedy: RegExp][] = [
    ['25006', /read-only/, /primary/],
    ['57014', /cancelled a statement/, /statement_timeout/],
    ['25P03', /idle/, /idle_in_transaction_session_timeout/],
    ['25P04', /too long/, /transaction_timeout/],
    ['40001', /serialize/, /default_transaction_isolation/],
    ['40P01', /waited for each other/, /pg_blocking_pids/],
    ['53100', /no space is left/, /disk/],
    ['53300', /too many connections/, /who holds them/],
    ['55P03', /holds a lock/, /pg_blocking_pids/],
  ]
  for (const [code, says, remedy] of rows)
    test(code, async () => {
      const error = await failWith(code)
      const fault = databaseFault(error)
      assert.match(fault?.says ?? '', says)
      assert.match(fault?.remedy ?? '', remedy)
      const refusal = refusalOfFault(error)
      assert.deepEqual([refusal.status, refusal.retryAfterSec], [503, 1])
    })
  test('an error of a statement of ours is none', async () => {
    const error = await failWith('22012')
    assert.equal(databaseFault(error), null)
    assert.equal(refusalOfFault(error).status, 500)
  })
})

test('a request that statement_timeout ends gets a retryable 503, and the next one is read', async () => {
  const database = await createDatabase()
  const pool = connect(`${database.url}?statement_timeout=1000`, { max: 1, prepare: true, applicationName: 'test' })
  const read = databaseRead(pool)
  const fault = await read((sql) => sql`SELECT pg_sleep(5)`).then(
    () => assert.fail('it was answered'),
    (error: unknown) => error,
  )
  assert.equal(refusalOfFault(fault).status, 503)
  assert.equal((await read(readTierVersions)).length, 0, 'the database is not given up')
  await pool.end({ timeout: 1 })
  await database.drop()
})

test('the role’s defaults change no reading, and the doctor lists those with a cost', async () => {
  const defaults = {
    DateStyle: "'German, DMY'",
    TimeZone: "'Asia/Tokyo'",
    standard_conforming_strings: 'off',
    default_transaction_isolation: 'serializable',
    statement_timeout: '60000',
    synchronous_commit: 'off',
  }
  for (const [name, value] of Object.entries(defaults)) await byDefault(world.pool, name, value)
  try {
    const pool = connect(world.directUrl, { max: 2, prepare: true, applicationName: 'test' })
    const [row] = await pool.begin(
      'isolation level read committed',
      (sql) => sql`SELECT now()::text AS text, '\\' AS backslash`,
    )
    assert.match(row?.text, /^\d{4}-\d\d-\d\d .*\+00$/)
    assert.equal(row?.backslash, '\\')
    assert.equal((await world.instance({ pool }).payments()).ran, true)
    await pool.end({ timeout: 1 })
    const { out } = await runHere(['doctor', '--json'], worldEnv(world))
    const said = JSON.parse(out).findings.filter(({ check }: { check: string }) => check === 'database.session')
    assert.deepEqual(said.map(({ says, verdict }: { says: string; verdict: string }) => `${verdict} ${says}`).sort(), [
      'warn default_transaction_isolation is serializable',
      'warn statement_timeout is 1min',
      'warn synchronous_commit is off',
    ])
  } finally {
    for (const name of Object.keys(defaults)) await byDefault(world.pool, name, null)
  }
})
