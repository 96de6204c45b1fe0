// Keeps the hours of cover and providers for the operator's trends: each instance looks at the cover now and then, and adds what it counted of
// the providers, whichever instance runs the passes. It never keeps the service from its work; an hour that was missed stays without a row.
import type { Readings } from '../chain/port.ts'
import { inTransaction, type Pool } from '../db/core/sql.ts'
import { addProviderHours, forgetHealthHours, noteCover, type ProviderHour } from '../db/health-hours.ts'
import { coverOf } from '../domain/cover.ts'
import type { Log } from '../lib/log.ts'

const HOUR_MS = 3_600_000
/** Twelve looks an hour: a shortfall of a few minutes is seen, and what a crash loses is little. */
const LOOK_MS = 5 * 60_000
/** Hours of one provider that are kept while the database is away: the oldest go first. */
const WAITING_MAX = 1_000

/** Counts requests by hour and provider until they are taken. */
export interface ProviderTally {
  count(seen: { host: string; outcome: string }): void
  /** The counts so far; from now on they are counted from nothing. */
  take(): ProviderHour[]
  /** Counts again what was taken and could not be kept. */
  giveBack(hours: readonly ProviderHour[]): void
}

/** Builds a tally. A JSON-RPC error is an answer; everything else that is not ok is a fault. */
export function createProviderTally(clock: () => number = Date.now): ProviderTally {
  const counted = new Map<string, ProviderHour>()
  const add = ({ hour, host, requests, faults }: ProviderHour) => {
    const key = `${hour.getTime()} ${host}`
    const known = counted.get(key)
    counted.set(key, {
      ...{ hour, host },
      requests: requests + (known?.requests ?? 0),
      faults: faults + (known?.faults ?? 0),
    })
    const [oldest] = counted.keys()
    if (counted.size > WAITING_MAX && oldest !== undefined) counted.delete(oldest)
  }
  return {
    count({ host, outcome }) {
      const hour = new Date(Math.floor(clock() / HOUR_MS) * HOUR_MS)
      add({ hour, host, requests: 1, faults: outcome === 'ok' || outcome === 'error' ? 0 : 1 })
    },
    take() {
      const hours = [...counted.values()]
      counted.clear()
      return hours
    },
    giveBack: (hours) => hours.forEach(add),
  }
}

interface HistoryParts {
  readonly pool: Pool
  readonly readings: Pick<Readings, 'cover'>
  readonly tally: ProviderTally
  readonly log: Log
}

/** Begins to keep them. What was counted since the last look is lost with the instance. */
export function startHealthHistory(parts: HistoryParts): { stop(): Promise<void> } {
  let looking: Promise<unknown> = Promise.resolve()
  const look = () => {
    looking = looking.then(() =>
      recordHealth(parts).catch((error: unknown) =>
        parts.log.warn({ err: error }, 'cover and providers of this hour could not be kept; it is tried again'),
      ),
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

/** Notes the cover, where the chain tells it, and adds what was counted. */
export async function recordHealth({ pool, readings, tally }: HistoryParts): Promise<void> {
  const cover = await readings.cover()
  const hours = tally.take()
  try {
    await inTransaction(pool, async (sql) => {
      if (cover) {
        const { surplusWei } = coverOf(cover.contractBalanceWei, cover.outstandingWei)
        await noteCover(sql, { surplusWei, blockNumber: cover.blockNumber })
      }
      await addProviderHours(sql, hours)
      await forgetHealthHours(sql)
    })
  } catch (error) {
    tally.giveBack(hours)
    throw error
  }
}
