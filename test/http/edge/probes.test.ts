// The probes of balancers and monitors, each as frequent as it likes: one check serves all of them, for a moment.
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startService } from '../../support/http.ts'

it('reads readiness and health once for all callers, and keeps each answer for three seconds', async () => {
  let looks = 0
  const chainIdMatches = async () => {
    looks++
    return true
  }
  const service = await startService({ chainIdMatches, listen: true })
  const spy = async (path: string) => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => service.get(path)))
    return answers.every(({ status }) => status === 200)
  }
  assert.ok((await spy('/readyz')) && (await spy('/readyz')))
  assert.equal(looks, 1)
  service.clock.now += 3_000
  assert.ok(await spy('/readyz'))
  assert.equal(looks, 2)
  await service.sql`ALTER TABLE migrations RENAME TO gone`
  service.clock.now += 3_000
  assert.deepEqual([(await service.get('/readyz')).status, (await service.get('/readyz')).status, looks], [503, 503, 3])
  await service.sql`ALTER TABLE gone RENAME TO migrations`
  service.clock.now += 3_000
  assert.equal((await service.get('/readyz')).status, 200)
  assert.ok(await spy('/api/cron/health'))
  const before = (await service.get('/api/cron/health')).json
  await service.sql`INSERT INTO passes (name, started_at) VALUES ('credit', now())`
  assert.deepEqual((await service.get('/api/cron/health')).json, before, 'a tick is no change of the ledger')
  service.clock.now += 2_000
  assert.notEqual((await service.get('/api/cron/health')).json.lastTickAt, null)
  await service.close()
})

it('is not ready on another chain or before the migrations, but with a lagging provider', async () => {
  const cases = [
    [async () => true, 200],
    [async () => false, 503],
    [() => Promise.reject(new Error('down')), 200],
  ] as const
  for (const [chainIdMatches, status] of cases) {
    const service = await startService({ chainIdMatches })
    assert.equal((await service.get('/readyz')).status, status)
    await service.sql`DELETE FROM migrations`
    service.clock.now += 3_000
    assert.equal((await service.get('/readyz')).status, 503)
    await service.close()
  }
})
