// One JSON-RPC provider over a pool of connections: posts a body, reads the answer within limits of time and size, and checks that the answer belongs
// to the request. It must never retry (the provider may have accepted a send), and never show more of its URL than the host, because path, query and
// user may hold keys. rpc.ts decides in which order to ask several providers.
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { isTimeout } from '../../lib/deadline.ts'
import { codeOf } from '../../lib/errors.ts'
import { Semaphore } from '../../lib/semaphore.ts'
import { Pool } from '../../lib/undici.ts'
import { type RpcError, RpcFault } from '../../ports/faults.ts'

/** The most requests at a time, and connections, to one provider. Bulk reads use 8 of them; the others are left for other requests. */
const IN_FLIGHT_MAX = 16
/** How many requests may wait for a connection. A longer queue would not help. */
const WAITING_MAX = 1_000
/** How many characters of a provider's text an error quotes. */
const ERROR_TEXT_MAX = 300
/** The longest Retry-After that we obey, in seconds. After it we try again, and the provider may ask for another pause. */
const PAUSE_SEC_MAX = 60
/** A send is made even during a pause: a payment waits for it, and the provider may accept it. */
const SEND = 'eth_sendRawTransaction'

export interface RpcCall {
  method: string
  params: readonly unknown[]
  /** False for a result that cannot be right, beyond what its method returns. Then we go to the next provider. */
  isPlausible?: ((result: unknown) => boolean) | undefined
}

export type RpcReply = { ok: true; result: unknown } | { ok: false; error: RpcError }

export interface ProviderOptions {
  url: string
  replyBytesMax: number
  /** Makes the requests to the URL's origin. By default a connection pool; a simulation has no sockets. */
  dispatcher?: Dispatcher
}

export interface Provider {
  readonly host: string
  /** Makes one call. A JSON-RPC error counts as an answer. Throws an RpcFault if the provider returns neither a result nor a JSON-RPC error. */
  call(call: RpcCall, timeoutMs: number, bytesMax?: number): Promise<RpcReply>
  /** Makes several calls in one request; the answers have the same order. Throws an RpcFault of kind `batch` if the provider rejects the batch. */
  batch(calls: readonly RpcCall[], timeoutMs: number): Promise<RpcReply[]>
  close(): Promise<void>
}

const inflate = promisify(gunzip)

/** True for the codes and texts of rate limits (docs.metamask.io "-32005", Alchemy 429, QuickNode -32007). */
export function isLimit(error: RpcError): boolean {
  if (error.code === 429 || error.code === -32005 || error.code === -32007) return true
  return /rate.?limit|too many requests|compute units|throughput|capacity exceeded|quota/i.test(error.message)
}

/** True if the call ran and the contract reverted it. Shown by code 3 (geth, anvil), by revert data, or by the words of the message. */
export function isRevert(error: RpcError): boolean {
  return error.code === 3 || revertData(error) !== null || /\bexecution reverted\b|\brevert\b/i.test(error.message)
}

/** The revert data, no matter in which field the provider put it; null if there is none. */
export function revertData(error: RpcError): `0x${string}` | null {
  const innerData =
    typeof error.data === 'object' && error.data !== null ? (error.data as { data?: unknown }).data : null
  for (const candidate of [error.data, innerData]) {
    if (typeof candidate === 'string' && /^0x(?:[0-9a-fA-F]{2})+$/.test(candidate)) return candidate as `0x${string}`
  }
  return null
}

/** Creates a provider. Throws a TypeError if the URL is not http or https; the message does not repeat the URL. */
export function createProvider(options: ProviderOptions): Provider {
  const url = parseUrl(options.url)
  const pool =
    options.dispatcher ??
    new Pool(url.origin, { connections: IN_FLIGHT_MAX, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  const places = new Semaphore(IN_FLIGHT_MAX, WAITING_MAX)
  const link: Link = {
    host: url.host,
    origin: url.origin,
    path: url.pathname + url.search,
    headers: headersFor(url),
    secrets: secretsOf(url),
    replyBytesMax: options.replyBytesMax,
    pool,
    places,
    pausedUntil: 0,
  }
  let nextId = 1
  const envelope = ({ method, params }: RpcCall) => ({ jsonrpc: '2.0', id: nextId++, method, params })
  return {
    host: url.host,
    async call(call, timeoutMs, bytesMax = link.replyBytesMax) {
      if (call.method !== SEND) assertNotPaused(link)
      const request = envelope(call)
      const body = await post(link, JSON.stringify(request), { timeoutMs, bytesMax })
      return readReply(link, body, request.id)
    },
    async batch(calls, timeoutMs) {
      assertNotPaused(link)
      const requests = calls.map(envelope)
      const body = await post(link, JSON.stringify(requests), { timeoutMs, bytesMax: link.replyBytesMax })
      return readBatch(
        link,
        body,
        requests.map((request) => request.id),
      )
    },
    close: () => pool.destroy(),
  }
}

interface Link {
  host: string
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly secrets: readonly string[]
  replyBytesMax: number
  pool: Dispatcher
  places: Semaphore
  /** The end of the pause that the provider asked for, on the clock of `performance.now()`. */
  pausedUntil: number
}

/** Providers count the requests that they reject, and some charge for them. So we send none during a pause. */
function assertNotPaused({ host, pausedUntil }: Link): void {
  const leftMs = pausedUntil - performance.now()
  if (leftMs > 0) throw new PausedFault('limit', `${host}: asked us to pause for ${Math.ceil(leftMs / 1000)} s`)
}

/** We did not send the request, because the provider has asked us to pause. */
export class PausedFault extends RpcFault {}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('an RPC URL must begin with http:// or https://')
  }
  return url
}

