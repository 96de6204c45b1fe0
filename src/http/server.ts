// The HTTP server: limits on what a connection may do, the router, and the answers if no route matches. Owns everything between the socket and the
// pipeline, and nothing about the content of answers.
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '../lib/log.ts'
import { createServer as createNodeServer } from '../lib/node-http.ts'
import type { HttpDeps } from './deps.ts'
import { clientFinder, proxyCheck } from './edge/client-address.ts'
import { Connections } from './edge/connections.ts'
import { callOf, conditionsOf, pipeline } from './edge/pipeline.ts'
import { Reply, rawRefusal, type Sending, securityHeaders, sendOutcome, sendRefusal } from './edge/reply.ts'
import { createRouter, type Router } from './edge/router.ts'
import { type RefusalName, refuse } from './refusals.ts'
import type { Route } from './route.ts'
import { notFoundPage } from './routes/pages.ts'
import { buildRoutes } from './routes.ts'
import { buildTools, type Tools } from './tools.ts'

/** The largest size of request line and headers together. */
const HEADER_BYTES_MAX = 16 * 1024
const LIMITS = {
  /** A whole request must have arrived within this time; slower callers are cut off. */
  requestTimeout: 8_000,
  headersTimeout: 5_000,
  /** How often Node looks for slow requests. At this interval the timeouts stay under ten seconds, and only a few callers are cut off at a time. */
  connectionsCheckingInterval: 250,
  /** We keep an idle connection longer than common load balancers do, so that they close it first. */
  keepAliveTimeout: 75_000,
  maxHeaderSize: HEADER_BYTES_MAX,
  /** The pipeline checks this instead, so that the refusal comes in the envelope. */
  requireHostHeader: false,
}
/** How long we keep reading from a connection that is closing. */
const LINGER_MS = 500
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

export interface HttpServer {
  /** Node's own server. */
  server: Server
  /** Starts to listen. Rejects if it cannot listen there. Port 0 takes any free port. */
  listen(where: { host: string; port: number }): Promise<void>
  /** Accepts no new connections, closes idle ones, ends event streams, and resolves once all requests in flight are answered. */
  close(): Promise<void>
}

/** Builds the service's HTTP surface from what it is given. It does not listen yet. */
export function createServer(deps: HttpDeps): HttpServer {
  let closing = false
  const tools = buildTools(deps)
  const run = pipeline(tools)
  const router = createRouter(buildRoutes(tools), HEADER_BYTES_MAX)
  const answerAsPage = pageAnswers(router, notFoundPage(deps.settings), tools)
  const connections = connectionsOf(tools)
  const security = securityHeaders(deps.settings.production)
  const sending: Sending = {
    headers: Object.entries(security).flat(),
    isLast: () => closing || (deps.draining?.() ?? false),
    onSent: (reply, status) => onSent(deps, reply, status),
  }
  const refuseOutside = (response: ServerResponse, id: string, name: RefusalName) =>
    sendRefusal(new Reply(response, id, null, sending), refuse(name), carriesSession(response.req, tools))

  function failed(response: ServerResponse, id: string, fault: unknown): void {
    deps.log.error({ err: fault, requestId: id }, 'request failed outside of any route')
    if (response.headersSent) response.destroy()
    else refuseOutside(response, id, 'unexpected')
  }

  async function serve(request: IncomingMessage, response: ServerResponse, id: string): Promise<void> {
    const match = router.find(request.url ?? '')
    if (typeof match === 'string') {
      if (match === 'unknownRoute' && (await answerAsPage(new Reply(response, id, null, sending), request))) return
      return refuseOutside(response, id, match)
    }
    const { route, bucket, target } = match
    const reply = new Reply(response, id, route.countedAs ?? route.path, sending)
    await run(route, bucket, callOf(request, target, id), reply)
  }

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const id = requestId(request)
    serve(request, response, id).catch((fault) => failed(response, id, fault))
  }

  const refuseRaw = (socket: Duplex, name: RefusalName, id: string) =>
    connections.leave(socket as Socket, () => hangUp(socket, rawRefusal(refuse(name), id, security)))

  const server = createNodeServer(LIMITS, (request, response) =>
    connections.enter(response, () => answer(request, response)),
  )
  server.on('connection', (socket) => connections.accept(socket))
  // Bytes that are not a request, or a request that arrived too slowly.
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    // A client that sent nothing gets no answer: browsers open connections in advance.
    if (error.code === 'ECONNRESET' || (socket as Socket).bytesRead === 0) socket.destroy()
    else refuseRaw(socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'tooSlow' : 'badRequest', randomUUID())
  })
  server.on('checkExpectation', (request) => refuseRaw(request.socket, 'badRequest', requestId(request)))
  server.on('connect', (request) => refuseRaw(request.socket, 'wrongMethod', requestId(request)))
  return {
    server,
    listen: (where) => listenOn(server, where),
    close: () =>
      new Promise((resolve) => {
        closing = true
        tools.watches.close()
        // The only possible error is that the server is not listening, and then it is already closed.
        server.close(() => resolve())
      }),
  }
}

