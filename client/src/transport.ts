// One HTTP request with its timeout, retries and cookies. Knows no route.
import { errorOfAnswer, errorWithoutAnswer, LedgerError } from './errors.ts'
import { revive } from './revive.ts'

export interface RetryOptions {
  /** How many attempts a request has at most, including the first; 1 means no retry. Default 4. */
  attempts?: number
  /** Wait before the second attempt, doubled each time, in milliseconds. Default 300. */
  baseMs?: number
  /**
   * Longest wait, in milliseconds. If the service asks for a longer wait, the error is thrown. Default 65,000, because the rate limit's window is a
   * minute.
   */
  maxMs?: number
  /** Wait before retrying a 409, or an unconfirmed mint's 404, so that the chain can settle; doubled each time, in milliseconds. Default 1,500. */
  settleMs?: number
}

export interface TransportOptions {
  baseUrl: string | URL
  fetch?: typeof globalThis.fetch
  /** Timeout of one attempt, in milliseconds. Default 15,000. */
  timeoutMs?: number
  retry?: RetryOptions
}

export interface Sent {
  method: 'GET' | 'POST'
  path: string
  query?: Record<string, string | number | undefined>
  body?: object
  signal?: AbortSignal
  /** How many attempts at most. Default: the client's own setting. */
  attempts?: number
  /** False if a request must not be retried after its answer was lost, because a nonce is good for only one attempt. */
  repeatable?: boolean
  /** True if no cache on the way may answer. */
  fresh?: boolean | undefined
  /** True if a 404 means that the object is not on the chain yet. We then retry it like a 409. */
  notYet?: boolean
}

export type Request = (sent: Sent) => Promise<unknown>

export interface Opened extends Pick<Sent, 'path' | 'query' | 'signal'> {
  /** The id of the last event of an earlier stream. */
  lastEventId?: string | undefined
}

export interface Transport {
  request: Request
  /** Opens a stream of events. Not retried, because the caller can poll in the meantime. */
  open(opened: Opened): Promise<ReadableStream<Uint8Array>>
}

/** Builds the transport of one service. */
export function createTransport(options: TransportOptions): Transport {
  const base = baseOf(options.baseUrl)
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis)
  const timeoutMs = options.timeoutMs ?? 15_000
  const retry = { attempts: 4, baseMs: 300, maxMs: 65_000, settleMs: 1_500, ...options.retry }
  const cookies = new Cookies()

  async function attempt({ method, path, query, body, signal, fresh, notYet }: Sent): Promise<unknown> {
    const url = urlOf(base, path, query)
    const limit = AbortSignal.timeout(timeoutMs)
    let response: Response
    let text: string
    try {
      response = await fetch(url, {
        method,
        headers: {
          accept: 'application/json',
          ...cookies.header(),
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body: JSON.stringify(body) }),
        ...(fresh && { cache: 'no-store' as const }),
        signal: signal ? AbortSignal.any([signal, limit]) : limit,
      })
      text = await response.text()
    } catch (cause) {
      // If the caller cancels, they expect the reason that they gave, not ours.
      signal?.throwIfAborted()
      const why = limit.aborted ? `No answer within ${timeoutMs} ms` : 'The service could not be reached'
      throw errorWithoutAnswer(`${why}: ${method} ${url.origin}${url.pathname}`, cause)
    }
    cookies.keep(response.headers)
    const json = parse(text)
    if (!response.ok) throw errorOfAnswer(response.status, json, secondsToWait(response.headers), notYet)
    if (json === undefined) throw errorWithoutAnswer(`${url.origin} is not a Node Ledger: its answer was not JSON.`)
    return revive(json)
  }

  async function request(call: Sent): Promise<unknown> {
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(call)
      } catch (error) {
        const waitMs = waitBefore(tries, error as LedgerError, call, retry)
        if (waitMs === null) throw error
        await sleep(waitMs, call.signal)
      }
    }
  }

  return { request, open: openerOf(base, fetch, timeoutMs) }
}

function openerOf(base: string, fetch: typeof globalThis.fetch, timeoutMs: number): Transport['open'] {
  return async ({ path, query, signal, lastEventId }) => {
    const limit = new AbortController()
    const late = setTimeout(() => limit.abort(), timeoutMs)
    const headers = { accept: 'text/event-stream', ...(lastEventId !== undefined && { 'last-event-id': lastEventId }) }
    const signals = signal ? AbortSignal.any([signal, limit.signal]) : limit.signal
    try {
      const response = await fetch(urlOf(base, path, query), { headers, cache: 'no-store', signal: signals })
      if (response.ok && response.body) return response.body
      throw errorOfAnswer(response.status, parse(await response.text()), secondsToWait(response.headers))
    } catch (cause) {
      signal?.throwIfAborted()
      if (cause instanceof LedgerError) throw cause
      throw errorWithoutAnswer(`Could not open a stream: ${base}${path}`, cause)
    } finally {
      clearTimeout(late)
    }
  }
}

function urlOf(base: string, path: string, query: Sent['query']): URL {
  const url = new URL(base + path)
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined) url.searchParams.set(name, String(value))
  return url
}

/** How long to wait before attempt `tried + 1`, in milliseconds; null means give up. */
function waitBefore(tries: number, error: LedgerError, call: Sent, retry: Required<RetryOptions>): number | null {
  if (!error.retryable || tries >= (call.attempts ?? retry.attempts)) return null
  // The service rejects with 429 before it processes anything. After any other error it may have used up the nonce.
  if (call.repeatable === false && error.status !== 429) return null
  const first = error.status === 409 || error.status === 404 ? retry.settleMs : retry.baseMs
  const backoffMs = Math.min(first * 2 ** (tries - 1), retry.maxMs)
  // Half of the back-off is jitter, so that many clients do not return together.
  const drawnMs = backoffMs / 2 + (Math.random() * backoffMs) / 2
  const askedMs = (error.retryAfter ?? 0) * 1000
  return askedMs > retry.maxMs ? null : Math.max(drawnMs, askedMs)
}

/** Waits; rejects with the signal's reason as soon as it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}

function baseOf(baseUrl: string | URL): string {
  let url: URL
  try {
    url = new URL(baseUrl)
  } catch {
    throw new TypeError(
      `baseUrl must be an absolute URL such as https://ledger.example, not ${JSON.stringify(baseUrl)}.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function secondsToWait(headers: Headers): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** Keeps the session outside browsers. A browser handles cookies itself: it hides `Set-Cookie` and ignores `Cookie`. */
class Cookies {
  readonly #kept = new Map<string, string>()

  keep(headers: Headers): void {
    for (const line of headers.getSetCookie?.() ?? []) {
      const [pair = '', ...attributes] = line.split(';')
      const at = pair.indexOf('=')
      const name = pair.slice(0, at).trim()
      const value = pair.slice(at + 1).trim()
      const isGone = value === '' || attributes.some((attribute) => /^\s*max-age=0$/i.test(attribute))
      if (isGone) this.#kept.delete(name)
      else this.#kept.set(name, value)
    }
  }

  header(): { cookie?: string } {
    if (this.#kept.size === 0) return {}
    return { cookie: [...this.#kept].map(([name, value]) => `${name}=${value}`).join('; ') }
  }
}
