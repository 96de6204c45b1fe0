// Traces through OpenTelemetry's preload, set up as docs/OBSERVABILITY.md says: its command installs the packages, the service starts with
// its variables, and a collector sees the requests. The packages are no dependency of this project; npm installs them for this test alone.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type FalseProvider, startFalseProvider } from '../chain/false-provider.ts'
import { worldEnv } from '../support/cli.ts'
import { startService } from '../support/service.ts'
import { temporaryDirectory } from '../support/temporary.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const LAUNCHER = join(ROOT, 'bin/node-ledger.mjs')
/** The paragraph's folder and collector; the test has its own. */
const [FOLDER, COLLECTOR] = ['/opt/otel', 'http://collector.internal:4318']
/** In the provider's URL, as providers require. */
const KEY = 'a-key-of-the-provider'
const SPANS_MS = 30_000

interface Span {
  traceId: string
  parentSpanId?: string
  name: string
  kind: number
  attributes: { key: string; value: Record<string, unknown> }[]
}
const SERVER_KIND = 2

const spans: Span[] = []
/** Everything that the collector received, by path. */
const received: { path: string; body: string }[] = []
const collector = createServer(async (request, response) => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  const body = Buffer.concat(parts).toString()
  received.push({ path: request.url ?? '', body })
  for (const { scopeSpans } of JSON.parse(body).resourceSpans ?? [])
    for (const scope of scopeSpans) spans.push(...scope.spans)
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
})

const folder = temporaryDirectory()
const [, section = ''] =
  /^## Traces\n([\s\S]*?)^## /m.exec(readFileSync(join(ROOT, 'docs/OBSERVABILITY.md'), 'utf8')) ?? []
const [install = '', variables = ''] = [...section.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block)
const loader = /`(--experimental-loader=\S+)`/.exec(section)?.[1] ?? ''
const here = (text: string) => text.replaceAll(FOLDER, folder)

let world: World
let provider: FalseProvider
before(async () => {
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve))
  world = await startWorld()
  provider = await startFalseProvider(world.chain.rpcUrl)
  assert.ok(install.includes(FOLDER) && variables.includes(COLLECTOR) && loader.includes(FOLDER))
  execFileSync('sh', ['-c', here(install)], { stdio: 'pipe' })
})
after(async () => {
  await provider.close()
  await world.close()
  collector.closeAllConnections()
  collector.close()
})

/** The paragraph's variables, for a collector that reads JSON, with short delays. */
function environment(): Record<string, string> {
  const { port } = collector.address() as AddressInfo
  const lines = here(variables).replace(COLLECTOR, `http://127.0.0.1:${port}`).trim().split('\n')
  return {
    ...worldEnv(world),
    RPC_URL: `${provider.url}/v2/${KEY}`,
    LOG_LEVEL: 'debug',
    ...Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2))),
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
  }
}

/** Starts the service by its launcher, requests a node within a trace of the caller, and stops it. @returns the request's span, and the output. */
async function traced(traceId: string, env: Record<string, string>): Promise<{ span: Span; output: string }> {
  const service = await startService(temporaryDirectory(), env, undefined, [], LAUNCHER)
  try {
    const { status } = await fetch(`${service.url}/api/node/7`, {
      headers: { traceparent: `00-${traceId}-b7ad6b7169203331-01` },
    })
    assert.equal(status, 404)
    const isIts = (span: Span) => span.traceId === traceId && span.kind === SERVER_KIND
    const span = await until('the request has its span', () => spans.find(isIts) ?? null, SPANS_MS)
    return { span, output: service.output() }
  } finally {
    assert.equal((await service.stop()).code, 0)
  }
}

const attribute = ({ attributes }: Span, name: string) =>
  Object.values(attributes.find(({ key }) => key === name)?.value ?? {})[0]

test('a request is a span of its caller’s trace; nothing else is sent, and no key of a provider', async () => {
  const { span, output } = await traced('0af7651916cd43dd8448eb211c80319c', environment())
  assert.equal(span.parentSpanId, 'b7ad6b7169203331')
  assert.equal(span.name, 'GET')
  assert.equal(attribute(span, 'url.path'), '/api/node/7')
  assert.equal(attribute(span, 'http.response.status_code'), 404)
  assert.doesNotMatch(output, /trace_id/)
  assert.ok(provider.seen.length > 0)
  assert.deepEqual([...new Set(received.map(({ path }) => path))], ['/v1/traces'])
  assert.ok(!received.some(({ body }) => body.includes(KEY)))
})

test('the lines of a request have its trace id if the loader is set, too', async () => {
  const env = environment()
  const { span, output } = await traced('4bf92f3577b34da6a3ce929d0e0e4736', {
    ...env,
    NODE_OPTIONS: `${here(loader)} ${env.NODE_OPTIONS}`,
  })
  const lines = output.split('\n').filter((line) => line.includes('"path":"/api/node/7"'))
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).trace_id),
    [span.traceId],
  )
})
