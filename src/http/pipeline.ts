// The order in which every request is looked at: configured, limit, method, key or session,
// input, and only then the handler. Catches every fault; what it says stays in the log.
import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Address } from '../domain/units.ts'
import { readJsonBody, skipBody } from './body.ts'
import { clientFinder } from './client-address.ts'
import { readCookies } from './cookies.ts'
import type { Query } from './guards.ts'
import { Limits } from './limits.ts'
import { isRefusal, Overdue, type Refusal, refusalOfFault, refuse, statusOf } from './refusals.ts'
import { allowed, sendOptions, sendOutcome, setCorsHeaders, setRateHeaders } from './reply.ts'
import type { Call, Outcome, Route } from './route.ts'
import type { Tools } from './tools.ts'

/** More headers than any client sends; each costs time to look at. */
const HEADERS_MAX = 100
const NOBODY = '' as Address

/** Builds the function that runs a request through a route. `bucket` numbers the route for the limits. */
export function pipeline({ deps, sessions, isOwnOrigin }: Tools) {
  const limits = new Limits(deps.steady)
  const findClient = clientFinder(deps.settings.trustedProxies)

  function overLimit(route: Route, bucket: number, request: FastifyRequest, reply: FastifyReply): boolean {
    if (route.limitPerMinute === null) return false
    const { raw } = request
    const client = findClient(raw.socket.remoteAddress ?? '', forwardedFor(raw))
    const state = limits.take(bucket, route.limitPerMinute, client)
    setRateHeaders(reply, state)
    return state.exceeded
  }

  function sessionOf(call: Call): Address | Refusal {
    // A page of another origin must not act for whoever is signed in here.
    const foreign = call.method === 'POST' && !isOwnOrigin(call.raw.headers.origin)
    return (foreign ? null : sessions.read(call.cookies)) ?? refuse('notSignedIn')
  }

  function admit(
    route: Route,
    bucket: number,
    call: Call,
    reply: FastifyReply,
    request: FastifyRequest,
  ): Refusal | null {
    const unready = route.configured?.()
    if (unready) return unready
    if (overLimit(route, bucket, request, reply)) return refuse('rateLimited')
    if (!isAllowed(route, call.method)) {
      reply.header('allow', allowed(route))
      return refuse('wrongMethod')
    }
    const unauthorized = route.authorize?.(call)
    if (unauthorized) return unauthorized
    if (!route.session) return null
    const wallet = sessionOf(call)
    if (typeof wallet !== 'string') return wallet
    call.wallet = wallet
    return null
  }

  async function outcomeOf(route: Route, call: Call): Promise<Outcome> {
    if (route.takesJson) {
      const body = await readJsonBody(call.raw, { orNothing: route.takesJson === 'orNothing' })
      if (isRefusal(body)) return body
      call.body = body
    } else {
      const tooLarge = await skipBody(call.raw)
      if (tooLarge) return tooLarge
    }
    return withDeadline(route, Promise.resolve(route.handle(call)))
  }

  return async function run(route: Route, bucket: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const call = callOf(request)
    const asked = {
      ifNoneMatch: request.raw.headers['if-none-match'],
      hasSession: call.cookies.has(sessions.sessionCookie),
    }
    if (route.cors) setCorsHeaders(reply)
    const unreadable = refuseMessage(call)
    if (call.method === 'OPTIONS' && route.methods !== 'any' && !unreadable) return void sendOptions(reply, route)
    let outcome: Outcome
    try {
      outcome = unreadable ?? admit(route, bucket, call, reply, request) ?? (await outcomeOf(route, call))
    } catch (fault) {
      const refusal = refusalOfFault(fault)
      outcome = refusal
      // A caller who went away in the middle is nobody's fault, and nobody reads the answer.
      if (!request.raw.destroyed || request.raw.complete)
        deps.log[statusOf(refusal.refused) === 500 ? 'error' : 'warn'](
          { err: fault, requestId: call.requestId, route: route.path },
          'request failed',
        )
    }
    sendOutcome(reply, route, asked, outcome)
  }
}

function callOf(request: FastifyRequest): Call {
  const { raw } = request
  return {
    method: raw.method ?? '',
    params: request.params as Call['params'],
    query: request.query as Query,
    cookies: readCookies(raw.headers.cookie),
    body: {},
    wallet: NOBODY,
    raw,
    requestId: request.id,
  }
}

/** What HTTP asks of any request, which the server leaves to us so that the refusal is in the envelope. */
function refuseMessage({ raw }: Call): Refusal | null {
  if (!raw.url?.startsWith('/')) return refuse('badTarget')
  if (raw.rawHeaders.length > HEADERS_MAX * 2) return refuse('tooManyHeaders')
  if (raw.httpVersion === '1.1' && !hasOneHost(raw.rawHeaders)) return refuse('badRequest')
  return null
}

function hasOneHost(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++
  }
  return hosts === 1
}

function forwardedFor(raw: IncomingMessage): string {
  const header = raw.headers['x-forwarded-for'] ?? ''
  return typeof header === 'string' ? header : header.join(',')
}

function isAllowed(route: Route, method: string): boolean {
  if (route.methods === 'any') return true
  if (method === 'HEAD') return route.methods.includes('GET') && !route.noHead
  return (route.methods as readonly string[]).includes(method)
}

async function withDeadline(route: Route, answer: Promise<Outcome>): Promise<Outcome> {
  const ms = route.deadlineMs
  if (ms === null) return answer
  let timer: NodeJS.Timeout | undefined
  const overdue = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Overdue(route.path, ms)), ms)
  })
  try {
    return await Promise.race([answer, overdue])
  } finally {
    clearTimeout(timer)
  }
}
