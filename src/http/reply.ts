// Turns outcomes into answers: status, envelope, cache headers, entity tags, security and rate headers. Everything that is
// sent passes through here or, where there is no request to answer, through `rawRefusal`.
import type { FastifyReply } from 'fastify'
import type { LimitState } from './limits.ts'
import { envelope, isRefusal, type RefusalName, statusOf } from './refusals.ts'
import type { Outcome, Route } from './route.ts'

/** On every answer: nobody guesses types, nobody learns where a caller came from. */
export const SECURITY_HEADERS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const
const JSON_TYPE = 'application/json'
/** A page loads from this service alone, runs none but its scripts, and stands in no other page. Styles are set by scripts, too. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const NO_STORE = 'no-store'
export const PRIVATE_NO_STORE = 'private, no-store'
/** What a page of another origin may read besides the body. */
const EXPOSED =
  'x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, ratelimit, ratelimit-policy, retry-after, etag, x-request-id'
/** How long browsers may remember what a preflight said. */
const PREFLIGHT_SEC = 600
const WINDOW_SEC = 60

export interface Asked {
  ifNoneMatch: string | undefined
  /** The request carries a session cookie, valid or not: then nobody may keep the answer. */
  hasSession: boolean
}

/** Sends an outcome of a route. */
export function sendOutcome(reply: FastifyReply, route: Route, asked: Asked, outcome: Outcome): FastifyReply {
  if ('cookies' in outcome && outcome.cookies?.length) reply.header('set-cookie', outcome.cookies)
  const isPrivate = asked.hasSession || route.session === true
  if (isRefusal(outcome)) return sendRefusal(reply, outcome.refused, isPrivate)
  reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : route.cache)
  if ('stream' in outcome) {
    reply.header('content-disposition', `attachment; filename="${outcome.filename}"`)
    return reply.code(200).header('content-type', outcome.contentType).send(outcome.stream)
  }
  if (!('body' in outcome)) return sendJson(reply, outcome.status ?? 200, Buffer.from(outcome.json))
  if (outcome.encoding) reply.header('vary', 'accept-encoding')
  if (!isPrivate && route.cache !== NO_STORE) {
    reply.header('etag', outcome.etag)
    if (matches(asked.ifNoneMatch, outcome.etag)) return reply.code(304).send()
  }
  if (outcome.encoding && outcome.encoding !== 'identity') reply.header('content-encoding', outcome.encoding)
  if (!route.contentType) return sendJson(reply, 200, outcome.body)
  if (route.contentType.startsWith('text/html')) reply.header('content-security-policy', route.policy ?? PAGE_POLICY)
  return reply.code(200).header('content-type', route.contentType).send(outcome.body)
}

/** Sends the error envelope. Errors are never to be kept, by nobody. */
export function sendRefusal(reply: FastifyReply, refused: RefusalName, isPrivate: boolean): FastifyReply {
  reply.header('cache-control', isPrivate ? PRIVATE_NO_STORE : NO_STORE)
  return sendJson(reply, statusOf(refused), Buffer.from(envelope(refused)))
}

function sendJson(reply: FastifyReply, status: number, body: Buffer): FastifyReply {
  return reply.code(status).header('content-type', JSON_TYPE).send(body)
}

/** If-None-Match compares weakly: `W/` does not matter. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => {
    const trimmed = tag.trim()
    return trimmed === '*' || trimmed.replace(/^W\//, '') === etag
  })
}

/** The headers of every answer from a limited endpoint (specification, section 8), and the IETF fields beside them. */
export function setRateHeaders(reply: FastifyReply, state: LimitState): void {
  reply.header('x-ratelimit-limit', String(state.limit))
  reply.header('x-ratelimit-remaining', String(state.remaining))
  reply.header('x-ratelimit-reset', String(state.reset))
  reply.header('ratelimit-policy', `"default";q=${state.limit};w=${WINDOW_SEC}`)
  reply.header('ratelimit', `"default";r=${state.remaining};t=${state.retryAfter}`)
  if (state.exceeded) reply.header('retry-after', String(state.retryAfter))
}

/** Lets pages of any origin read the answer. */
export function setCorsHeaders(reply: FastifyReply): void {
  reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED)
}

/** What a route allows, for `allow`. */
export function allowed(route: Route): string {
  if (route.methods === 'any') return 'GET, HEAD, POST, OPTIONS'
  const methods: string[] = [...route.methods]
  if (methods.includes('GET') && !route.noHead) methods.push('HEAD')
  return [...methods, 'OPTIONS'].join(', ')
}

/** Answers OPTIONS: what the route allows, and to pages of other origins only where it is public. */
export function sendOptions(reply: FastifyReply, route: Route): FastifyReply {
  reply.code(204).header('allow', allowed(route)).header('cache-control', NO_STORE)
  if (route.cors) {
    reply
      .header('access-control-allow-methods', allowed(route))
      .header('access-control-allow-headers', 'content-type, if-none-match, x-request-id')
      .header('access-control-max-age', String(PREFLIGHT_SEC))
  }
  return reply.send()
}

/** A whole refusal for a socket whose request could not even be read. */
export function rawRefusal(refused: RefusalName, requestId: string): string {
  const body = envelope(refused)
  const headers = {
    ...SECURITY_HEADERS,
    'content-type': JSON_TYPE,
    'content-length': String(Buffer.byteLength(body)),
    'cache-control': NO_STORE,
    'x-request-id': requestId,
    connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${statusOf(refused)} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
