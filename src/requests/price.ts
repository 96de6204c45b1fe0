// The ether price that all instances share, fetched at most once a minute, and its history, a price an hour for the owners' books:
// kept up by asking once an hour even without readers. Display only: nothing that moves money rests on it.
import type { Pool, Sql } from '../db/core/sql.ts'
import { isHourPriced, storePrice, takePriceTurn } from '../db/sale/price.ts'
import type { Log } from '../lib/log.ts'

/** Interval of the check that this hour has its price; an upstream that is down for a while costs no hour. */
const LOOK_MS = 5 * 60_000

/** Asks the upstream once; null when it said nothing usable. */
export type PriceFeed = () => Promise<number | null>

/** The shared price: from the upstream where this minute's turn is to be had, else what somebody got. Null: not known. */
export async function sharedPrice(
  ask: <T>(question: (sql: Sql) => Promise<T>) => Promise<T>,
  feed: PriceFeed,
  log: Log,
): Promise<number | null> {
  const turn = await ask(takePriceTurn)
  if (!turn.fetch) return turn.usd
  const fetched = await feed().catch((error: unknown) => {
    log.warn({ err: error }, 'the price could not be fetched')
    return null
  })
  const usd = typeof fetched === 'number' && Number.isFinite(fetched) && fetched > 0 ? fetched : null
  await ask((sql) => storePrice(sql, usd))
  return usd
}

/** Begins to see to it that each hour has its price, if it can be had. */
export function startPriceHistory(pool: Pool, feed: PriceFeed, log: Log): { stop(): Promise<void> } {
  let looking: Promise<unknown> = Promise.resolve()
  const look = () => {
    looking = recordHour(pool, feed, log).catch((error: unknown) =>
      log.warn({ err: error }, 'the price of this hour could not be kept; it is tried again'),
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

/** Fetches a price where this hour has none yet. */
export async function recordHour(pool: Pool, feed: PriceFeed, log: Log): Promise<void> {
  if (!(await isHourPriced(pool))) await sharedPrice((question) => question(pool), feed, log)
}
