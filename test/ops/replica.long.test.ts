// Reads on a streaming replica: that they come from there, what happens while it lags or is down, and that the service
// recovers without help when the replica is promoted in the primary's place.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { type LedgerService, startLedger } from './ledger.ts'
import {
  admin,
  elsewhere,
  promote,
  type Server,
  serve,
  startAddress,
  startReplica,
  startServer,
  withoutPostgres,
} from './servers.ts'

describe('with a streaming replica', { skip: withoutPostgres }, () => {
  let primary: Server
  let replica: Server
  let address: Awaited<ReturnType<typeof startAddress>>
  let service: LedgerService
  before(async () => {
    primary = await startServer()
    await admin(primary.url, (sql) => sql`CREATE DATABASE ledger`)
    replica = await startReplica(primary)
    address = await startAddress(primary.port)
    const at = (port: number) => elsewhere(primary.url, { port, database: 'ledger' })
    service = await startLedger(temporaryDirectory(), {
      DATABASE_URL: at(address.port),
      DATABASE_READ_URL: at(replica.port),
      LOG_LEVEL: 'info',
    })
  })
  after(async () => {
    await service?.stop()
    await address?.close()
    await replica?.stop()
    await primary?.stop()
  })

  test('public reads come from the replica', async () => {
    await service.buy(5)
    await until('a read on the replica', async () => {
      const before = await rowsRead(replica)
      await service.get('/api/node/1')
      return (await rowsRead(replica)) > before
    })
  })

  test('a replica that falls behind is left for the primary', async () => {
    await admin(replica.url, (sql) => sql`SELECT pg_wal_replay_pause()`)
    await service.buy(6)
    await until('its word for it', async () => service.output().includes('not reading from the replica'))
    await admin(replica.url, (sql) => sql`SELECT pg_wal_replay_resume()`)
    await readFrom(service)
  })

  test('while the replica is down, reads go to the primary', async () => {
    await replica.stop('crash')
    // Pages that no cache holds.
    for (let limit = 1; limit <= 20; limit++) await service.get(`/api/distributions?limit=${limit}`)
    await service.buy(7)
    replica = await serve(replica.directory, [], replica.port)
  })

  test('the replica serves reads while the primary is down, and all work after its promotion', async () => {
    await caughtUp(primary, replica)
    await readFrom(service)
    await primary.stop('crash')
    for (let limit = 21; limit <= 40; limit++) await service.get(`/api/distributions?limit=${limit}`)
    assert.equal((await fetch(`${service.url}/readyz`)).status, 503)
    await promote(replica)
    address.moveTo(replica.port)
    await until('readiness', async () => (await fetch(`${service.url}/readyz`)).ok)
    await service.buy(8)
    assert.equal((await service.get<{ totalNodes: number }>('/api/stats')).totalNodes, 4)
  })
})

/** Resolves once the service, which had left the replica, reads from it again, because it pauses for a moment after a failure. */
async function readFrom(service: LedgerService): Promise<void> {
  await until('reads on the replica again', async () => {
    await service.get('/api/node/1')
    const said = service.output()
    return said.lastIndexOf('reading from the replica again') > said.lastIndexOf('not reading from the replica')
  })
}

/** Rows that a server has read for the ledger so far. Its sessions report with a delay. */
function rowsRead(server: Server): Promise<number> {
  return admin(elsewhere(server.url, { database: 'ledger' }), async (sql) => {
    const [row] = await sql<{ rows: number }[]>`
      SELECT coalesce(sum(tup_returned), 0)::float8 AS rows FROM pg_stat_database WHERE datname = 'ledger'
        AND EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'node-ledger reads')`
    return row?.rows ?? 0
  })
}

async function caughtUp(primary: Server, replica: Server): Promise<void> {
  const position = (server: Server, name: string) =>
    admin(server.url, async (sql) => (await sql<{ at: string }[]>`SELECT ${sql(name)}()::text AS at`)[0]?.at)
  await until('the replica to catch up', async () => {
    const [ahead, behind] = await Promise.all([
      position(primary, 'pg_current_wal_lsn'),
      position(replica, 'pg_last_wal_replay_lsn'),
    ])
    return ahead === behind
  })
}
