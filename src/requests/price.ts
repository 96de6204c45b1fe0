// The ether price that all instances share, fetched at most once a minute, and its history, one price an hour for the owners' books. The service
// fetches one each hour even without readers. Display only: nothing that moves money depends on it.
import type { Pool, Sql } from '../db/core/sql.ts'
import { isHourPriced, storePrice, takePriceTurn } from '../db/sale/price.ts'
import type { Log } from '../lib/log.ts'

/** How often we check that this hour has its price. An upstream that is down for a while leaves no gap. */
const LOOK_MS = 5 * 60_000

/** Queries the upstream once; null if it returned nothing usable. */
export type PriceFeed = () => Promise<number | null>

/** The shared price: from the upstream if it is this caller's turn for the minute, else what another caller fetched. Null if unknown. */
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

/** Starts recording a price for each hour, if the upstream has one. */
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

/** Fetches a price if this hour has none yet. */
export async function recordHour(pool: Pool, feed: PriceFeed, log: Log): Promise<void> {
  if (!(await isHourPriced(pool))) await sharedPrice((question) => question(pool), feed, log)
}
