// GET /metrics on a port of its own, so that it does not have to be public. If a scrape fails, it answers 500 and logs the error; the service is not
// affected.
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Registry } from 'prom-client'
import type { Sample } from '../db/reads/metrics.ts'
import type { Log } from '../lib/log.ts'
import { createServer } from '../lib/node-http.ts'
import { renderGauges } from './samples.ts'

/** How many connections the page accepts. Enough for several Prometheus servers, and a person with a browser. */
const CONNECTIONS_MAX = 20
const REQUEST_MS_MAX = 5_000

export interface MetricsServer {
  url: string
  close(): Promise<void>
}

export interface MetricsServerOptions {
  host: string
  /** The port; 0 takes any free port. */
  port: number
  registry: Registry
  /** Reads the samples for each scrape. */
  read: () => Promise<Sample[]>
  log: Log
}

/** Starts serving. Rejects if it cannot listen. */
export async function startMetricsServer({
  host,
  port,
  registry,
  read,
  log,
}: MetricsServerOptions): Promise<MetricsServer> {
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
