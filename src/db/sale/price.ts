// The ether price that all callers on all instances share, in one row. Only one caller a minute may ask the upstream. The price must never be made
// up, nor shown once it has expired.
import type { Sql } from '../core/sql.ts'

/** Either this caller must fetch the price, or it gets the price that another caller fetched in this minute. */
export type PriceTurn = { fetch: true } | { fetch: false; usd: number | null }

/** Takes this minute's turn to ask the upstream, if no other caller has. Otherwise returns the shared price. */
export async function takePriceTurn(sql: Sql): Promise<PriceTurn> {
  // An old price is no longer a quote, so we clear it before the new one arrives.
  const lease = await sql`
    INSERT INTO price AS p (usd, attempted_at) VALUES (NULL, clock_timestamp())
    ON CONFLICT (single) DO UPDATE SET attempted_at = excluded.attempted_at,
      usd = CASE WHEN p.attempted_at > excluded.attempted_at - interval '2 minutes' THEN p.usd END
    WHERE p.attempted_at <= excluded.attempted_at - interval '1 minute' OR p.attempted_at > excluded.attempted_at + interval '1 minute'
    RETURNING 1`
  if (lease.count > 0) return { fetch: true }
  const [row] = await sql<{ usd: number | null }[]>`SELECT usd FROM price`
  return { fetch: false, usd: row?.usd ?? null }
}

/** Stores the upstream's price; null if it returned nothing usable. An hour's first price becomes that hour's price in the history. */
export async function storePrice(sql: Sql, usd: number | null): Promise<void> {
  await sql`
    WITH kept AS (
      INSERT INTO price_history (hour, usd, quoted_at)
      SELECT date_trunc('hour', clock_timestamp(), 'UTC'), ${usd}::float8, clock_timestamp() WHERE ${usd}::float8 IS NOT NULL
      ON CONFLICT (hour) DO NOTHING
    ) UPDATE price SET usd = ${usd}::float8`
}

/** True if the current hour has its price in the history. */
export async function isHourPriced(sql: Sql): Promise<boolean> {
  const rows = await sql`SELECT FROM price_history WHERE hour = date_trunc('hour', clock_timestamp(), 'UTC')`
  return rows.length > 0
}
