// GET /healthz: the process answers. GET /readyz: it can do its work (database reachable, migrated and writable, right chain, not stopping). A slow
// or lagging provider does not fail readiness, because reads do not need it.
import { isMigrated } from '../../db/core/migrate.ts'
import { tryWrite } from '../../db/core/passes.ts'
import { shared } from '../../lib/cache.ts'
import { inTimeOrNull } from '../../lib/deadline.ts'
import { refusalOfFault, refuse } from '../refusals.ts'
import { type Outcome, READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

const CHAIN_MS_MAX = 1_000
/** How long an answer is valid. However many callers ask, only one check runs at a time. A check writes two kilobytes to the database's log. */
const KEPT_MS = 3_000
/** How often one address may ask. Enough for many load balancers behind one address, each asking once a second. */
const ASKED_PER_MINUTE = 600
const PROBE = { methods: ['GET'], cache: 'no-store', cors: false } as const

export const healthz = (): Route => ({
  ...PROBE,
  path: '/healthz',
  limitPerMinute: null,
  deadlineMs: null,
  handle: () => ({ json: '{"status":"ok"}' }),
})

export const readyz = ({ deps, queryPrimary }: Tools): Route => {
  const { chainIdMatches, draining, monotonicClock: clock } = deps
  const look = async (): Promise<Outcome> => {
    const [isUpToDate, onOurChain] = await Promise.all([
      queryPrimary(isMigrated),
      inTimeOrNull(CHAIN_MS_MAX, chainIdMatches),
    ])
    if (!isUpToDate || onOurChain === false) return refuse('notReady')
    await queryPrimary(tryWrite)
    return { json: '{"status":"ready"}' }
  }
  // A fault becomes a refusal and is cached too, so that one check serves all callers even while the database is down.
  const readiness = shared(() => look().catch((fault: unknown) => refusalOfFault(fault)), { ageMaxMs: KEPT_MS, clock })
  return {
    ...PROBE,
    path: '/readyz',
    limitPerMinute: ASKED_PER_MINUTE,
    deadlineMs: READ_DEADLINE_MS,
    handle: () => (draining?.() ? refuse('notReady') : readiness()),
  }
}
