// Reads where traces and logs are sent. It must never repeat a header, which may hold a key.
import type { SettingOf } from '../names.ts'
import { type Source, shown } from '../source.ts'
import { readChoice, readHttpUrl } from '../values.ts'

const EXPORTERS = ['otlp', 'none'] as const
const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const

export interface TelemetryConfig {
  /** Null: nothing is sent. */
  readonly endpoint: string | null
  /** Secret. */
  readonly headers: Readonly<Record<string, string>>
  readonly traces: boolean
  readonly logs: boolean
  readonly sampler: (typeof SAMPLERS)[number]
  /** From 0 to 1. */
  readonly ratio: number
  readonly serviceName: string
  readonly attributes: Readonly<Record<string, string>>
}

export function readTelemetry(source: Source): TelemetryConfig {
  return {
    endpoint: readHttpUrl(source, 'OTEL_EXPORTER_OTLP_ENDPOINT'),
    headers: readPairs(source, 'OTEL_EXPORTER_OTLP_HEADERS'),
    traces: readChoice(source, 'OTEL_TRACES_EXPORTER', EXPORTERS, 'otlp') === 'otlp',
    logs: readChoice(source, 'OTEL_LOGS_EXPORTER', EXPORTERS, 'otlp') === 'otlp',
    sampler: readChoice(source, 'OTEL_TRACES_SAMPLER', SAMPLERS, 'parentbased_always_on'),
    ratio: readRatio(source),
    serviceName: source.get('OTEL_SERVICE_NAME') ?? 'node-ledger',
    attributes: readPairs(source, 'OTEL_RESOURCE_ATTRIBUTES'),
  }
}

/** Every setting of it as text. */
export function describeTelemetry(telemetry: TelemetryConfig) {
  const { endpoint, headers, attributes } = telemetry
  const names = Object.keys(headers)
  const pairs = Object.entries(attributes).map(([name, value]) => `${name}=${value}`)
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: names.length > 0 ? names.map((name) => `${name}=***`).join(',') : null,
    OTEL_TRACES_EXPORTER: telemetry.traces ? 'otlp' : 'none',
    OTEL_LOGS_EXPORTER: telemetry.logs ? 'otlp' : 'none',
    OTEL_TRACES_SAMPLER: telemetry.sampler,
    OTEL_TRACES_SAMPLER_ARG: String(telemetry.ratio),
    OTEL_SERVICE_NAME: telemetry.serviceName,
    OTEL_RESOURCE_ATTRIBUTES: pairs.length > 0 ? pairs.join(',') : null,
  }
}

function readRatio(source: Source): number {
  const name = 'OTEL_TRACES_SAMPLER_ARG'
  const text = source.get(name)
  const ratio = text === null ? 1 : /^[01](?:\.[0-9]{1,9})?$/.test(text) ? Number(text) : Number.NaN
  if (ratio >= 0 && ratio <= 1) return ratio
  source.refuse(name, `is ${shown(text ?? '')}: set it to a share from 0 to 1`)
  return 1
}

/** Pairs as the header `baggage` has them (W3C). */
function readPairs(source: Source, name: SettingOf<'key'> | SettingOf<'text'>): Record<string, string> {
  const parts = (source.get(name) ?? '').split(',').filter((part) => part.trim() !== '')
  const pairs = parts.map((part) => /^\s*([\w.!#$%&'*+^`|~-]+)\s*=\s*([\x21-\x7e]*)\s*$/.exec(part))
  if (pairs.every((pair) => pair !== null)) {
    return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, decoded(value)]))
  }
  source.refuse(name, 'is no list of name=value with commas between them')
  return {}
}

/** As it is where a percent sign stands for itself. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}
