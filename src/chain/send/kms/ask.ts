// Makes one request to a key management service, or to the service that provides its credentials. The request is limited in time and size, and is
// never repeated or redirected. Errors say who refused and why, but quote nothing that we sent.
import { readAtMost } from '../../../lib/bounded.ts'
import { isTimeout } from '../../../lib/deadline.ts'
import { messageOf } from '../../../lib/errors.ts'
import { objectIn } from '../../../lib/json.ts'
import { request } from '../../../lib/undici.ts'
import { SignerFault } from '../../../ports/faults.ts'

/** A cloud service answers within a tenth of a second; one with a hardware module answers within a second. */
const TIMEOUT_MS = 10_000
/** A signature has 100 bytes, a token a few thousand. */
const ANSWER_BYTES_MAX = 64 * 1024
const REASON_CHARS_MAX = 300

export interface Asked {
  url: string
  method: 'GET' | 'POST' | 'PUT'
  headers?: Record<string, string>
  body?: string
}

/** The text of the answer. If no answer comes, or the service refuses, throws a SignerFault that names the host. */
export async function ask({ url, method, headers = {}, body }: Asked): Promise<string> {
  const { host } = new URL(url)
  let status: number
  let text: string
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const response = await request(url, { method, headers, signal, ...(body === undefined ? {} : { body }) })
    status = response.statusCode
    const bytes = await readAtMost(ANSWER_BYTES_MAX, response.body)
    if (bytes === null) throw new Error('an answer that is too long')
    text = bytes.toString('utf8')
  } catch (error) {
    throw new SignerFault(
      `${host} does not answer: ${isTimeout(error) ? 'no answer in time' : messageOf(error)}`,
      error,
    )
  }
  if (status >= 200 && status < 300) return text
  throw new SignerFault(`${host} refuses: ${reasonIn(text)} (${status})`)
}

/** The answer as a JSON object. Throws a SignerFault if it is not one. */
export async function askJson(asked: Asked): Promise<Readonly<Record<string, unknown>>> {
  const answer = objectIn(await ask(asked))
  if (answer === null) throw new SignerFault(`${new URL(asked.url).host} did not return a JSON object`)
  return answer
}

/** A text field of an answer. Throws a SignerFault if the field is missing or empty. */
export function textOf(answer: Readonly<Record<string, unknown>>, field: string, of: string): string {
  const value = answer[field]
  if (typeof value === 'string' && value !== '') return value
  throw new SignerFault(`${of} answered without ${field}`)
}

/** The first line of the reason that the answer gives. In further lines AWS quotes our request, including the token. */
function reasonIn(text: string): string {
  const answer = objectIn(text)
  const inner = (answer?.error ?? null) as { message?: unknown } | string | null
  const word = answer?.__type ?? answer?.code
  const said = answer?.message ?? answer?.Message ?? answer?.error_description
  const given = said ?? (typeof inner === 'object' ? inner?.message : inner)
  const reason = [word, given].filter((part) => typeof part === 'string').join(': ') || 'without a reason'
  return (reason.split('\n')[0] ?? '').slice(0, REASON_CHARS_MAX)
}
