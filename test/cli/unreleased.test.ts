// A ledger of a checkout from before the first release: every command refuses it, and says what to save of it.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { UnreleasedLedgerError } from '../../src/db/core/migrate.ts'
import { connect } from '../../src/db/core/sql.ts'
import { runHere, runProcess, worldEnv } from '../support/cli.ts'
import { createEmptyDatabase } from '../support/postgres.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { startWorld, type World } from '../support/world.ts'

let world: World
before(async () => {
  world = await startWorld()
})
after(() => world.close())

test('every command and the start refuse an unreleased checkout’s ledger, and change nothing', async () => {
  const older = await createEmptyDatabase()
  const sql = connect(older.url, { max: 1, prepare: false, applicationName: 'test' })
  try {
    await sql`CREATE TABLE migrations (name text PRIMARY KEY, checksum text NOT NULL)`
    await sql`INSERT INTO migrations VALUES ('0001_schema.sql', 'of another text'), ('0002_junk.sql', 'of another text')`
    const given = { ...worldEnv(world), DATABASE_URL: older.url }
    for (const argv of [['migrate'], ['payments', 'list'], ['backup', '--out', temporaryDirectory()]]) {
      const { code, err } = await runHere(argv, given)
      assert.notEqual(code, 0)
      assert.ok(err.includes(new UnreleasedLedgerError().message), `${argv}: ${err}`)
    }
    const { code, err } = await runProcess(['start'], { ...given, PORT: '0', METRICS_PORT: '0' })
    assert.equal(code, 2)
    assert.ok(err.includes(new UnreleasedLedgerError().message), err)
    const { out } = await runHere(['doctor', '--json'], given)
    const found = JSON.parse(out).findings.find(({ check }: { check: string }) => check === 'database.schema')
    assert.deepEqual([found.verdict, found.says], ['fail', new UnreleasedLedgerError().message])
    const tables = await sql`SELECT FROM pg_tables WHERE schemaname = 'public'`
    assert.equal(tables.count, 1)
  } finally {
    await sql.end({ timeout: 1 })
    await older.drop()
  }
})
