// Troubles that come and go: each is told once, and is over once it has not been seen for ten minutes.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Pool } from '../../src/db/core/sql.ts'
import { noteCalm, noteTrouble } from '../../src/db/core/troubles.ts'
import { type OpenDatabase, openDatabase } from '../support/postgres.ts'

let database: OpenDatabase
let pool: Pool
before(async () => {
  database = await openDatabase()
  pool = database.pool
})
after(() => database.close())

/** As if it was last seen so long ago. */
const calmFor = (seconds: number) => pool`
  UPDATE settings SET value = jsonb_build_object('calmSince', clock_timestamp() - make_interval(secs => ${seconds}))
  WHERE name = 'trouble stuck'`

test('a trouble is told when it begins, and over after ten minutes without it, once', async () => {
  assert.equal(await noteCalm(pool, 'stuck'), null)
  assert.deepEqual([await noteTrouble(pool, 'stuck'), await noteTrouble(pool, 'stuck')], [true, false])
  assert.equal(await noteCalm(pool, 'stuck'), 'lasting')
  await calmFor(590)
  assert.equal(await noteCalm(pool, 'stuck'), 'lasting')
  await calmFor(600)
  assert.deepEqual([await noteCalm(pool, 'stuck'), await noteCalm(pool, 'stuck')], ['over', null])
  assert.equal(await noteTrouble(pool, 'stuck'), true)
})

test('one that comes back in between is the same, and the ten minutes begin again', async () => {
  await noteTrouble(pool, 'stuck')
  await noteCalm(pool, 'stuck')
  await calmFor(600)
  assert.equal(await noteTrouble(pool, 'stuck'), false)
  assert.equal(await noteCalm(pool, 'stuck'), 'lasting')
})
