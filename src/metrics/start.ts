// Puts the metrics together: the counters, the samples, and the page that shows both.
import { readFileSync } from 'node:fs'
import { Registry } from 'prom-client'
import type { Log } from '../lib/log.ts'
import { createMeters, type Meters } from './meters.ts'
import { createMetricsReader, type MetricsDeps } from './readings.ts'
import { type MetricsServer, startMetricsServer } from './server.ts'

export interface Metrics {
  meters: Meters
  /** Serves the page. Rejects if it cannot listen there. */
  serve(where: { host: string; port: number }, deps: MetricsDeps): Promise<MetricsServer>
}

/** Builds the counters of one service. Reads and serves nothing yet. */
export function createMetrics(log: Log): Metrics {
  const registry = new Registry()
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return {
    meters: createMeters(registry, version),
    serve: (where, deps) => startMetricsServer({ ...where, registry, read: createMetricsReader(deps), log }),
  }
}
