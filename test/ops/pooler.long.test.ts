// The service behind the real PgBouncer in transaction mode: its whole work, and its message if the settings would lose
// locks or prepared statements.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { type LedgerService, startLedger } from './ledger.ts'
import { admin, elsewhere, type Server, startPooler, startServer, withoutPooler } from './servers.ts'

describe('behind PgBouncer in transaction mode', { skip: withoutPooler }, () => {
  let server: Server
  let pooler: Awaited<ReturnType<typeof startPooler>>
  let direct: string
  let pooled: string
  before(async () => {
    server = await startServer()
    pooler = await startPooler(server)
    await admin(server.url, (sql) => sql`CREATE DATABASE ledger`)
    direct = elsewhere(server.url, { database: 'ledger' })
    pooled = elsewhere(direct, { port: pooler.port })
  })
  after(async () => {
    await pooler?.stop()
    await server?.stop()
  })

  test('payments, claims, rounds, reads, administration and notifications all work', async () => {
    const settings = { DATABASE_URL: pooled, DATABASE_DIRECT_URL: direct }
    const service = await startLedger(temporaryDirectory(), settings)
    try {
      await service.buy(5)
      const paid = await Promise.all([6, 7, 8].map((account) => service.pay(account)))
      const claims = await Promise.all(
        [...paid, ...paid].map((txHash) => service.post('/api/payments/claim', { txHash })),
      )
      assert.deepEqual([...new Set(claims.map(({ status }) => status))], [200])
      await service.nodes(4)
      await until('a round', async () => {
        await service.pass('payments')
        await service.pass('credit')
        const { totalDistributions } = await service.get<{ totalDistributions: number }>('/api/stats')
        return totalDistributions > 0
      })
      const { payments } = await service.admin<{ payments: unknown[] }>('payments')
      assert.equal(payments.length, 4)
      await heardOfChanges(service)
      assert.doesNotMatch(service.output(), /"level":[56]0|listens for ledger changes is lost/)
    } finally {
      await service.stop()
    }
  })

  test('a start whose locks would go through the pooler is refused, with what to set', async () => {
    const settings = { DATABASE_URL: pooled }
    await assert.rejects(
      startLedger(temporaryDirectory(), settings),
      /pooler.*Set DATABASE_DIRECT_URL to PostgreSQL itself/s,
    )
    const both = { DATABASE_URL: direct, DATABASE_DIRECT_URL: pooled }
    await assert.rejects(startLedger(temporaryDirectory(), both), /a pooler loses our locks and notifications/)
  })

  /** The memo drops its values when any instance changes the ledger, because the notification bypasses the pooler. */
  async function heardOfChanges(service: LedgerService): Promise<void> {
    const label = async () => (await service.get<{ tiers: { label: string }[] }>('/api/tiers')).tiers[0]?.label
    const before = await label()
    await admin(direct, async (sql) => {
      await sql`UPDATE tiers SET label = 'Renamed' WHERE label = ${before ?? ''}`
      await sql`SELECT pg_notify('ledger', '')`
    })
    // Well below the 30 s for which the page would be kept.
    await until('the new label', async () => (await label()) === 'Renamed', 10_000)
  }
})
