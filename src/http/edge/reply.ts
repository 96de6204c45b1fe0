// Turns outcomes into answers: status, envelope, cache headers, entity tags, security and rate headers. Every answer passes through here or, if there
// is no request to answer, through `rawRefusal`.
import type { ServerResponse } from 'node:http'
import { pipeline, type Readable } from 'node:stream'
import { isRefusal, type Refusal } from '../refusals.ts'
import type { CachedOutcome, Download, Outcome, Route } from '../route.ts'
import { encoded } from './encoding.ts'
import type { LimitState } from './limits.ts'

/** For every answer: browsers must not guess types, and send no referrer to other sites. */
const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }
/** In production also: browsers return only over TLS, windows of other origins cannot reach a page, and no page may use a device. */
const PRODUCTION_HEADERS = {
  ...SECURITY_HEADERS,
  'strict-transport-security': 'max-age=31536000',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), midi=(), payment=(), screen-wake-lock=(), usb=()',
}

export type SecurityHeaders = Readonly<Record<string, string>>

/** The headers of every answer of this service. */
export const securityHeaders = (production: boolean): SecurityHeaders =>
  production ? PRODUCTION_HEADERS : SECURITY_HEADERS

const JSON_TYPE = 'application/json'
const NO_STORE = 'no-store'
const PRIVATE_NO_STORE = 'private, no-store'
/** The system accepts smaller bodies immediately, so they need no timer. */
const LARGE_BYTES = 64 * 1024
/** How long sending a large body may take: a minute, plus one second for each 4 KB. */
const SEND_BYTES_PER_MS_MIN = 4
const SEND_MS_MIN = 60_000
/** Headers that pages of other origins may read. */
const EXPOSED =
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, ratelimit, ratelimit-policy, retry-after, etag, x-request-id'
/** How long browsers may cache a preflight. */
const PREFLIGHT_SEC = 600
const WINDOW_SEC = 60

export interface ConditionalRequest {
  ifNoneMatch: string | undefined
  /** The `accept-encoding` header; empty if there is none. */
  accepted: string
  /** True if the request has a session cookie, valid or not. Its answer must not be cached. */
  hasSession: boolean
}

/** Hooks of every answer. */
export interface Sending {
  /** Headers for every answer, names and values alternately. */
  headers: readonly string[]
  /** True if the connection closes after the answer that is sent next. */
  isLast(): boolean
  /** Called once an answer is handed over completely; never called if that fails halfway. */
  onSent(answer: Reply, status: number): void
}

/**
 * An answer under construction. It collects its headers, names and values alternately, and passes them to Node in one go. Setting them one by one
 * would take longer than all other work for an answer from memory.
 */
export class Reply {
  readonly response: ServerResponse
  readonly requestId: string
  /** The name under which we count the answer: the route's pattern, or a name that several routes share; null if no route matched. */
  route: string | null
  /** When the request began, by `performance.now()`. */
  readonly began = performance.now()
  readonly #headers: string[]
  readonly #sending: Sending

  constructor(response: ServerResponse, requestId: string, route: string | null, sending: Sending) {
    this.response = response
    this.requestId = requestId
    this.route = route
    this.#headers = [...sending.headers, 'x-request-id', requestId]
    this.#sending = sending
  }

  /** Adds a header. Only `set-cookie` may occur twice. */
  header(name: string, value: string): this {
    this.#headers.push(name, value)
    return this
  }

  /** Counts the answer under another name; null to count it as a request that matched no route. */
  countAs(route: string | null): this {
    this.route = route
    return this
  }

  /** Sends the answer. If the request was HEAD, Node leaves the body out. */
  send(status: number, body?: Buffer): void {
    if (body !== undefined) this.header('content-length', String(body.length))
    this.#writeHead(status)
    this.response.end(body)
    this.#sending.onSent(this, status)
    if (body !== undefined && body.length > LARGE_BYTES) this.#limitTime(body.length)
  }

  /** Limits how long sending may take. A caller who takes a few bytes now and then is not stalled, but must not hold the answer forever. */
  #limitTime(bytes: number): void {
    const { response } = this
    const late = setTimeout(() => response.destroy(), SEND_MS_MIN + bytes / SEND_BYTES_PER_MS_MIN)
    response.once('close', () => clearTimeout(late))
  }

  /** Sends what a stream yields. If the stream fails, we break the connection. */
  sendStream(status: number, stream: Readable): void {
    this.#writeHead(status)
    pipeline(stream, this.response, (error) => {
      if (!error) this.#sending.onSent(this, status)
    })
  }

  /** Sends an open-ended stream. The answer is counted at its start, because its duration reveals nothing about the service. */
  sendLasting(status: number, stream: Readable): void {
    this.#writeHead(status)
    this.#sending.onSent(this, status)
    if (this.response.req.method === 'HEAD') {
      stream.destroy()
      this.response.end()
    } else pipeline(stream, this.response, () => {})
  }

  #writeHead(status: number): void {
    if (this.#sending.isLast()) this.header('connection', 'close')
    this.response.writeHead(status, this.#headers)
  }
}

