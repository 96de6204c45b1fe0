// A JSON-RPC provider between the client and a real chain that a test can make lie, stall or refuse. It forwards any
// call that no rule answers, and notes its requests.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Call {
  method: string
  params: unknown[]
}
export type Answer = { result: unknown } | { error: { code: number; message: string; data?: unknown } }
/** `forward` calls the real chain. If the rule returns undefined, the call is forwarded unchanged. */
export type Rule = (call: Call, forward: () => Promise<Answer>) => Promise<Answer | undefined> | Answer | undefined
export interface HttpAnswer {
  status?: number
  headers?: Record<string, string>
  body: string | Buffer
}

export interface FalseProvider {
  url: string
  /** Calls so far, in order; a batch counts call by call. */
  seen: Call[]
  /** HTTP requests so far. */
  requests: number
  rule: Rule
  /** Answers a whole HTTP request, before any rule; null stalls it for ever. */
  http: (body: string) => HttpAnswer | null | undefined
  /** Closes the connections of requests without an answer. */
  hangUp(): void
  close(): Promise<void>
}

/** Starts one in front of `target`. Without a target, it answers an internal error to every call that no rule answers. */
export async function startFalseProvider(target?: string): Promise<FalseProvider> {
  const proxy: FalseProvider = {
    url: '',
    seen: [],
    requests: 0,
    rule: () => undefined,
    http: () => undefined,
    hangUp: () => server.closeAllConnections(),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  const server = createServer(async (request, response) => {
    proxy.requests++
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const whole = proxy.http(body)
    if (whole === null) return
    const answer = whole ?? { body: JSON.stringify(await answerBody(proxy, target, body)) }
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers })
    response.end(answer.body)
  })
  server.on('clientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return proxy
}

async function answerBody(proxy: FalseProvider, target: string | undefined, body: string): Promise<unknown> {
  const parsed = JSON.parse(body) as (Call & { id: number }) | (Call & { id: number })[]
  const one = async (call: Call & { id: number }) => {
    proxy.seen.push({ method: call.method, params: call.params })
    const forward = () => ask(target, call)
    return { ...((await proxy.rule(call, forward)) ?? (await forward())), jsonrpc: '2.0', id: call.id }
  }
  return Array.isArray(parsed) ? await Promise.all(parsed.map(one)) : await one(parsed)
}

async function ask(target: string | undefined, { method, params }: Call): Promise<Answer> {
  if (!target) return { error: { code: -32603, message: `no rule answers ${method}` } }
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  return (await response.json()) as Answer
}

/** Lies about one field of a method's answer. */
export const forging =
  (method: string, forge: (result: Record<string, unknown>) => unknown): Rule =>
  async (call, forward) => {
    if (call.method !== method) return undefined
    const { result } = (await forward()) as { result: Record<string, unknown> }
    return { result: forge(result) }
  }
