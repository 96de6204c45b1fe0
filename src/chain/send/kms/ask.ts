// One request to a key management service, or to what hands out the keys to it: bounded in time and size, never repeated, never redirected.
// Errors say who refused and why, and nothing of what was sent.
import { type Dispatcher, request } from 'undici'
import { isTimeout } from '../../../lib/deadline.ts'
import { messageOf } from '../../../lib/errors.ts'
import { SignerFault } from '../../faults.ts'

/** A service in the cloud answers in a tenth of a second, one with a hardware module within one. */
const TIMEOUT_MS = 10_000
/** A signature is 100 bytes, a token some thousand. */
const ANSWER_BYTES_MAX = 64 * 1024
const REASON_CHARS_MAX = 300

export interface Asked {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  body?: string
}

/** The answer's text. Throws a SignerFault that names the host, where there is none or it is a refusal. */
export async function ask({ url, method, headers = {}, body }: Asked): Promise<string> {
  const { host } = new URL(url)
  let status: number
  let text: string
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
    status = response.statusCode
    text = await readText(response)
  } catch (error) {
    throw new SignerFault(
      `${host} does not answer: ${isTimeout(error) ? 'no answer in time' : messageOf(error)}`,
      error,
    )
  }
  if (status >= 200 && status < 300) return text
  throw new SignerFault(`${host} refuses: ${reasonIn(text)} (${status})`)
}

/** The answer as a JSON object. */
export async function askJson(asked: Asked): Promise<Readonly<Record<string, unknown>>> {
  const answer = objectIn(await ask(asked))
  if (answer === null) throw new SignerFault(`${new URL(asked.url).host} answered no JSON object`)
  return answer
}

/** A text of an answer. */
export function textOf(answer: Readonly<Record<string, unknown>>, field: string, of: string): string {
  const value = answer[field]
  if (typeof value === 'string' && value !== '') return value
  throw new SignerFault(`${of} answered without ${field}`)
}

async function readText({ body }: Dispatcher.ResponseData): Promise<string> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of body) {
    size += (part as Buffer).length
    if (size > ANSWER_BYTES_MAX) throw new Error('an answer that is too long')
    parts.push(part as Buffer)
  }
  return Buffer.concat(parts, size).toString('utf8')
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

/** First line of the reason that was given: AWS repeats the request, and with it the token, in the lines after it. */
function reasonIn(text: string): string {
  const answer = objectIn(text)
  const inner = (answer?.error ?? null) as { message?: unknown } | string | null
  const word = answer?.__type ?? answer?.code
  const said = answer?.message ?? answer?.Message ?? answer?.error_description
  const given = said ?? (typeof inner === 'object' ? inner?.message : inner)
  const reason = [word, given].filter((part) => typeof part === 'string').join(': ') || 'without a reason'
  return (reason.split('\n')[0] ?? '').slice(0, REASON_CHARS_MAX)
}
