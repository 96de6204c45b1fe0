// The routes' reads while the database is down: no caller waits for it, and every caller gets the reason.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDatabaseDown } from '../../src/db/core/faults.ts'
import { connect } from '../../src/db/core/sql.ts'
import { databaseRead } from '../../src/http/database-read.ts'
import { refusalOfFault } from '../../src/http/refusals.ts'

test('while the database is away it is not asked again at once, and the next callers get the first one’s answer', async () => {
  // The discard port has no listener.
  const pool = connect('postgres://u@127.0.0.1:9/x', { max: 1, prepare: false, applicationName: 'test' })
  try {
    const read = databaseRead(pool)
    let asked = 0
    const failing = async () => {
      try {
        await read(async (sql) => {
          asked++
          await sql`SELECT`
        })
      } catch (error) {
        return error
      }
      return assert.fail('it answered')
    }
    const faults = [await failing(), await failing(), await failing()]
    assert.equal(asked, 1)
    for (const fault of faults) {
      assert.ok(isDatabaseDown(fault), String(fault))
      assert.equal(refusalOfFault(fault).refused, 'noDatabase')
    }
  } finally {
    await pool.end({ timeout: 1 })
  }
})
