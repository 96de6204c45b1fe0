// A seeded generator of malformed requests for the campaign against the HTTP surface: paths, ids, limits, addresses,
// queries, methods, headers, cookies, bodies, encodings and plain noise. The same seed gives the same sequence.
import { hashOf, walletOf } from './http-ledger.ts'

/** A request as bytes. */
export interface Malformed {
  bytes: Buffer
  method: string
  /** False if the bytes may not even be a request, so the server may answer or just close the connection. */
  framed: boolean
}

export type Random = () => number

/** mulberry32: small, and the same everywhere. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

const READS = [
  '/api/stats',
  '/api/tiers',
  '/api/cover',
  '/api/distributions',
  '/api/distributions/1/turns',
  '/api/deploy-quote',
  '/api/price',
  '/api/openapi.json',
  '/api/cron/health',
  '/.well-known/node-ledger.json',
  '/healthz',
  '/readyz',
  '/docs',
]
const GUARDED = [
  '/api/me',
  '/api/me/referrals',
  '/api/cron/payments',
  '/api/cron/credit',
  '/api/admin',
  '/api/admin/payments',
  '/api/auth/nonce',
]
const POSTS = [
  '/api/payments/claim',
  '/api/auth/verify',
  '/api/auth/logout',
  '/api/auth/nonce',
  '/api/nodes/sync',
  '/api/cron/credit',
]
const METHODS = [
  'GET',
  'GET',
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'PURGE',
  'M-SEARCH',
  'get',
  'CONNECT',
]
/** Pieces that have broken other parsers before. */
const NASTY = [
  '%00',
  '%0a',
  '%0d%0a',
  '%',
  '%f',
  '%ff',
  '%c0%ae',
  '%e0%80%af',
  '%2e%2e',
  '..',
  '//',
  '\\',
  '%2f',
  '%5c',
  ';',
  '?',
  '#',
  '&',
  '=',
  '[]',
  '[0]',
  "'",
  '"',
  '`',
  '<script>',
  '#{7*7}',
  '{{7*7}}',
  '$(id)',
  '٣',
  '７',
  '\u2028',
  '\ufeff',
  '\x7f',
  '\x1b[31m',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  'Infinity',
  '-0',
  '1e309',
  '0x10',
  '0b1',
  '1_000',
  '+1',
  ' 1',
  '1 ',
  '1,000',
  "1' OR '1'='1",
  '1;DROP TABLE nodes',
  '9007199254740993',
  '18446744073709551616',
  '0',
  '01',
  '1.0',
  '🙂',
]
const TYPES = [
  'application/json',
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-www-form-urlencoded',
  '',
  ';',
  'application/',
  'a'.repeat(5000),
]
const HEADERS = [
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'x-request-id',
  'if-none-match',
  'origin',
  'cookie',
  'authorization',
  'x-cron-key',
  'x-admin-key',
  'accept',
  'accept-encoding',
  'content-encoding',
  'range',
  'if-modified-since',
  'x-http-method-override',
  'te',
  'upgrade',
  'via',
  'accept-version',
  'content-type',
  'expect',
  'host',
  'x-original-url',
  'x-rewrite-url',
]

const HEX = '0123456789abcdefABCDEF'

/** Makes requests endlessly. */
export function* malformedRequests(random: Random): Generator<Malformed> {
  const make = generators(random)
  for (;;) {
    const kind = random()
    if (kind < 0.3) yield make.read()
    else if (kind < 0.5) yield make.resource()
    else if (kind < 0.75) yield make.post()
    else if (kind < 0.85) yield make.anything()
    else yield make.noise()
  }
}

