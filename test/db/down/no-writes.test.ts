// A database that answers but accepts no writes: it is read-only, or someone has locked a table. Each pass logs one
// error line, and the service is not ready, but still serves reads.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { pino } from 'pino'
import { connect, type Pool } from '../../../src/db/core/sql.ts'
import { recordIdentity } from '../../../src/db/core/state.ts'
import type { Log } from '../../../src/lib/log.ts'
import { passRunner } from '../../../src/passes/run.ts'
import { startService } from '../../support/http.ts'
import { startWorld, type World } from '../../support/world.ts'

const PASSES = ['payments', 'credit'] as const

let world: World
before(async () => {
  world = await startWorld()
  await world.settle()
})
after(() => world.close())

interface Line {
  pass: string
  err: { code: string }
}

/** A log, and its lines of level error and above. */
function listen(): { log: Log; errors: Line[] } {
  const errors: Line[] = []
  return { log: pino({ level: 'error' }, { write: (line: string) => void errors.push(JSON.parse(line)) }), errors }
}

/** If a pass waits for ever, its test ends, not the whole run. */
const BOUND = { timeout: 30_000 }

/** Runs both passes, each of which must stop. @returns their log, as pass and code. */
async function stopBoth(parts: Parameters<World['instance']>[0]): Promise<string[]> {
  const { log, errors } = listen()
  const instance = world.instance({ ...parts, log })
  await Promise.all(PASSES.map((pass) => assert.rejects(instance[pass]())))
  return errors.map(({ pass, err }) => `${pass} ${err.code}`).sort()
}

/** Runs `body` while a session holds a lock that keeps others from the passes' table. */
async function whileLocked(pool: Pool, body: () => Promise<void>): Promise<void> {
  await pool.begin(async (sql) => {
    await sql`LOCK TABLE passes`
    await body()
  })
}

const readOnly = (url: string) =>
  connect(`${url}?default_transaction_read_only=on`, { max: 2, prepare: true, applicationName: 'read-only' })

test('a database that is read-only stops each pass with an error in the log', async () => {
  const pool = readOnly(world.directUrl)
  assert.deepEqual(await stopBoth({ pool }), ['credit 25006', 'payments 25006'])
  await pool.end()
})

test('a locked table delays a pass only for a time, and is an error in the log', BOUND, async () => {
  await whileLocked(world.pool, async () => {
    assert.deepEqual(await stopBoth({}), ['credit 55P03', 'payments 55P03'])
  })
  assert.equal((await world.payments()).ran, true, 'and goes on once it is free')
})

test('a lock of a pass that cannot be taken is an error in the log', async () => {
  const directUrl = 'postgres://nobody@127.0.0.1:9/nothing'
  assert.deepEqual(await stopBoth({ directUrl }), ['credit ECONNREFUSED', 'payments ECONNREFUSED'])
})

test('a run that does not end reports that once, while it still waits', async () => {
  const { log, errors } = listen()
  const told = Promise.withResolvers<void>()
  const heard: Log = Object.assign(Object.create(log), {
    error: (...line: [object, string]) => {
      log.error(...line)
      told.resolve()
    },
  })
  const body = () => told.promise.then(() => ({}))
  const run = passRunner({ ...world.ctx, log: heard }, { name: 'payments', body, halted: async () => ({}) }, 1)
  assert.deepEqual(await run(), {})
  assert.deepEqual(
    errors.map(({ pass }) => pass),
    ['payments'],
  )
})

test('a service whose database is read-only is not ready, and still read from', async () => {
  const service = await startService()
  const sql = readOnly(service.databaseUrl)
  const held = await startService({ sql, readSql: sql })
  assert.equal((await service.get('/readyz')).status, 200)
  for (const [path, status] of [
    ['/readyz', 503],
    ['/api/stats', 200],
    ['/api/cron/health', 200],
  ] as const)
    assert.equal((await held.get(path)).status, status, path)
  await sql.end()
  await held.close()
  await service.close()
})

test('a locked table does not hang the probe, and the service is ready again once it is free', BOUND, async () => {
  const service = await startService()
  await whileLocked(service.sql, async () => {
    assert.equal((await service.get('/readyz')).status, 503)
  })
  service.clock.now += 3_000
  assert.equal((await service.get('/readyz')).status, 200)
  assert.equal((await service.sql`SELECT FROM passes`).count, 0)
  await service.close()
})

test('the worker is stale if no tick has ended well since the last success or the first start', async () => {
  const service = await startService()
  const { sql } = service
  const isStale = async () => (await service.get('/api/cron/health')).json.stale
  await sql`INSERT INTO passes (name, started_at, error) VALUES ('credit', now(), 'no')`
  for (const [seconds, stale] of [
    [290, false],
    [301, true],
  ] as const) {
    await sql`UPDATE passes SET succeeded_at = now() - make_interval(secs => ${seconds})`
    assert.equal(await isStale(), stale, `a success ${seconds} s ago`)
    await sql`UPDATE passes SET succeeded_at = NULL`
    assert.equal(await isStale(), false, 'before the first start')
    await recordIdentity(sql, { chainId: 1, genesisHash: '0x', factory: `0x${'1'.repeat(40)}`, startBlock: 0 })
    await sql`UPDATE ledger_state SET started_at = now() - make_interval(secs => ${seconds})`
    assert.equal(await isStale(), stale, `a first start ${seconds} s ago`)
    await sql`UPDATE ledger_state SET chain_id = NULL, genesis_hash = NULL, factory = NULL, start_block = NULL, started_at = NULL`
  }
  await service.close()
})
