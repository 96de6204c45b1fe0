// The number of series that callers can create is bounded, however many requests they send and whatever these contain.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { Registry } from 'prom-client'
import { buildRoutes } from '../../src/http/routes.ts'
import { buildTools } from '../../src/http/tools.ts'
import { createMeters } from '../../src/metrics/meters.ts'
import { type AskOptions, startService } from '../support/http.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']
/** A histogram's series: its buckets, the sum and the count. */
const SERIES_MAX = 2_000

test('a flood of unkeyed requests to every route makes few series, and a second flood no more', async () => {
  const registry = new Registry()
  const meters = createMeters(registry, 'test')
  const service = await startService({ meters })
  const secrets = { sessionSecret: 'x'.repeat(32), previousSessionSecret: null, adminKeys: [] }
  const settings = { publicUrl: 'http://x', frameAncestors: [], ...secrets }
  const routes = buildRoutes(buildTools({ settings, changes: null, clock: () => 0 } as never))
  const series = async () => {
    const lines = (await registry.metrics()).split('\n')
    return lines.filter((line) => line !== '' && !line.startsWith('#')).length
  }
  const flood = async (options: AskOptions, suffix: string) => {
    for (const { path } of routes) {
      const target = path.replaceAll(/:\w+/g, '1').replaceAll('*', 'x')
      await Promise.all(METHODS.map((method) => raw(service.port, method, target + suffix, options)))
      service.clock.now += 1_000
    }
  }
  const before = await series()
  await flood({}, '')
  await flood({ headers: { 'x-admin-key': 'wrong', 'x-cron-key': 'wrong' } }, '?limit=0')
  const wrong = await registry.getSingleMetric('node_ledger_admin_keys_wrong_total')?.get()
  assert.ok((wrong?.values[0]?.value ?? 0) > 20, 'wrong admin keys are counted')
  const first = (await series()) - before
  assert.ok(first < SERIES_MAX, `${first} series`)
  await flood({ headers: { authorization: 'Bearer x', 'x-admin-key': 'guess' } }, '?x=1')
  const more = (await series()) - before - first
  // Now and then a request reaches a limit for the first time.
  assert.ok(more < SERIES_MAX / 10, `${more} more series`)
  const labels = [...(await registry.metrics()).matchAll(/^http_request_duration_seconds_count\{(.*)\}/gm)].map(
    ([, text = '']) => text,
  )
  assert.deepEqual(
    labels.filter((text) => /route="\/api\/admin\//.test(text)),
    [],
    'routes that only a key opens have series of their own',
  )
  await service.close()
})

/** Without the checks of `Service.ask`, because pages and files are not JSON. */
function raw(port: number, method: string, path: string, { headers = {} }: AskOptions): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) =>
      answer.on('end', resolve).resume(),
    )
      .on('error', reject)
      .end()
  })
}