const NO_TARGET = { params: {}, query: {} }

/**
 * Answers a person's request for a page if no route matches. A path with an extra trailing slash redirects to the page, and an unknown path gets a page
 * that says so. @returns false if the caller did not ask for a page: programs get the error envelope as usual.
 */
function pageAnswers(router: Router, notFound: Route, { sessions }: Tools) {
  return async (reply: Reply, request: IncomingMessage): Promise<boolean> => {
    const { method, url = '', headers } = request
    if ((method !== 'GET' && method !== 'HEAD') || !headers.accept?.includes('text/html')) return false
    const target = withoutSlash(url)
    const match = target === null ? 'unknownRoute' : router.find(target)
    if (target !== null && typeof match !== 'string' && match.route.contentType?.startsWith('text/html'))
      reply.header('cache-control', 'no-store').header('location', target).send(308)
    else {
      const call = callOf(request, NO_TARGET, reply.requestId)
      await sendOutcome(reply, notFound, conditionsOf(call, sessions.sessionCookie), await notFound.handle(call))
    }
    return true
  }
}

/** A target without the trailing slashes of its path; null if there are no slashes to remove, or if what is left would name another host. */
function withoutSlash(url: string): string | null {
  const [, path = '', query = ''] = /^(\/[^/?\\][^?]*?)\/+(\?.*)?$/s.exec(url) ?? []
  return path === '' ? null : `${path}${query}`
}

function listenOn(server: Server, where: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function connectionsOf({ deps: { settings, meters, log }, connectionLimits: limits }: Tools): Connections {
  const { trustedProxies } = settings
  return new Connections({
    limits,
    findClient: clientFinder(trustedProxies),
    isTrusted: proxyCheck(trustedProxies),
    onDropped(why) {
      meters?.dropped(why)
      log.debug({ why }, 'a connection was dropped')
    },
  })
}

function requestId(request: IncomingMessage): string {
  const header = request.headers['x-request-id']
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

function carriesSession(raw: IncomingMessage, { sessions }: ReturnType<typeof buildTools>): boolean {
  return raw.headers.cookie?.includes(sessions.sessionCookie) ?? false
}

function onSent(deps: HttpDeps, { response, requestId, route, began }: Reply, status: number): void {
  const { req: request } = response
  const ms = performance.now() - began
  deps.meters?.request({ method: request.method ?? '', route, status, seconds: ms / 1000 })
  logRequest(deps.log, request, { requestId, status, ms })
}

const hungUp = new WeakSet<Duplex>()

/**
 * Refuses on the bare socket and closes it, because any further bytes on this connection may not be a request. For a moment it discards what still
 * arrives, because an early close would reset the connection before the caller reads the refusal.
 */
function hangUp(socket: Duplex, refusal: string): void {
  // Each later byte would raise another error.
  if (hungUp.has(socket)) return
  hungUp.add(socket)
  if (socket.writable) socket.end(refusal)
  socket.resume()
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

function logRequest(
  log: Log,
  { method, url = '' }: IncomingMessage,
  { requestId, status, ms }: { requestId: string; status: number; ms: number },
): void {
  const level = status < 400 ? 'debug' : 'info'
  if (!log.isLevelEnabled(level)) return
  log[level](
    {
      requestId,
      method,
      // The path without the query, in which callers may put secrets by mistake. The parser lets only printable ASCII through.
      path: url.split('?', 1)[0]?.slice(0, 200),
      status,
      ms: Math.round(ms),
    },
    'request',
  )
}
