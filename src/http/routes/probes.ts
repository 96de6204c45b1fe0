// GET /healthz: the process answers. GET /readyz: it can do its work (database reached, migrated and written to, right chain, not about to stop).
// A slow or lagging provider does not fail readiness: the reads do without it.
import { isMigrated } from '../../db/core/migrate.ts'
import { tryWrite } from '../../db/core/passes.ts'
import { shared } from '../../lib/cache.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { refuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const CHAIN_MS_MAX = 1_000
/** Whoever asks, and however often: a try costs the database two kilobytes of its log. */
const WRITE_AGE_MS_MAX = 5_000
const PROBE = { methods: ['GET'], limitPerMinute: null, cache: 'no-store', cors: false } as const

export const healthz = (): Route => ({
  ...PROBE,
  path: '/healthz',
  deadlineMs: null,
  handle: () => ({ json: '{"status":"ok"}' }),
})

export const readyz = ({ deps, queryPrimary }: Tools): Route => {
  const tried = shared(() => queryPrimary(tryWrite), { ageMaxMs: WRITE_AGE_MS_MAX, clock: deps.monotonicClock })
  return {
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
      if (!migrated || onOurChain === false) return refuse('notReady')
      await tried()
      return { json: '{"status":"ready"}' }
    },
  }
}
