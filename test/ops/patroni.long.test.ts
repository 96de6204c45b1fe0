// The service on a Patroni cluster: a primary that dies, and a switch-over. The service recovers each time without
// help, with every node bought before and after, and reports how long it could not write.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { type LedgerService, startLedger } from './ledger.ts'
import { type Cluster, startCluster, withoutPatroni } from './patroni.ts'
import { admin, elsewhere } from './servers.ts'

/** Patroni's lease is 30 s; a promotion and the proxy's checks come after it. */
const FAILOVER_MS = 120_000

describe('on a cluster of Patroni', { skip: withoutPatroni, timeout: 600_000 }, () => {
  let cluster: Cluster
  let service: LedgerService
  before(async () => {
    cluster = await startCluster()
    // HAProxy takes every server for the primary until its first checks are over.
    const leads = async () => {
      const [row] = await admin(cluster.url, (sql) => sql`SELECT pg_is_in_recovery() AS follows`)
      return row?.follows === false
    }
    let inRow = 0
    await until('the address of the primary alone', async () => {
      inRow = (await leads().catch(() => false)) ? inRow + 1 : 0
      return inRow === 10
    })
    await admin(cluster.url, (sql) => sql`CREATE DATABASE ledger`)
    service = await startLedger(temporaryDirectory(), {
      DATABASE_URL: elsewhere(cluster.url, { database: 'ledger' }),
      DATABASE_READ_URL: elsewhere(cluster.readUrl, { database: 'ledger' }),
    })
  })
  after(async () => {
    await service?.stop()
    await cluster?.stop()
  })

  const isReady = async () => (await fetch(`${service.url}/readyz`)).ok
  /** How long the service is not ready after an action on the cluster. */
  async function outage(what: () => Promise<unknown>): Promise<number> {
    const begun = until('it is not ready', async () => !(await isReady()), FAILOVER_MS, 50).then(() => Date.now())
    await what()
    const began = await begun
    await until('readiness', isReady, FAILOVER_MS, 50)
    return (Date.now() - began) / 1_000
  }

  test('a primary that hands over', async (t) => {
    await service.buy(5)
    const before = await cluster.roles()
    const seconds = await outage(() => cluster.switchOver())
    t.diagnostic(`handed over: not ready for ${seconds.toFixed(1)} s`)
    assert.notEqual((await cluster.roles()).primary, before.primary)
    await service.buy(6)
  })

  test('a primary whose machine dies', async (t) => {
    await until('a replica', async () => (await cluster.roles()).replica !== null, FAILOVER_MS)
    const paid = await service.pay(7)
    let killed = ''
    const seconds = await outage(async () => {
      killed = await cluster.killPrimary()
    })
    t.diagnostic(`died: not ready for ${seconds.toFixed(1)} s`)
    assert.notEqual((await cluster.roles()).primary, killed)
    // What buyers paid while the database was read-only, and what comes after.
    await service.nodes(3)
    await service.buy(8)
    assert.equal((await service.get<{ totalNodes: number }>('/api/stats')).totalNodes, 4)
    assert.ok(paid)
  })
})