/** Sends an outcome of a route. */
export async function sendOutcome(
  reply: Reply,
  route: Route,
  conditions: ConditionalRequest,
  outcome: Outcome,
): Promise<void> {
  if ('cookies' in outcome) for (const cookie of outcome.cookies ?? []) reply.header('set-cookie', cookie)
  const isPrivate = isPrivateTo(route, conditions)
  if (isRefusal(outcome)) sendRefusal(reply, outcome, isPrivate)
  else {
    reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : route.cache)
    if ('body' in outcome) await sendCached(reply, route, conditions, outcome)
    else if ('stream' in outcome) sendDownload(reply, outcome)
    else if ('events' in outcome) sendEvents(reply, outcome.events)
    else sendJson(reply, outcome.status ?? 200, outcome.json)
  }
}

/** True if the answer must not be cached, because it belongs to a session. */
function isPrivateTo(route: Route, { hasSession }: ConditionalRequest): boolean {
  return hasSession || route.session === true
}

/** Sends ready bytes, compressed if the caller accepts that, or 304 if the caller has them. What belongs to a session gets no entity tag. */
async function sendCached(
  reply: Reply,
  route: Route,
  conditions: ConditionalRequest,
  outcome: CachedOutcome,
): Promise<void> {
  const isPrivate = isPrivateTo(route, conditions)
  const response = isPrivate && !outcome.isFixed ? outcome : await encoded(outcome, conditions.accepted)
  if (response.encoding) reply.header('vary', 'accept-encoding')
  const mayBeCached = !isPrivate && route.cache !== NO_STORE
  if (mayBeCached) reply.header('etag', response.etag)
  if (mayBeCached && matches(conditions.ifNoneMatch, response.etag)) {
    reply.send(304)
    return
  }
  if (response.encoding && response.encoding !== 'identity') reply.header('content-encoding', response.encoding)
  const { contentType = JSON_TYPE } = route
  if (route.policy) reply.header('content-security-policy', route.policy)
  reply.header('content-type', contentType).send(outcome.status ?? 200, response.body)
}

function sendDownload(reply: Reply, { stream, filename, contentType }: Download): void {
  reply.header('content-disposition', `attachment; filename="${filename}"`).header('content-type', contentType)
  reply.sendStream(200, stream)
}

function sendEvents(reply: Reply, stream: Readable): void {
  // The second header makes nginx forward each event immediately.
  reply.header('content-type', 'text/event-stream').header('x-accel-buffering', 'no').sendLasting(200, stream)
}

/** Sends the error envelope. Errors must never be cached. */
export function sendRefusal(reply: Reply, { status, envelope, retryAfterSec }: Refusal, isPrivate: boolean): void {
  if (retryAfterSec !== null) reply.header('retry-after', String(retryAfterSec))
  reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : NO_STORE)
  sendJson(reply, status, envelope)
}

function sendJson(reply: Reply, status: number, json: string): void {
  reply.header('content-type', JSON_TYPE).send(status, Buffer.from(json))
}

/** If-None-Match compares weakly, so `W/` does not matter. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => {
    const bareTag = tag.trim()
    return bareTag === '*' || bareTag.replace(/^W\//, '') === etag
  })
}

/** Sets the headers of every answer from a limited endpoint, and the matching IETF fields. */
export function setRateHeaders(reply: Reply, state: LimitState): void {
  reply.header('x-ratelimit-limit', String(state.limit))
  reply.header('x-ratelimit-remaining', String(state.remaining))
  reply.header('x-ratelimit-reset', String(state.reset))
  reply.header('ratelimit-policy', `"default";q=${state.limit};w=${WINDOW_SEC}`)
  reply.header('ratelimit', `"default";r=${state.remaining};t=${state.retryAfter}`)
}

/** Lets pages of any origin read the answer. */
export function setCorsHeaders(reply: Reply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED)
}

/** The methods of a route, for the `allow` header. */
export function allowed(route: Route): string {
  if (route.methods === 'any') return 'GET, HEAD, POST, OPTIONS'
  const methods: string[] = [...route.methods]
  if (methods.includes('GET') && !route.noHead) methods.push('HEAD')
  return [...methods, 'OPTIONS'].join(', ')
}

/** Answers OPTIONS: what the route allows. Pages of other origins see the answer only if the route is public. */
export function sendOptions(reply: Reply, route: Route, conditions: ConditionalRequest): void {
  reply
    .header('allow', allowed(route))
    .header('cache-control', isPrivateTo(route, conditions) ? PRIVATE_NO_STORE : NO_STORE)
  if (route.cors) {
    reply
      .header('access-control-allow-methods', allowed(route))
      .header('access-control-allow-headers', 'content-type, if-none-match, last-event-id, x-request-id')
      .header('access-control-max-age', String(PREFLIGHT_SEC))
  }
  reply.send(204)
}

/** A complete refusal for a socket whose request could not even be read. */
export function rawRefusal({ status, envelope }: Refusal, requestId: string, security: SecurityHeaders): string {
  const headers = {
    ...security,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(envelope)),
    'cache-control': NO_STORE,
    'x-request-id': requestId,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${envelope}`
}
