// GET|POST /api/cron/payments: one run of the payments pass, for an external scheduler. 404 if no key is configured. It accepts the key in
// `x-cron-key` or as a bearer token.
import type { IncomingMessage } from 'node:http'
import { toJson } from '../../lib/json.ts'
import { refuse } from '../refusals.ts'
import type { Route } from '../route.ts'
import { headerOnce, sameSecret } from '../secrets.ts'
import type { Tools } from '../tools.ts'

export const cronPayments = ({ deps }: Tools): Route => {
  // Read at each call, because the key may change while the service runs.
  const cronKey = () => deps.settings.cronKey
  return {
    path: '/api/cron/payments',
    methods: ['GET', 'POST'],
    noHead: true,
    limitPerMinute: null,
    cache: 'no-store',
    cors: false,
    deadlineMs: null,
    configured: () => (cronKey() === null ? refuse('unknownRoute') : null),
    authorize: ({ raw }) => (sameSecret(givenKey(raw) ?? '', cronKey() ?? '') ? null : refuse('wrongKey')),
    handle: async () => ({ json: toJson(await deps.passes.payments()) }),
  }
}

function givenKey(raw: IncomingMessage): string | null {
  if (raw.headers['x-cron-key'] !== undefined) return headerOnce(raw, 'x-cron-key')
  return /^Bearer ([^ ]+)$/i.exec(headerOnce(raw, 'authorization') ?? '')?.[1] ?? null
}
