// Delivers events: each endpoint by itself, so that a slow one keeps none of the others waiting, at least once, by whichever
// instance takes them first. A delivery that a crash cut short is made again once its lease is over. It must never be in the
// way of a pass, and never log a URL.
import { createHash } from 'node:crypto'
import type { Pool } from '../db/sql.ts'
import { type Delivery, pruneEvents, registerEndpoints, settleDelivery, takeDeliveries } from '../db/webhooks.ts'
import type { Log } from '../lib/log.ts'
import { createPoster, type Poster } from './post.ts'
import { retryAfterSec } from './schedule.ts'
import { webhookHeaders } from './sign.ts'

/** Deliveries of one endpoint at a time. */
const AT_ONCE = 8
/** How often is looked for what is due where nothing wakes us; facts do. */
const POLL_MS = 2_000
const PRUNE_EVERY_MS = 3_600_000

export interface WebhooksOptions {
  pool: Pool
  urls: readonly string[]
  secrets: readonly string[]
  allowPrivate: boolean
  log: Log
  /** Told of each attempt. */
  observe?: (result: 'delivered' | 'retried' | 'failed') => void
  timeoutMs?: number
}

export interface Webhooks {
  /** Something happened: look now. */
  wake(): void
  /** Takes no further deliveries, and resolves when those under way have ended. */
  stop(): Promise<void>
}

/** What an endpoint is called where its URL must not be shown: its host, and enough to tell two on one host apart. */
export function endpointName(url: string): string {
  return `${new URL(url).host}#${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

/** Says who is told from now on (nobody, without URLs), and starts delivering. */
export async function startWebhooks(options: WebhooksOptions): Promise<Webhooks> {
  await registerEndpoints(options.pool, options.urls.map(endpointName))
  const poster = createPoster(options)
  const lanes = options.urls.map((url) => startLane(options, poster, url))
  return {
    wake() {
      for (const lane of lanes) lane.wake()
    },
    async stop() {
      await Promise.all(lanes.map((lane) => lane.stop()))
      await poster.close()
    },
  }
}

function startLane(options: WebhooksOptions, poster: Poster, url: string): Webhooks {
  const endpoint = endpointName(url)
  const { pool, log } = options
  let stopped = false
  let woken = false
  let wake = () => {}
  const pause = () =>
    new Promise<void>((resolve) => {
      // What happened while we were at it is looked at now.
      if (woken || stopped) return resolve()
      const timer = setTimeout(resolve, POLL_MS)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  let pruneAt = 0
  const loop = async () => {
    while (!stopped) {
      woken = false
      try {
        const taken = await takeDeliveries(pool, endpoint, AT_ONCE)
        await Promise.all(taken.map((delivery) => deliver(options, poster, { url, endpoint }, delivery)))
        if (taken.length === AT_ONCE) continue
        if (performance.now() >= pruneAt) {
          await pruneEvents(pool)
          pruneAt = performance.now() + PRUNE_EVERY_MS
        }
      } catch (error) {
        log.debug({ err: error, endpoint }, 'deliveries wait for the database')
      }
      await pause()
    }
  }
  const ended = loop()
  return {
    wake() {
      woken = true
      wake()
    },
    stop() {
      stopped = true
      wake()
      return ended
    },
  }
}

async function deliver(
  { pool, secrets, log, observe }: WebhooksOptions,
  poster: Poster,
  { url, endpoint }: { url: string; endpoint: string },
  delivery: Delivery,
): Promise<void> {
  const { eventId, body, type, attempt } = delivery
  const headers = webhookHeaders({ id: eventId, body }, Math.floor(Date.now() / 1000), secrets)
  const { status, error, durationMs } = await poster.post(url, headers, body)
  // 410 is how a receiver says that it wants no more.
  const gone = status === 410
  const retrySec = retryAfterSec(attempt, Math.random())
  const givenUp = await settleDelivery(pool, endpoint, delivery, { status, error, durationMs, retrySec, gone })
  const seen = { eventId, type, endpoint, attempt, status, durationMs }
  if (error === null) log.debug(seen, 'event delivered')
  else log.warn({ ...seen, error, retrySec: retrySec && Math.round(retrySec) }, 'event not delivered')
  if (givenUp) {
    const why = gone ? 'it answered 410, gone' : 'it has failed for days'
    log.error(
      { endpoint },
      `nothing is sent to this endpoint any more: ${why}. Events are kept; enable it to have them sent`,
    )
  }
  observe?.(error === null ? 'delivered' : retrySec === null ? 'failed' : 'retried')
}
