// GET /api/tiers: every tier as it is now, those off sale too.
import { readTiers } from '../../db/reads/public-api.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

export const tiers = ({ queryReplica, cached }: Tools): Route => ({
  path: '/api/tiers',
  methods: ['GET'],
  limitPerMinute: 60,
  cache: 'public, max-age=0, s-maxage=30, stale-while-revalidate=90',
  cors: true,
  deadlineMs: READ_DEADLINE_MS,
  handle: () => cached('tiers', 30, () => queryReplica(readTiers)),
})