function generators(random: Random) {
  const below = (n: number) => Math.floor(random() * n)
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T
  const text = (max: number) => Array.from({ length: below(max) }, () => String.fromCharCode(33 + below(94))).join('')
  const digits = (max: number) => Array.from({ length: 1 + below(max) }, () => below(10)).join('')
  const hex = (length: number) => Array.from({ length }, () => HEX[below(HEX.length)]).join('')
  const nasty = () => pick([() => pick(NASTY), () => text(40), () => digits(90), () => `0x${hex(below(80))}`])()
  /** Damages a valid value a little, by one change somewhere. */
  const bent = (right: string) => {
    const at = below(right.length + 1)
    return pick([
      () => right.slice(0, at) + nasty() + right.slice(at),
      () => right.slice(0, at) + right.slice(at + 1),
      () => right.slice(0, at) + right.slice(at).toUpperCase(),
      () => right + right,
      () => right.slice(at) + right.slice(0, at),
    ])()
  }
  const query = () => {
    const names = ['limit', 'limit[]', 'tier', 'address', 'x', 'limit%00', '%6cimit', '']
    const pairs = Array.from(
      { length: below(4) },
      () => `${pick([pick(names), nasty()])}${pick(['=', '', '=='])}${nasty()}`,
    )
    return pairs.length === 0 ? '' : `?${pairs.join(pick(['&', '&', ';', '&&']))}`
  }
  const value = (depth: number): unknown =>
    pick<() => unknown>([
      () => nasty(),
      () => Number(digits(30)),
      () => null,
      () => random() < 0.5,
      () => (depth > 3 ? [] : [value(depth + 1), value(depth + 1)]),
      () => (depth > 3 ? {} : { [nasty()]: value(depth + 1) }),
      () => hashOf('campaign'),
      () => walletOf(below(100)),
      () => `0x${hex(130)}`,
    ])()
  const json = () => {
    const fields = ['txHash', 'nodeId', 'address', 'signature', '__proto__', 'constructor', 'x']
    const whole = JSON.stringify(Object.fromEntries(Array.from({ length: below(5) }, () => [pick(fields), value(0)])))
    return pick([
      () => whole,
      () => whole,
      () => bent(whole),
      () => JSON.stringify(value(0)),
      () => '['.repeat(below(9000)),
      () => 'x'.repeat(below(40_000)),
      () => text(200),
      () => '',
    ])()
  }
  const cookie = () => {
    const names = ['nl_session', 'nl_nonce', '__Host-nl_session', 'x', '']
    const values = [
      () => nasty(),
      () => `${walletOf(1)}.${digits(13)}.${text(43)}`,
      () => `${hex(32)}.${digits(10)}.-.${text(43)}`,
      () => '',
    ]
    return Array.from({ length: 1 + below(3) }, () => `${pick(names)}${pick(['=', '=', ''])}${pick(values)()}`).join(
      pick(['; ', ';', ',']),
    )
  }
  /** Header values must not break the framing. That is up to `noise`. */
  const plain = (raw: string) => raw.replaceAll(/[\r\n\0]/g, '')
  const headers = () =>
    Array.from({ length: below(5) }, () => {
      const name = pick(HEADERS.filter((h) => !['expect', 'host', 'content-type', 'upgrade', 'te'].includes(h)))
      return `${name}: ${plain(name === 'cookie' ? cookie() : nasty())}\r\n`
    }).join('')
  const request = (method: string, target: string, more: string, body: Buffer | null): Malformed => {
    const length = body === null ? '' : `Content-Length: ${body.length}\r\n`
    const path = target.replaceAll(/[\r\n\0 ]/g, '') || '/'
    const head = Buffer.from(`${method} ${path} HTTP/1.1\r\nHost: x\r\n${headers()}${more}${length}\r\n`)
    return {
      bytes: body === null ? head : Buffer.concat([head, body]),
      method,
      framed: !['get', 'CONNECT'].includes(method),
    }
  }
  const body = () =>
    pick([
      () => Buffer.from(json()),
      () => Buffer.from(json()),
      () => Buffer.from(json(), 'utf16le'),
      () => Buffer.from(text(300), 'latin1'),
    ])()
  const valid = () =>
    pick([
      `GET /api/stats HTTP/1.1\r\nHost: x\r\n\r\n`,
      `POST /api/payments/claim HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n{"txHash":""}`,
      `POST /api/auth/logout HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    ])

  return {
    read: () =>
      request(
        pick(METHODS),
        pick([() => pick(READS), () => bent(pick(READS)), () => bent(pick(GUARDED)), () => pick(GUARDED)])() + query(),
        '',
        null,
      ),
    resource: () => {
      const right = pick([
        () => `/api/node/${digits(80)}`,
        () => `/api/node/${nasty()}`,
        () => `/api/nodes/0x${hex(40)}`,
        () => `/api/nodes/${nasty()}`,
        () => `/api/nodes/${walletOf(below(9))}`,
        () => `/api/node/${1 + below(5)}`,
      ])()
      return request(
        pick(['GET', 'GET', 'GET', 'HEAD']),
        pick([() => right, () => right, () => bent(right)])() + query(),
        '',
        null,
      )
    },
    post: () =>
      request(
        'POST',
        pick(POSTS) + pick(['', '', query()]),
        `Content-Type: ${pick(TYPES)}\r\n${random() < 0.5 ? `Cookie: ${plain(cookie())}\r\n` : ''}`,
        body(),
      ),
    anything: () =>
      request(
        pick(METHODS),
        pick([
          () => `/${nasty()}/${nasty()}`,
          () => nasty(),
          () => `http://${text(9)}/${nasty()}`,
          () => `/api/${nasty()}${query()}`,
        ])(),
        '',
        random() < 0.3 ? body() : null,
      ),
    noise: (): Malformed => {
      const bytes = Buffer.from(valid(), 'latin1')
      for (let i = 0; i <= below(4); i++) bytes[below(bytes.length)] = below(256)
      const cut = random() < 0.3 ? bytes.subarray(0, below(bytes.length)) : bytes
      const header = `${pick(HEADERS)}: ${nasty()}\r\n`
      const extra = random() < 0.3 ? Buffer.from(valid().replace('\r\n', `\r\n${header}`)) : cut
      return { bytes: extra, method: 'noise', framed: false }
    },
  }
}
