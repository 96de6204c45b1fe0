// GET /api/stats: protocol totals, from the ledger alone. The SQL: readStats in
// db/reads/public-api.ts; triggers keep the totals (migrations/0001_schema.sql).
import { readStats } from '../../db/reads/public-api.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const stats = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/stats',
  methods: ['GET'],
  limitPerMinute: 120,
  cache: 'public, max-age=0, s-maxage=10, stale-while-revalidate=30',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: () => cached('stats', 10, () => queryReplica(readStats)),
})
