// undici's client: connection pools, and requests through them. The package's main entry also loads fetch, WebSocket, caches and mocks: 7 MB of
// memory that we do not need. So we load only these files. A test checks that no others are loaded.
import { createRequire } from 'node:module'
import type { Dispatcher } from 'undici'

type Undici = typeof import('undici')

const load = createRequire(import.meta.url)
export const Pool: Undici['Pool'] = load('undici/lib/dispatcher/pool.js')
export const Agent: Undici['Agent'] = load('undici/lib/dispatcher/agent.js')
const send: (options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData> = load(
  'undici/lib/api/api-request.js',
)

/** The agent for requests that do not name a dispatcher. */
const sharedAgent = new Agent()

type RequestOptions = Omit<Dispatcher.RequestOptions, 'origin' | 'path' | 'headers'> & {
  dispatcher?: Dispatcher
  headers?: Readonly<Record<string, string>>
}

/**
 * Makes a request, with the URL's user and password as basic auth. It follows no redirect. Rejects if no answer comes, or if the signal aborts it.
 */
export function request(
  url: string,
  { dispatcher = sharedAgent, ...options }: RequestOptions,
): Promise<Dispatcher.ResponseData> {
  const { origin, pathname, search, username, password } = new URL(url)
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  const headers = { ...options.headers, ...(username || password ? { authorization: `Basic ${credentials}` } : {}) }
  return send.call(dispatcher, { ...options, headers, origin, path: pathname + search })
}
