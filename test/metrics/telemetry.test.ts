// Traces and logs at a collector: what one asks of the service and what its passes do arrives as spans that belong together, with the log's
// lines in them. A collector that hangs keeps nothing from working, and nothing secret goes there.
import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { type Service, startServiceHere } from '../support/service.ts'
import { until } from '../support/until.ts'

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number }
}
interface Span {
  traceId: string
  spanId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: Attribute[]
}
interface Line {
  traceId?: string
  spanId?: string
  severityText: string
  body: { stringValue: string }
  attributes: Attribute[]
}

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const KEY = 'a-key-of-the-collector'

const spans: Span[] = []
const lines: Line[] = []
const resources: string[] = []
let headers: IncomingHttpHeaders = {}
let hangs = false
const collector = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  if (hangs) return
  const body = JSON.parse(Buffer.concat(parts).toString())
  headers = request.headers
  for (const { resource, scopeSpans } of body.resourceSpans ?? []) {
    resources.push(JSON.stringify(resource))
    for (const scope of scopeSpans) spans.push(...scope.spans)
  }
  for (const { scopeLogs } of body.resourceLogs ?? []) for (const scope of scopeLogs) lines.push(...scope.logRecords)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
})

let service: Service
let stopped = false
before(async () => {
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  service = await startServiceHere({
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-api-key=${KEY}`,
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=a%20test',
    TRUSTED_PROXIES: '127.0.0.1/32',
    // Read by OpenTelemetry itself.
    ...{ OTEL_BSP_SCHEDULE_DELAY: '200', OTEL_BLRP_SCHEDULE_DELAY: '200' },
    LOG_LEVEL: 'debug',
  })
})
after(async () => {
  if (!stopped) await service.stop()
  collector.closeAllConnections()
  collector.close()
})

const attribute = ({ attributes }: Span | Line, key: string) => {
  const { value } = attributes.find((candidate) => candidate.key === key) ?? {}
  return value?.stringValue ?? value?.intValue
}

test('a request is a span of the trace that a proxy of ours named, and a run of a pass has its calls to the chain in it', async () => {
  const asked = await fetch(`${service.url}/api/node/7`, { headers: { traceparent: `00-${TRACE}-${CALLER}-01` } })
  await until('both have arrived', () => spans.some(({ traceId }) => traceId === TRACE) && hasPass(), 30_000)
  const span = spans.find(({ traceId }) => traceId === TRACE) ?? assert.fail()
  assert.equal(span.parentSpanId, CALLER)
  assert.equal(span.name, 'GET /api/node/:id')
  assert.equal(span.kind, 2)
  assert.equal(attribute(span, 'http.response.status_code'), asked.status)
  const pass = spans.find(isWithCalls) ?? assert.fail()
  const call = spans.find(({ parentSpanId, kind }) => parentSpanId === pass.spanId && kind === 3) ?? assert.fail()
  assert.equal(call.traceId, pass.traceId)
  assert.match(String(attribute(call, 'server.address')), /^127\.0\.0\.1:\d+$/)
  assert.equal(headers['x-api-key'], KEY)
  assert.match(resources[0] ?? '', /"node-ledger".*"a test"/)
})
const isWithCalls = ({ name, spanId }: Span) =>
  name === 'pass payments' && spans.some(({ parentSpanId, kind }) => parentSpanId === spanId && kind === 3)
const hasPass = () => spans.some(isWithCalls)

test('lines of the log go along, those of a request with its span, on stdout as before; nothing secret does', async () => {
  await until('lines have arrived', () => lines.length > 0, 30_000)
  const line = lines.find(({ body }) => service.output().includes(body.stringValue)) ?? assert.fail()
  assert.match(line.severityText, /^(debug|info|warn)$/)
  const ofRequest = lines.find(({ traceId }) => traceId === TRACE) ?? assert.fail('no line of the request')
  assert.equal(ofRequest.spanId, spans.find(({ traceId }) => traceId === TRACE)?.spanId)
  const text = JSON.stringify([spans, lines, resources])
  assert.ok(!text.includes(KEY) && !service.output().includes(KEY))
  assert.doesNotMatch(text, /postgres:\/\/[^"]*:[^"*]+@/)
})

test('a collector that hangs keeps neither answers nor a stop waiting', async () => {
  hangs = true
  for (let i = 0; i < 50; i++) assert.equal((await fetch(`${service.url}/api/stats`)).status, 200)
  const began = performance.now()
  stopped = true
  assert.equal((await service.stop()).code, 0)
  // The limit of a stop is 30 s; what is left for the collector is a few.
  assert.ok(performance.now() - began < 20_000)
})
