// GET /api/price: the market rate of ether for display. All callers on all instances together ask the upstream at most once a minute, including
// failures. Null if there is no quote, never a made-up one.
import { shared } from '../../lib/cache.ts'
import { sharedPrice } from '../../requests/price.ts'
import { cachedResponseOf } from '../edge/memo.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** How often this instance asks the shared row at most. A cache may keep the price that long anyway. */
const KEPT_MS = 5_000

export const price = ({ queryPrimary, deps }: Tools): Route => {
  const { priceFeed, log } = deps
  const kept = shared(async () => (priceFeed === null ? null : sharedPrice(queryPrimary, priceFeed, log)), {
    ageMaxMs: KEPT_MS,
    clock: deps.monotonicClock,
  })
  return {
    path: '/api/price',
    methods: ['GET'],
    limitPerMinute: null,
    cache: 'public, max-age=60',
    cors: true,
    deadlineMs: READ_DEADLINE_MS,
    handle: async () => cachedResponseOf(JSON.stringify({ usd: await kept() })),
  }
}
