// The price history: keeps the first price of an hour, fetches it once if no page did, and leaves an hour without a quote empty.
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { silentLog } from '../../src/lib/log.ts'
import { recordHour } from '../../src/price/price.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
})
after(() => database.close())

const history = async () => (await pool`SELECT usd FROM price_history ORDER BY hour`).map(({ usd }) => usd)
const minutesPass = () => pool`UPDATE price SET attempted_at = attempted_at - interval '2 minutes'`

it('keeps the first price of an hour, and requests no other', async () => {
  let asked = 0
  const feed = async () => [null, 2000.5, 3000][asked++] ?? null
  await recordHour(pool, feed, silentLog)
  assert.deepEqual(await history(), [], 'nothing usable was said')
  await recordHour(pool, feed, silentLog)
  assert.equal(asked, 1, 'the minute is not over')
  await minutesPass()
  await recordHour(pool, feed, silentLog)
  assert.deepEqual(await history(), [2000.5])
  await minutesPass()
  await recordHour(pool, feed, silentLog)
  assert.equal(asked, 2)
  await pool`UPDATE price_history SET hour = hour - interval '1 hour'`
  await recordHour(pool, feed, silentLog)
  assert.deepEqual(await history(), [2000.5, 3000])
})

it('stays without a price if the upstream fails', async () => {
  await pool`DELETE FROM price_history`
  await minutesPass()
  await recordHour(pool, () => Promise.reject(new Error('down')), silentLog)
  assert.deepEqual(await history(), [])
})
