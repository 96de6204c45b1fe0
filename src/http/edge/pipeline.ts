// Checks every request in one order (configured, limit, key, method, session, input), and only then calls the handler. Catches every fault, and
// writes its message only to the log.
import type { IncomingMessage } from 'node:http'
import type { Address } from '../../domain/units.ts'
import { inTime } from '../../lib/deadline.ts'
import { isRefusal, type Refusal, refusalOfFault, refuse } from '../refusals.ts'
import type { Call, Outcome, Route, Target } from '../route.ts'
import { readCookies } from '../session/cookies.ts'
import type { Tools } from '../tools.ts'
import { BODY_BYTES_MAX, passesBy, readJsonBody, skipBody } from './body.ts'
import { clientFinder } from './client-address.ts'
import { keyCheck, refuseUnscoped } from './key-check.ts'
import { Limits } from './limits.ts'
import {
  allowed,
  type ConditionalRequest,
  type Reply,
  sendOptions,
  sendOutcome,
  setCorsHeaders,
  setRateHeaders,
} from './reply.ts'

/** How many headers a request may have: more than any client sends. Checking each takes time. */
const HEADERS_MAX = 100
const NO_WALLET = '' as Address

/** Builds the function that runs a request through a route. `bucket` is the route's number for the limits. */
export function pipeline({ deps, sessions, isOwnOrigin }: Tools) {
  const limits = new Limits(deps.monotonicClock)
  const findClient = clientFinder(deps.settings.trustedProxies)

  const clientOf = ({ raw }: Call) => findClient(raw.socket.remoteAddress ?? '', forwardedFor(raw))
  const refuseUnkeyed = keyCheck(limits, clientOf)

  function refuseOverLimit(route: Route, bucket: number, call: Call, reply: Reply): Refusal | null {
    if (route.limitPerMinute === null) return null
    call.client = clientOf(call)
    const state = limits.take(bucket, route.limitPerMinute, call.client)
    setRateHeaders(reply, state)
    return state.exceeded ? refuse('rateLimited', [], state.retryAfter) : null
  }

  function sessionOf(call: Call): Address | Refusal {
    // A page of another origin must not act for a user who is signed in here.
    const foreign = call.method === 'POST' && !isOwnOrigin(call.raw.headers.origin)
    return (foreign ? null : sessions.read(call.cookies)) ?? refuse('notSignedIn')
  }

  async function admit(route: Route, bucket: number, call: Call, reply: Reply): Promise<Refusal | null> {
    const refusal = route.configured?.() ?? refuseOverLimit(route, bucket, call, reply)
    if (refusal) return refusal
    return (await refuseUnkeyed(route, call, reply)) ?? admitKeyed(route, call, reply)
  }

  function admitKeyed(route: Route, call: Call, reply: Reply): Refusal | null {
    if (!isAllowed(route, call.method)) return refuseMethod(route, reply)
    const refusal = refuseUnscoped(route, call)
    if (refusal || !route.session) return refusal
    const wallet = sessionOf(call)
    if (typeof wallet !== 'string') return wallet
    call.wallet = wallet
    return null
  }

  function failed(route: Route, { raw, requestId }: Call, fault: unknown): Refusal {
    const refusal = refusalOfFault(fault)
    // If a caller disconnects halfway, that is not our fault, and they do not read the answer.
    if (!raw.destroyed || raw.complete)
      deps.log[refusal.status === 500 ? 'error' : 'warn'](
        { err: fault, requestId, route: route.path },
        'request failed',
      )
    return refusal
  }

  async function outcomeOf(route: Route, bucket: number, call: Call, reply: Reply): Promise<Outcome> {
    try {
      const refusal = refuseMessage(call) ?? (await admit(route, bucket, call, reply))
      if (refusal) return refusal
      return await (route.takesJson || !passesBy(call.raw) ? afterBody(route, call) : handleInTime(route, call))
    } catch (fault) {
      return failed(route, call, fault)
    }
  }

  /** Only a caller with the key may learn what a keyed route allows. */
  async function answerOptions(route: Route, call: Call, reply: Reply, conditions: ConditionalRequest): Promise<void> {
    const check = async () => refuseMessage(call) ?? route.configured?.() ?? (await refuseUnkeyed(route, call, reply))
    const refusal = await check().catch((fault) => failed(route, call, fault))
    if (refusal) await sendOutcome(reply, route, conditions, refusal)
    else sendOptions(reply.countAs(null), route, conditions)
  }

  return async function run(route: Route, bucket: number, call: Call, reply: Reply): Promise<void> {
    const conditions = conditionsOf(call, sessions.sessionCookie)
    if (route.cors) setCorsHeaders(reply)
    if (call.method === 'OPTIONS' && route.methods !== 'any') await answerOptions(route, call, reply, conditions)
    else await sendOutcome(reply, route, conditions, await outcomeOf(route, bucket, call, reply))
  }
}

/** Facts besides the answer that decide how we send it. */
export function conditionsOf({ raw, cookies }: Call, sessionCookie: string): ConditionalRequest {
  return {
    ifNoneMatch: raw.headers['if-none-match'],
    accepted: raw.headers['accept-encoding']?.toString() ?? '',
    hasSession: cookies.has(sessionCookie),
  }
}

async function afterBody(route: Route, call: Call): Promise<Outcome> {
  if (route.takesJson) {
    const { takesJson, bodyBytesMax: bytesMax = BODY_BYTES_MAX } = route
    const body = await readJsonBody(call.raw, { orNothing: takesJson === 'orNothing', bytesMax })
    if (isRefusal(body)) return body
    call.body = body
  } else {
    const tooLarge = await skipBody(call.raw)
    if (tooLarge) return tooLarge
  }
  return handleInTime(route, call)
}

/** One request, as it enters the pipeline. */
export function callOf(raw: IncomingMessage, target: Target, requestId: string): Call {
  return {
    method: raw.method ?? '',
    params: target.params,
    query: target.query,
    cookies: readCookies(raw.headers.cookie),
    body: {},
    wallet: NO_WALLET,
    holder: null,
    client: '',
    raw,
    requestId,
  }
}

/** Checks HTTP's own rules for any request. The server leaves them to us, so that refusals come in the envelope. */
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

function refuseMethod(route: Route, reply: Reply): Refusal {
  reply.countAs(null).header('allow', allowed(route))
  return refuse('wrongMethod')
}

function handleInTime(route: Route, call: Call): Outcome | Promise<Outcome> {
  const outcome = route.handle(call)
  const ms = route.deadlineMs
  return outcome instanceof Promise && ms !== null ? inTime(route.path, ms, outcome) : outcome
}
