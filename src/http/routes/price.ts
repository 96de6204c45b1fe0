// GET /api/price: the market price of ether, for display. We ask the upstream at most once a minute for all callers on all instances, failures
// included. Null if there is no quote; never made up.
import { shared } from '../../lib/cache.ts'
import { sharedPrice } from '../../price/price.ts'
import { cachedResponseOf } from '../edge/memo.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** How long this instance keeps the shared row before it reads it again. HTTP caches may keep the price that long anyway. */
const KEPT_MS = 5_000

export const price = ({ queryPrimary, deps }: Tools): Route => {
  const { priceFeed, log } = deps
  const latestPrice = shared(async () => (priceFeed === null ? null : sharedPrice(queryPrimary, priceFeed, log)), {
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
    handle: async () => cachedResponseOf({ usd: await latestPrice() }),
  }
}
