// GET /api/price: the market rate of ether for display. Asked upstream at most once a minute for all callers on all
// instances, failures included; null when there is no quote, never a made-up one.
import { sharedPrice } from '../../passes/price.ts'
import { pageOf } from '../memo.ts'
import { READ_DEADLINE_MS, type Route } from '../route.ts'
import type { Tools } from '../tools.ts'

/** This instance asks the shared row this often at most: the price is no older for it than a cache may keep it anyway. */
const KEPT_MS = 5_000

export const price = ({ ask, deps }: Tools): Route => {
  const { priceFeed, log } = deps
  let at = Number.NEGATIVE_INFINITY
  let last: Promise<number | null> = Promise.resolve(null)
  const shared = () => {
    const age = deps.steady() - at
    if (age < 0 || age >= KEPT_MS) {
      at = deps.steady()
      last = priceFeed === null ? Promise.resolve(null) : sharedPrice(ask, priceFeed, log)
      // What could not be asked is asked again by the next caller.
      last.catch(() => {
        at = Number.NEGATIVE_INFINITY
      })
    }
    return last
  }
  return {
    path: '/api/price',
    methods: ['GET'],
    limitPerMinute: null,
    cache: 'public, max-age=60',
    cors: true,
    deadlineMs: READ_DEADLINE_MS,
    handle: async () => pageOf(JSON.stringify({ usd: await shared() })),
  }
}
