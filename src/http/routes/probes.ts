// GET /healthz: the process answers. GET /readyz: it can do its work (database reached and migrated, right chain, not about to stop). A slow
// or lagging provider does not fail readiness: the reads do without it.
import { isMigrated } from '../../db/core/migrate.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { refuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const CHAIN_MS_MAX = 1_000
const PROBE = { methods: ['GET'], limitPerMinute: null, cache: 'no-store', cors: false } as const

export const healthz = (): Route => ({
  ...PROBE,
  path: '/healthz',
  deadlineMs: null,
  handle: () => ({ json: '{"status":"ok"}' }),
})

export const readyz = ({ deps, queryPrimary }: Tools): Route => ({
  ...PROBE,
  path: '/readyz',
  deadlineMs: READ_DEADLINE_MS,
  handle: async () => {
    const { chainIdMatches, draining } = deps
    if (draining?.()) return refuse('notReady')
    const [migrated, onOurChain] = await Promise.all([
      queryPrimary(isMigrated),
      chainIdMatches === null ? null : inTimeOrNull(CHAIN_MS_MAX, chainIdMatches),
    ])
    return migrated && onOurChain !== false ? { json: '{"status":"ready"}' } : refuse('notReady')
  },
})
