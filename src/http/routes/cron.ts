// GET|POST /api/cron/payments and /api/cron/credit: one run of a pass, for an external scheduler. Without a configured key, the first answers 404, and
// the second 401. The key is in `x-cron-key`; the first also accepts it as a bearer token.
import type { IncomingMessage } from 'node:http'
import { toJson } from '../../lib/json.ts'
import { refuse } from '../refusals.ts'
import type { Route } from '../route.ts'
import { headerOnce, sameSecret } from '../secrets.ts'
import type { Tools } from '../tools.ts'

const RUN = { methods: ['GET', 'POST'], noHead: true, limitPerMinute: null, cache: 'no-store', cors: false } as const

/** Refuses a wrong key. The configured key is read at each call, because it may change while the service runs. */
const keyed =
  ({ deps }: Tools, keyIn: (raw: IncomingMessage) => string | null): NonNullable<Route['authorize']> =>
  ({ raw }) => {
    const { cronKey } = deps.settings
    return cronKey !== null && sameSecret(keyIn(raw) ?? '', cronKey) ? null : refuse('wrongKey')
  }

export const cronPayments = (tools: Tools): Route => ({
  ...RUN,
  path: '/api/cron/payments',
  deadlineMs: null,
  configured: () => (tools.deps.settings.cronKey === null ? refuse('unknownRoute') : null),
  authorize: keyed(tools, keyOrToken),
  handle: async () => ({ json: toJson(await tools.deps.passes.payments()) }),
})

export const cronCredit = (tools: Tools): Route => ({
  ...RUN,
  path: '/api/cron/credit',
  deadlineMs: null,
  authorize: keyed(tools, (raw) => headerOnce(raw, 'x-cron-key')),
  handle: async () => ({ json: toJson(await tools.deps.passes.credit()) }),
})

function keyOrToken(raw: IncomingMessage): string | null {
  if (raw.headers['x-cron-key'] !== undefined) return headerOnce(raw, 'x-cron-key')
  return /^Bearer ([^ ]+)$/i.exec(headerOnce(raw, 'authorization') ?? '')?.[1] ?? null
}
