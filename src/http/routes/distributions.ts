// GET /api/distributions: the newest rounds, each with the turns it paid and the terms to recompute them from.
import { readDistributions } from '../../db/reads/public-api.ts'
import { parseLimit } from '../edge/guards.ts'
import { isRefusal } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const distributions = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/distributions',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: ({ query }) => {
    const limit = parseLimit(query)
    if (isRefusal(limit)) return limit
    return cached(`distributions ${limit}`, 10, () => queryReplica((sql) => readDistributions(sql, limit)))
  },
})
