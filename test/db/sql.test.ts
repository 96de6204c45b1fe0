// PostgreSQL's values in TypeScript and back: exact, or an error, never a rounded number.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { isDatabaseDown } from '../../src/db/core/faults.ts'
import { connect, inTransaction, jsonRows, type Pool } from '../../src/db/core/sql.ts'
import { UINT256_MAX } from '../../src/domain/units.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase(2)
  pool = database.pool
})
after(() => database.close())

test('any amount up to 2^256 - 1 goes in as JSON rows and comes out as the same bigint', async () => {
  const amounts = fc.array(fc.bigInt({ min: 0n, max: UINT256_MAX }), { minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(amounts, async (values) => {
      const all = [...values, 0n, UINT256_MAX]
      const rows = await pool<{ value: bigint }[]>`
        SELECT value::wei FROM jsonb_to_recordset(${jsonRows(all.map((value, i) => ({ i, value })))}::text::jsonb)
          AS r(i int, value numeric) ORDER BY i`
      assert.deepEqual(
        rows.map((row) => row.value),
        all,
      )
    }),
    { numRuns: 20 },
  )
})

test('texts of any kind survive the way through JSON rows', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary' }), async (raw) => {
      // PostgreSQL's text holds no NUL, and half a surrogate pair is not text.
      const text = raw.replaceAll('\0', '').toWellFormed()
      const [row] = await pool`SELECT t FROM jsonb_to_recordset(${jsonRows([{ t: text }])}::text::jsonb) AS r(t text)`
      assert.equal(row?.t, text)
    }),
    { numRuns: 30 },
  )
})

test('an int8 is a number as long as that is exact, and an error beyond', async () => {
  const [row] =
    await pool`SELECT 9007199254740991::int8 AS most, -9007199254740991::int8 AS least, count(*) FROM blocks`
  assert.deepEqual([row?.most, row?.least, row?.count], [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0])
  await assert.rejects(async () => await pool`SELECT 9007199254740992::int8`, /int8 beyond 2\^53/)
})

test('an array goes in unchanged, and is refused on the way out', async () => {
  const texts = ['a', 'b"\\', null]
  const [row] = await pool`SELECT array_to_json(${texts}::text[]) AS list`
  assert.deepEqual(row?.list, texts)
  for (const list of ["'{a,b}'::text[]", "'{12,13}'::int8[]", 'ARRAY[1, 2]'])
    await assert.rejects(async () => await pool.unsafe(`SELECT ${list}`), /the database returned an array/)
  assert.deepEqual([...(await pool`SELECT 1 AS one`)], [{ one: 1 }])
})

test('the database refuses an amount beyond uint256, and addresses not in lower case', async () => {
  await assert.rejects(async () => await pool`SELECT ${(UINT256_MAX + 1n).toString()}::wei`, /wei_check/)
  await assert.rejects(async () => await pool`SELECT '-1'::wei`, /wei_check/)
  await assert.rejects(async () => await pool`SELECT ${`0x${'AB'.repeat(20)}`}::address`, /address_check/)
  await assert.rejects(async () => await pool`SELECT ${`0x${'ab'.repeat(31)}`}::hash`, /hash_check/)
})

test('times are read in UTC to the millisecond, in any zone of the session', async () => {
  const [row] = await inTransaction(pool, async (sql) => {
    await sql`SET LOCAL TIME ZONE 'Asia/Tokyo'`
    return sql`SELECT iso(to_timestamp(1700000000.5)) AS at`
  })
  assert.equal(row?.at, '2023-11-14T22:13:20.500Z')
})

test('a database that is gone is distinguished from one that refuses', async () => {
  const failure = (promise: PromiseLike<unknown>) =>
    Promise.resolve(promise).then(
      () => assert.fail('it went through'),
      (error: unknown) => error,
    )
  const closed = connect('postgres://nobody@127.0.0.1:1/none', { max: 1, prepare: false, applicationName: 'test' })
  assert.ok(isDatabaseDown(await failure(closed`SELECT 1`)))
  await closed.end({ timeout: 0 })
  const killed = connect(database.url, { max: 1, prepare: false, applicationName: 'test killed' })
  const [own] = await killed`SELECT pg_backend_pid() AS pid`
  const waiting = failure(killed`SELECT pg_sleep(30)`)
  await new Promise((resolve) => setTimeout(resolve, 50))
  await pool`SELECT pg_terminate_backend(${own?.pid})`
  assert.ok(isDatabaseDown(await waiting))
  await killed.end({ timeout: 0 })
  // Disk full, too many connections, I/O error, read-only, lock timeout.
  for (const code of ['53100', '53300', '58030', '25006', '55P03'])
    assert.ok(
      isDatabaseDown(await failure(pool.unsafe(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${code}'; END $$`))),
    )
  assert.ok(!isDatabaseDown(await failure(pool`SELECT 1 / 0`)))
  assert.ok(!isDatabaseDown(null) && !isDatabaseDown(new Error('no code')))
})
