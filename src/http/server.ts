// The HTTP server: limits on what a connection may do, the router, and what is answered where no route is reached. Owns
// everything between the socket and the pipeline; knows nothing of what the routes answer.
import { randomUUID } from 'node:crypto'
import { type IncomingMessage, METHODS, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import type { HttpDeps } from './deps.ts'
import type { Query } from './guards.ts'
import { callOf, pipeline } from './pipeline.ts'
import type { RefusalName } from './refusals.ts'
import { Reply, rawRefusal, sendRefusal } from './reply.ts'
import type { Call } from './route.ts'
import { buildRoutes } from './routes.ts'
import { buildTools } from './tools.ts'

/** A request, headers and body, must have arrived by then; whoever is slower is cut off. */
const REQUEST_MS_MAX = 8_000
const HEADERS_MS_MAX = 5_000
/** Node looks for slow requests this often: the two together stay under ten seconds. */
const SLOW_CHECK_MS = 1_000
/** An idle connection is kept longer than the common balancers keep theirs, so that they are the ones to close it. */
const KEEP_ALIVE_MS = 75_000
/** The request line and the headers together. */
const HEADER_BYTES_MAX = 16 * 1024
/** How long a connection that is being closed is still read from. */
const LINGER_MS = 500
/** Inputs are checked by guards and answers are ready bytes: what would compile schemas need not even be loaded. */
const NO_SCHEMAS = { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } }
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

/** Builds the service's HTTP surface from what it is given. It does not listen yet. */
export function createServer(deps: HttpDeps): FastifyInstance {
  const app = Fastify({
    logger: false,
    genReqId: requestId,
    requestIdHeader: false,
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMAS,
    requestTimeout: REQUEST_MS_MAX,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Longer than the header limit allows: the guards refuse long parameters, with their own words.
    routerOptions: { maxParamLength: HEADER_BYTES_MAX },
    http: {
      headersTimeout: HEADERS_MS_MAX,
      connectionsCheckingInterval: SLOW_CHECK_MS,
      maxHeaderSize: HEADER_BYTES_MAX,
      // Checked in the pipeline, where the refusal is in the envelope.
      requireHostHeader: false,
    },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: answerRawError,
    frameworkErrors: (_error, request, { raw }) => refuseOutside(request as FastifyRequest, raw, 'badTarget'),
  })
  // No body is ever parsed for us: the pipeline reads it, after limits and keys.
  const methods = METHODS.filter((method) => method !== 'CONNECT')
  for (const method of methods) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })

  const tools = buildTools(deps)
  const run = pipeline(tools)
  for (const [bucket, route] of buildRoutes(tools).entries()) {
    app.route({
      method: methods,
      url: route.path,
      handler: ({ raw, params, query, id }, { raw: response }) => {
        const reply = replyTo(deps, raw, response, id, route.path)
        return run(route, bucket, callOf(raw, params as Call['params'], query as Query, id), reply)
      },
    })
  }
  const refuseOutside = ({ raw, id }: FastifyRequest, response: ServerResponse, refused: RefusalName) =>
    sendRefusal(replyTo(deps, raw, response, id, null), refused, carriesSession(raw, tools))
  app.setNotFoundHandler((request, reply) => refuseOutside(request, reply.raw, 'unknownRoute'))
  app.setErrorHandler((error, request, reply) => {
    deps.log.error({ err: error, requestId: request.id }, 'request failed outside of any route')
    refuseOutside(request, reply.raw, 'unexpected')
  })
  app.server.on('checkExpectation', (request) => hangUp(request.socket, 'badRequest', requestId(request)))
  app.server.on('connect', (request) => hangUp(request.socket, 'wrongMethod', requestId(request)))
  return app
}

function refuseSchema(): never {
  throw new Error('a route has a schema')
}

function requestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

function carriesSession(raw: IncomingMessage, { sessions }: ReturnType<typeof buildTools>): boolean {
  return raw.headers.cookie?.includes(sessions.sessionCookie) ?? false
}

/** Begins the answer to a request, which is counted and logged once it is sent. */
function replyTo(
  deps: HttpDeps,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  route: string | null,
): Reply {
  const began = performance.now()
  const reply = new Reply(response, requestId, (status) => {
    const { method = '' } = request
    const ms = performance.now() - began
    deps.meters?.request({ method, route, status, seconds: ms / 1000 })
    logRequest(deps.log, request, { requestId, status, ms })
  })
  return deps.draining?.() ? reply.header('connection', 'close') : reply
}

/** What could not be read as a request at all, or came too slowly. */
function answerRawError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else hangUp(socket, error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'tooSlow' : 'badRequest', randomUUID())
}

const hungUp = new WeakSet<Socket>()

/**
 * Refuses on the bare socket and closes it: nothing that follows on this connection can be trusted to be a request. What still
 * comes is let pass by for a moment, since closing on it would reset the connection before the refusal is read.
 */
function hangUp(socket: Socket, refused: RefusalName, id: string): void {
  // What comes after is an error each time.
  if (hungUp.has(socket)) return
  hungUp.add(socket)
  if (socket.writable) socket.end(rawRefusal(refused, id))
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
      // Without its query, which may hold what nobody should have put there. The parser lets only printable ASCII through.
      path: url.split('?', 1)[0]?.slice(0, 200),
      status,
      ms: Math.round(ms),
    },
    'request',
  )
}
