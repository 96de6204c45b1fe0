// GET|POST /api/cron/credit: one run of the credit pass. Fails closed: it returns 401 even if no key is configured. It accepts the key in
// `x-cron-key` only.
import { toJson } from '../../lib/json.ts'
import { refuse } from '../refusals.ts'
import type { Route } from '../route.ts'
import { headerOnce, sameSecret } from '../secrets.ts'
import type { Tools } from '../tools.ts'

export const cronCredit = ({ deps }: Tools): Route => {
  return {
    path: '/api/cron/credit',
    methods: ['GET', 'POST'],
    noHead: true,
    limitPerMinute: null,
    cache: 'no-store',
    cors: false,
    deadlineMs: null,
    authorize: ({ raw }) => {
      // Read at each call, because the key may change while the service runs.
      const { cronKey } = deps.settings
      const callerKey = headerOnce(raw, 'x-cron-key') ?? ''
      return cronKey !== null && sameSecret(callerKey, cronKey) ? null : refuse('wrongKey')
    },
    handle: async () => ({ json: toJson(await deps.passes.credit()) }),
  }
}