function headersFor(url: URL): Record<string, string> {
  const headers: Record<string, string> & { authorization?: string } = {
    'content-type': 'application/json',
    'accept-encoding': 'gzip',
  }
  if (url.username !== '' || url.password !== '') {
    const user = `${decodePart(url.username)}:${decodePart(url.password)}`
    headers.authorization = `Basic ${Buffer.from(user).toString('base64')}`
  }
  return headers
}

/** A part of the URL, decoded; unchanged if it contains a percent sign that encodes nothing. */
function decodePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The parts of the URL that must not appear in an error text, encoded and decoded. Parts with fewer than 8 characters are not keys. */
function secretsOf(url: URL): string[] {
  const parts = [
    url.password,
    url.username,
    url.search.slice(1),
    ...url.searchParams.values(),
    ...url.pathname.split('/'),
  ]
  return [...new Set([...parts, ...parts.map(decodePart)])].filter((part) => part.length >= 8)
}

/** A provider's text, cut to ERROR_TEXT_MAX, without any part of the URL that may be a key. */
function scrub(link: Link, text: string): string {
  let clean = text
  for (const secret of link.secrets) clean = clean.replaceAll(secret, '…')
  return clean.slice(0, ERROR_TEXT_MAX)
}

/** How long we wait for an answer, and how many bytes of it we read at most. */
interface Limits {
  timeoutMs: number
  bytesMax: number
}

async function post(link: Link, payload: string, { timeoutMs, bytesMax }: Limits): Promise<unknown> {
  const signal = AbortSignal.timeout(timeoutMs)
  let leave: (() => void) | null = null
  try {
    leave = await link.places.enter(signal)
    return await readAnswer(link, await exchange(link, payload, { signal, bytesMax }), bytesMax)
  } catch (error) {
    if (error instanceof RpcFault) throw error
    throw new RpcFault('unreachable', `${link.host}: ${scrub(link, reasonOf(error))}`)
  } finally {
    leave?.()
  }
}

/** A complete HTTP response. */
interface Answer {
  statusCode: number
  retryAfter: string
  encoding: string
  body: Buffer
}

/** Posts a body and collects the answer as it arrives. With a stream, as undici's `request` returns it, this would take half as much time again. */
function exchange(
  link: Link,
  payload: string,
  { signal, bytesMax }: { signal: AbortSignal; bytesMax: number },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { pool, origin, path, headers } = link
    const parts: Buffer[] = []
    let size = 0
    let statusCode = 0
    let encoding = ''
    let retryAfter = ''
    let controller: Dispatcher.DispatchController | null = null
    const settle = (settling: () => void) => {
      signal.removeEventListener('abort', late)
      settling()
    }
    // Aborting also stops the download.
    const giveUp = (reason: Error) => {
      settle(() => reject(reason))
      controller?.abort(reason)
    }
    const late = () => giveUp(signal.reason)
    signal.addEventListener('abort', late, { once: true })
    pool.dispatch(
      { method: 'POST', origin, path, headers, body: payload },
      {
        onRequestStart(newController) {
          controller = newController
          if (signal.aborted) newController.abort(signal.reason)
        },
        onResponseStart(_, status, replyHeaders) {
          statusCode = status
          encoding = String(replyHeaders['content-encoding'] ?? '')
          retryAfter = String(replyHeaders['retry-after'] ?? '')
        },
        onResponseData(_, part) {
          size += part.length
          if (size > bytesMax) giveUp(refusalOf(link, statusCode) ?? tooLarge(link, bytesMax, statusCode))
          else parts.push(part)
        },
        onResponseEnd: () =>
          settle(() => resolve({ statusCode, retryAfter, encoding, body: Buffer.concat(parts, size) })),
        onResponseError: (_, error) => settle(() => reject(error)),
      },
    )
  })
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'request failed'
  if (isTimeout(error)) return 'no answer in time'
  return codeOf(error) ?? error.message
}

/** The fault if the status alone decides, whatever the body contains. */
function refusalOf({ host }: Link, statusCode: number): RpcFault | null {
  if (statusCode === 429) return new RpcFault('limit', `${host}: HTTP 429, too many requests`)
  return statusCode === 413 ? new RpcFault('batch', `${host}: HTTP 413, request too large`) : null
}

