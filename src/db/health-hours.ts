// Facts that no chain can tell again, kept by the hour for a bounded time: the contract's cover, and how the providers answered. Display only:
// nothing that moves money rests on it. An hour that was not seen has no row.
import type { Sql } from './core/sql.ts'

/** Days for which hours are kept: the longest trend, and a few more. */
const KEPT_DAYS = 100

/** Requests to a provider in an hour, and those without an answer of use. */
export interface ProviderHour {
  hour: Date
  host: string
  requests: number
  faults: number
}

/** Notes the cover as it was read just now. Of an hour the lowest stays. */
export async function noteCover(sql: Sql, seen: { surplusWei: bigint; blockNumber: number }): Promise<void> {
  await sql`
    INSERT INTO cover_hours AS c (hour, surplus_wei, block_number)
    VALUES (date_trunc('hour', clock_timestamp(), 'UTC'), ${seen.surplusWei.toString()}, ${seen.blockNumber})
    ON CONFLICT (hour) DO UPDATE SET surplus_wei = excluded.surplus_wei, block_number = excluded.block_number
    WHERE excluded.surplus_wei < c.surplus_wei`
}

/** Adds what an instance counted since it was last added. Rows are taken in one order, so that instances never wait for each other in a circle. */
export async function addProviderHours(sql: Sql, hours: readonly ProviderHour[]): Promise<void> {
  const byKey = (a: ProviderHour, b: ProviderHour) =>
    a.hour.getTime() - b.hour.getTime() || (a.host < b.host ? -1 : Number(a.host > b.host))
  for (const { hour, host, requests, faults } of [...hours].sort(byKey))
    await sql`
      INSERT INTO provider_hours AS p (hour, host, requests, faults) VALUES (${hour}, ${host}, ${requests}, ${faults})
      ON CONFLICT (hour, host) DO UPDATE SET requests = p.requests + excluded.requests, faults = p.faults + excluded.faults`
}

/** Forgets hours that no trend shows any more. */
export async function forgetHealthHours(sql: Sql): Promise<void> {
  const before = sql`clock_timestamp() - make_interval(days => ${KEPT_DAYS}::int)`
  await sql`DELETE FROM cover_hours WHERE hour < ${before}`
  await sql`DELETE FROM provider_hours WHERE hour < ${before}`
}
