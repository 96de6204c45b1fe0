// The metrics of a service: its counters, and GET /metrics on a port of its own, so that it does not have to be public. If a scrape fails, it answers
// 500 and logs the error; the service is not affected.
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Gauge, Registry } from 'prom-client'
import type { Sample } from '../db/reads/metrics.ts'
import type { Log } from '../lib/log.ts'
import { createServer } from '../lib/node-http.ts'
import { createMeters, type Meters } from './meters.ts'
import { createMetricsReader, type MetricsDeps } from './readings.ts'

/** How many connections the page accepts. Enough for several Prometheus servers, and a person with a browser. */
const CONNECTIONS_MAX = 20
const REQUEST_MS_MAX = 5_000

export interface MetricsServer {
  url: string
  close(): Promise<void>
}

export interface Metrics {
  meters: Meters
  /** Serves the page; port 0 takes any free port. Rejects if it cannot listen there. */
  serve(where: { host: string; port: number }, deps: MetricsDeps): Promise<MetricsServer>
}

/** Builds the counters of one service. Reads and serves nothing yet. */
export function createMetrics(log: Log): Metrics {
  const registry = new Registry()
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { version: string }
  const meters = createMeters(registry, version)
  return { meters, serve: (where, deps) => serve(where, createMetricsReader(deps), registry, log) }
}

async function serve(
  { host, port }: { host: string; port: number },
  read: () => Promise<Sample[]>,
  registry: Registry,
  log: Log,
): Promise<MetricsServer> {
  const server = createServer(
    { requestTimeout: REQUEST_MS_MAX, headersTimeout: REQUEST_MS_MAX },
    (request, response) => {
      const { method, url } = request
      const answer = (status: number, type: string, body: string) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
        response.end(method === 'HEAD' ? undefined : body)
      }
      if (url?.split('?', 1)[0] !== '/metrics') return answer(404, 'text/plain', 'Metrics are at /metrics.\n')
      if (method !== 'GET' && method !== 'HEAD') return answer(405, 'text/plain', 'GET it.\n')
      scrape(registry, read).then(
        (body) => answer(200, registry.contentType, body),
        (error: unknown) => {
          log.warn({ err: error }, 'the metrics could not be written')
          answer(500, 'text/plain', 'The metrics could not be written: see the log.\n')
        },
      )
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  await listen(server, host, port)
  const { port: boundPort } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}/metrics`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function scrape(registry: Registry, read: () => Promise<Sample[]>): Promise<string> {
  const samples = await read()
  return `${await registry.metrics()}${await renderGauges(samples)}`
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}

/** The text form of gauges. If a read failed, its sample is absent, never 0. */
function renderGauges(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry()
  const families = Map.groupBy(
    samples.filter(({ value }) => value !== null),
    ({ name }) => name,
  )
  for (const [name, family] of families) {
    const { help = '', labels = {} } = family[0] ?? {}
    const gauge = new Gauge({ name, help, labelNames: Object.keys(labels), registers: [registry] })
    for (const { labels = {}, value } of family) gauge.set(labels, Number(value))
  }
  return registry.metrics()
}