function tooLarge({ host }: Link, bytesMax: number, statusCode = 200): RpcFault {
  if (statusCode >= 500) return new RpcFault('unreachable', `${host}: HTTP ${statusCode}`)
  return new RpcFault('tooLarge', `${host}: answer larger than ${bytesMax} bytes`)
}

async function readAnswer(
  link: Link,
  { statusCode, retryAfter, encoding, body }: Answer,
  bytesMax: number,
): Promise<unknown> {
  // Retry-After in seconds. A few servers write a date; then we do not pause (RFC 9110, section 10.2.3).
  if (statusCode === 429 && /^\d{1,9}$/.test(retryAfter))
    link.pausedUntil = performance.now() + Math.min(Number(retryAfter), PAUSE_SEC_MAX) * 1_000
  const refusal = refusalOf(link, statusCode)
  if (refusal) throw refusal
  // We recognise gzip by its first bytes. Some proxies drop the header, or keep it on a body that they have decompressed.
  const raw = body[0] === 0x1f && body[1] === 0x8b ? await unpack(link, body, bytesMax) : body
  const kind = statusCode >= 500 ? 'unreachable' : statusCode >= 300 ? 'refused' : 'garbled'
  let answer: unknown
  try {
    answer = JSON.parse(raw.toString('utf8').replace(/^\uFEFF/, ''))
  } catch {
    // Load balancers send HTML, some with status 200. That is no answer to our request.
    const encodingText = encoding === '' ? '' : `, content-encoding ${encoding.slice(0, ENCODING_MAX)}`
    throw new RpcFault(kind, `${link.host}: HTTP ${statusCode} with a body that is not JSON${encodingText}`)
  }
  const isError = statusCode < 500 ? isErrorEnvelope(answer) : hasErrorCode(answer)
  if (statusCode >= 300 && !isError) throw new RpcFault(kind, `${link.host}: HTTP ${statusCode}`)
  return answer
}

async function unpack(link: Link, body: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate(body, { maxOutputLength: bytesMax })
  } catch (error) {
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(link, bytesMax)
    throw new RpcFault('garbled', `${link.host}: answer with broken compression`)
  }
}

/** How many characters of a provider's header an error quotes. */
const ENCODING_MAX = 20

function isErrorEnvelope(body: unknown): body is { error: unknown } {
  return typeof body === 'object' && body !== null && 'error' in body && body.error != null
}

/** True for a JSON-RPC error. The error of a gateway has a different form, and means that the node behind the gateway is down. */
const hasErrorCode = (body: unknown) => isErrorEnvelope(body) && typeof Object(body.error).code === 'number'

function readError(link: Link, value: unknown): RpcError {
  const error: { code?: unknown; message?: unknown; data?: unknown } = Object(value)
  const code = error.code
  const message = error.message
  return {
    code: typeof code === 'number' && Number.isSafeInteger(code) ? code : 0,
    message: scrub(link, typeof message === 'string' ? message : typeof value === 'string' ? value : ''),
    data: error.data ?? null,
  }
}

function readReply(link: Link, body: unknown, id: number): RpcReply {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new RpcFault('garbled', `${link.host}: answer is not a JSON-RPC reply`)
  }
  const reply = body as { id?: unknown; result?: unknown; error?: unknown }
  // If the request could not be parsed, or was rejected before it was processed, the error may have a null id. A result never may.
  if (reply.error != null && (isId(reply.id, id) || reply.id == null)) {
    return { ok: false, error: readError(link, reply.error) }
  }
  if (!isId(reply.id, id)) throw new RpcFault('garbled', `${link.host}: answer to another request`)
  if (!('result' in reply)) throw new RpcFault('garbled', `${link.host}: answer without a result`)
  return { ok: true, result: reply.result }
}

/** Some nodes return the id as a string. */
const isId = (value: unknown, id: number) => value === id || value === String(id)

function readBatch(link: Link, body: unknown, ids: readonly number[]): RpcReply[] {
  if (isErrorEnvelope(body)) {
    const error = readError(link, body.error)
    const kind = isLimit(error) && !/batch/i.test(error.message) ? 'limit' : 'batch'
    throw new RpcFault(kind, `${link.host}: batch refused: ${error.message}`, error)
  }
  if (!Array.isArray(body) || body.length !== ids.length) {
    throw new RpcFault('garbled', `${link.host}: answer does not match the batch`)
  }
  const byId = new Map<unknown, unknown>()
  for (const item of body) byId.set(String((item as { id?: unknown } | null)?.id), item)
  return ids.map((id) => {
    const item = byId.get(String(id))
    if (item === undefined) throw new RpcFault('garbled', `${link.host}: batch lacks an answer`)
    return readReply(link, item, id)
  })
}
