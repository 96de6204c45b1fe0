// One attempt at a delivery: a POST that follows no redirect, observes its timeout, and reads no more of the answer than it needs. It must never log
// or repeat a URL beyond its host.
import { isTimeout } from '../lib/deadline.ts'
import { codeOf, messageOf } from '../lib/errors.ts'
import { Agent, request } from '../lib/undici.ts'
import { assertNoPrivateLiteral, publicLookup, TargetError } from './target.ts'

/** The time limit, including name look-up and connection. The standard advises 15 to 30 seconds; this is the lower end. */
const TIMEOUT_MS = 15_000
const CONNECT_MS = 10_000
/** How much of an answer we read. Only its status matters, but if we read a little more, the connection can be reused. */
const ANSWER_BYTES_MAX = 16 * 1024
export const ERROR_TEXT_MAX = 300

export interface PostResult {
  /** The status of the answer; null if none came. */
  status: number | null
  /** What went wrong; null for a success (a status from 200 to 299). */
  error: string | null
  /** True if this instance's settings forbid the delivery. Another instance may be able to make it. */
  isForbidden: boolean
  durationMs: number
}

export interface Poster {
  post(url: string, headers: Record<string, string>, body: string): Promise<PostResult>
  close(): Promise<void>
}

/** Makes the result of an attempt that began then. */
export const resultSince =
  (startedAt: number) =>
  (status: number | null, error: string | null, isForbidden = false): PostResult => ({
    status,
    error,
    isForbidden,
    durationMs: Math.round(performance.now() - startedAt),
  })

/** Builds the poster. `allowPrivate` allows targets in private networks. */
export function createPoster({
  allowPrivate,
  timeoutMs = TIMEOUT_MS,
}: {
  allowPrivate: boolean
  timeoutMs?: number
}): Poster {
  const connect = { timeout: CONNECT_MS, ...(allowPrivate ? {} : { lookup: publicLookup }) }
  const agent = new Agent({ connect, connections: 8, pipelining: 1 })
  return {
    async post(url, headers, body) {
      const resultOf = resultSince(performance.now())
      try {
        if (!allowPrivate) assertSafe(new URL(url))
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await request(url, { method: 'POST', dispatcher: agent, headers, body, signal })
        // The body does not matter, so neither does a failure to read it.
        await answer.body.dump({ limit: ANSWER_BYTES_MAX, signal }).catch(() => {})
        return resultOf(answer.statusCode, errorOf(answer.statusCode))
      } catch (error) {
        return resultOf(null, textOf(error, timeoutMs), error instanceof TargetError)
      }
    },
    close: () => agent.destroy(),
  }
}

/** Throws if a URL leads to anything that only this machine can reach, or does not use TLS. */
function assertSafe(url: URL): void {
  assertNoPrivateLiteral(url.hostname)
  if (url.protocol !== 'https:') throw new TargetError(url.host, 'is not https')
}

function errorOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  if (status >= 300 && status < 400) return `answered ${status}: redirects are not followed`
  return `answered ${status}`
}

function textOf(error: unknown, timeoutMs: number): string {
  if (isTimeout(error)) return `did not answer within ${timeoutMs / 1000} s`
  return (messageOf(error) || codeOf(error) || 'no answer').slice(0, ERROR_TEXT_MAX)
}
