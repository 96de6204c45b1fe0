// The ether price, which all instances share and fetch at most once a minute. Also its history, one price an hour, for the owners' books: the service
// fetches a price each hour even if nothing asks for one. For display only: nothing that moves money depends on it.
import type { Pool, Sql } from '../db/core/sql.ts'
import { isHourPriced, storePrice, takePriceTurn } from '../db/sale/price.ts'
import type { Log } from '../lib/log.ts'

/** Milliseconds between two checks that the current hour has a price. If the source is down only for a while, no hour stays without one. */
const LOOK_MS = 5 * 60_000

/** Makes one request for the price; null if the answer was not usable. */
export type PriceFeed = () => Promise<number | null>

/**
 * The shared price. If it is this caller's turn for the minute, it fetches the price; otherwise it takes what another caller fetched. Null if
 * unknown.
 */
export async function sharedPrice(
  ask: <T>(question: (sql: Sql) => Promise<T>) => Promise<T>,
  feed: PriceFeed,
  log: Log,
): Promise<number | null> {
  const turn = await ask(takePriceTurn)
  if (!turn.fetch) return turn.usd
  const answer = await feed().catch((error: unknown) => {
    log.warn({ err: error }, 'the price could not be fetched')
    return null
  })
  const usd = typeof answer === 'number' && Number.isFinite(answer) && answer > 0 ? answer : null
  await ask((sql) => storePrice(sql, usd))
  return usd
}

/** Starts recording a price for each hour. */
export function startPriceHistory(pool: Pool, feed: PriceFeed, log: Log): { stop(): Promise<void> } {
  let looking: Promise<unknown> = Promise.resolve()
  const look = () => {
    looking = recordHour(pool, feed, log).catch((error: unknown) =>
      log.warn({ err: error }, 'could not record this hour’s price; trying again later'),
    )
  }
  const timer = setInterval(look, LOOK_MS)
  look()
  return {
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}

/** Fetches a price if this hour has none yet. */
export async function recordHour(pool: Pool, feed: PriceFeed, log: Log): Promise<void> {
  if (!(await isHourPriced(pool))) await sharedPrice((question) => question(pool), feed, log)
}
