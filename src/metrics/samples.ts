// Samples in the Prometheus text form. If a read fails, its sample is absent, never 0.
import { Gauge, Registry } from 'prom-client'
import type { Sample } from '../db/reads/metrics.ts'

/** The text form of gauges. */
export function renderGauges(samples: readonly Sample[]): Promise<string> {
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

/** Wei as ether, for display only: 15 digits are exact. Never compute money from it. */
export function ether(wei: bigint): number {
  return Number(wei) / 1e18
}
