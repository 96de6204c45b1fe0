// Traces and logs for an OpenTelemetry collector. Requests and runs of the passes are spans, calls to providers are spans in them; each line
// of the log goes along with the span it was written in. Its packages are the operator's to install: what nobody uses is not shipped. It
// must never keep the service from working: what cannot be sent is dropped.
import type { Attributes, Tracer } from '@opentelemetry/api'
import type { AnyValueMap, Logger } from '@opentelemetry/api-logs'
import type { TelemetryConfig } from '../config/telemetry/telemetry.ts'
import { within } from '../lib/deadline.ts'
import { codeOf } from '../lib/errors.ts'
import type { Meters } from '../metrics/meters.ts'

type Packages = Awaited<ReturnType<typeof load>>

/** Stopping waits no longer than this for a collector to take the last of it. */
const FLUSH_MS = 3_000
const SCOPE = 'node-ledger'
/** OpenTelemetry's numbers of the log's levels. */
const SEVERITY: Readonly<Record<string, number>> = { trace: 1, debug: 5, info: 9, warn: 13, error: 17, fatal: 21 }

export interface Telemetry {
  /** Does work in a span of its own, in which the spans of what it does are. `traceparent`: the caller's, where it is believed. */
  within<T>(work: () => T, traceparent?: string): T
  /** Meters that also name and end the span of what they count, and make one of each call to a provider. */
  traced(meters: Meters): Meters
  /** Takes the log's lines; null where logs are not sent. */
  readonly logs: { write(line: string): void } | null
  /** Sends what is left, and stops. */
  close(): Promise<void>
}

/** The packages are not there, or too old. Its message says how to install them. */
export class TelemetryMissing extends Error {
  override readonly name = 'TelemetryMissing'
}

/** Opens it; null where it is off. Throws TelemetryMissing. */
export async function openTelemetry(config: TelemetryConfig, version: string): Promise<Telemetry | null> {
  const { endpoint } = config
  if (endpoint === null || !(config.traces || config.logs)) return null
  const packages = await load()
  const { api } = packages
  const resource = packages.resources.resourceFromAttributes({
    'service.name': config.serviceName,
    'service.version': version,
    'service.instance.id': `${process.pid}`,
    ...config.attributes,
  })
  const exporterFor = (signal: string) => ({
    url: `${endpoint.replace(/\/$/, '')}/v1/${signal}`,
    headers: { ...config.headers },
  })
  const tracers = new packages.traces.NodeTracerProvider({
    resource,
    sampler: samplerOf(packages.traces, config),
    spanProcessors: config.traces
      ? [new packages.traces.BatchSpanProcessor(new packages.traceExporter.OTLPTraceExporter(exporterFor('traces')))]
      : [],
  })
  // Contexts follow asynchronous work from here on.
  tracers.register()
  const loggers = new packages.logs.LoggerProvider({
    resource,
    processors: config.logs
      ? [
          new packages.logs.BatchLogRecordProcessor({
            exporter: new packages.logExporter.OTLPLogExporter(exporterFor('logs')),
          }),
        ]
      : [],
  })
  return {
    ...spansOf(api, tracers.getTracer(SCOPE, version)),
    logs: config.logs ? logSink(loggers.getLogger(SCOPE, version)) : null,
    async close() {
      const done = Promise.allSettled([tracers.shutdown(), loggers.shutdown()])
      await within(FLUSH_MS, done, () => null)
      api.context.disable()
      api.trace.disable()
      api.propagation.disable()
    },
  }
}

async function load() {
  try {
    const [api, traces, traceExporter, logs, logExporter, resources] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-node'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/sdk-logs'),
      import('@opentelemetry/exporter-logs-otlp-http'),
      import('@opentelemetry/resources'),
    ])
    return { api, traces, traceExporter, logs, logExporter, resources }
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new TelemetryMissing(
      'needs packages that are not installed: docs/OBSERVABILITY.md, "Traces and logs", has the command',
    )
  }
}

function samplerOf(traces: Packages['traces'], { sampler, ratio }: TelemetryConfig) {
  const base = sampler.replace(/^parentbased_/, '')
  const root =
    base === 'always_off'
      ? new traces.AlwaysOffSampler()
      : base === 'traceidratio'
        ? new traces.TraceIdRatioBasedSampler(ratio)
        : new traces.AlwaysOnSampler()
  return base === sampler ? root : new traces.ParentBasedSampler({ root })
}

function spansOf(api: Packages['api'], tracer: Tracer): Pick<Telemetry, 'within' | 'traced'> {
  /** Names and ends the span that the work is done in. */
  function end(name: string, attributes: Attributes, fault: string | null): void {
    const span = api.trace.getActiveSpan()
    if (!span) return
    span.updateName(name).setAttributes(attributes)
    if (fault !== null) span.setAttribute('error.type', fault).setStatus({ code: api.SpanStatusCode.ERROR })
    span.end()
  }
  return {
    within<T>(work: () => T, traceparent?: string): T {
      const parent =
        traceparent === undefined ? api.ROOT_CONTEXT : api.propagation.extract(api.ROOT_CONTEXT, { traceparent })
      const kind = traceparent === undefined ? api.SpanKind.INTERNAL : api.SpanKind.SERVER
      const span = tracer.startSpan('unnamed', { kind }, parent)
      return api.context.with(api.trace.setSpan(parent, span), work)
    },
    traced: (meters) => ({
      ...meters,
      request(seen) {
        meters.request(seen)
        const { method, route, status } = seen
        const attributes = { 'http.request.method': method, 'http.response.status_code': status }
        end(
          `${method} ${route ?? 'unknown'}`,
          { ...attributes, ...(route && { 'http.route': route }) },
          status >= 500 ? String(status) : null,
        )
      },
      pass(seen) {
        meters.pass(seen)
        const { pass, outcome } = seen
        end(
          `pass ${pass}`,
          { 'node_ledger.pass': pass, 'node_ledger.outcome': outcome },
          outcome === 'fault' ? outcome : null,
        )
      },
      rpc(seen) {
        meters.rpc(seen)
        const { host, method, outcome, seconds } = seen
        const ended = Date.now()
        const attributes = { 'rpc.system': 'jsonrpc', 'rpc.method': method, 'server.address': host }
        const span = tracer.startSpan(method, {
          kind: api.SpanKind.CLIENT,
          startTime: ended - seconds * 1_000,
          attributes,
        })
        if (outcome !== 'ok') span.setAttribute('error.type', outcome).setStatus({ code: api.SpanStatusCode.ERROR })
        span.end(ended)
      },
    }),
  }
}

/** Lines as pino writes them: what a line says becomes the body, its other fields the attributes. */
function logSink(logger: Logger): NonNullable<Telemetry['logs']> {
  return {
    write(line) {
      const { time, level, msg, pid: _pid, hostname: _hostname, ...rest } = JSON.parse(line) as AnyValueMap
      logger.emit({
        timestamp: new Date(String(time)),
        severityNumber: SEVERITY[String(level)] ?? 0,
        severityText: String(level),
        body: msg ?? '',
        attributes: rest,
      })
    },
  }
}
