// GET /api/distributions/:id/turns: a round's turns one by one, page by page, each with the terms to recompute it from.
import { readTurns } from '../../db/reads/public-api.ts'
import { parseId, parseLimit, parseOffset } from '../edge/guards.ts'
import { isRefusal, refuse } from '../refusals.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const turns = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/distributions/:id/turns',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: async ({ params, query }) => {
    const round = parseId(params.id)
    if (isRefusal(round)) return round
    const limit = parseLimit(query)
    if (isRefusal(limit)) return limit
    const offset = parseOffset(query)
    if (isRefusal(offset)) return offset
    const asked = { round, limit, offset }
    return (
      (await cached(`turns ${round} ${limit} ${offset}`, 10, () => queryReplica((sql) => readTurns(sql, asked)))) ??
      refuse('unknownRound')
    )
  },
})
