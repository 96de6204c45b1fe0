// Delivers events, at least once. Each endpoint has its own queue, so a slow endpoint delays no other; any instance may take a delivery. If a crash
// interrupts a delivery, another attempt follows when its lease expires. Must never block a pass, and never log a URL. post.ts sends, mail.ts mails, and
// db/webhooks.ts (settleDelivery) stores when the next attempt is due.
import { createHmac } from 'node:crypto'
import { inTransaction, type Pool } from '../db/core/sql.ts'
import { writeAudit } from '../db/core/state.ts'
import {
  addFirstEndpoints,
  type Delivery,
  dropUnwanted,
  endpointName,
  giveBackDelivery,
  pruneEvents,
  readTargets,
  settleDelivery,
  takeDeliveries,
} from '../db/webhooks.ts'
import type { Choice } from '../domain/webhooks/choice.ts'
import { isSigned, type MailTarget, mailTargetOf } from '../domain/webhooks/receiver.ts'
import type { Log } from '../lib/log.ts'
import { bodyFor } from './chat.ts'
import { sendMail } from './mail.ts'
import { createPoster, type Poster, type PostResult } from './post.ts'

/** How many deliveries to one endpoint run in parallel. */
const AT_ONCE = 8
/** How often we poll for due deliveries; new events wake the worker earlier. */
const POLL_MS = 2_000
const PRUNE_EVERY_MS = 3_600_000
/** How many events one mail has at most, and the time between two mails. Events in between go into the next mail together. */
const MAILED_AT_ONCE = 50
const MAIL_EVERY_MS = 60_000
/** If an instance may not send to an endpoint, it leaves the endpoint's deliveries to other instances for this long. */
const FORBIDDEN_REST_MS = 60_000

/** Seconds to wait after each failed attempt: the schedule that Standard Webhooks recommends. The first attempt is immediate; there are ten over three days. */
const WAITS_SEC = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400] as const
/** The jitter, as a share of a wait. Without it, deliveries that failed together would be retried together. */
const JITTER = 0.1

export interface WebhooksOptions {
  pool: Pool
  /** True if this instance may send to private networks, and without TLS. */
  allowPrivate: boolean
  /** The origin of the pages that events link to. */
  publicUrl: string
  log: Log
  /** Called with each attempt. */
  observe?: (result: 'delivered' | 'retried' | 'failed') => void
  timeoutMs?: number
}

export interface Webhooks {
  /** Looks for due deliveries now. */
  wake(): void
  /** Takes no further deliveries, and resolves when those in flight have ended. */
  stop(): Promise<void>
}

/** Adds the endpoints of the settings to a ledger that never had any. */
export async function adoptEndpoints(
  pool: Pool,
  { urls, secrets, events }: { urls: readonly string[]; secrets: readonly string[]; events?: readonly Choice[] | null },
): Promise<void> {
  if (urls.length === 0) return
  const targets = urls.map((url, i) => ({ url, secrets, ...(events?.[i] && { events: events[i] }) }))
  await inTransaction(pool, async (sql) => {
    if (!(await addFirstEndpoints(sql, targets, 'start'))) return
    for (const url of urls)
      await writeAudit(sql, { actor: 'start', action: 'webhookAdded', subject: endpointName(url), detail: {} })
  })
}

/** Starts delivering to the ledger's endpoints, including those added later. */
export function startWebhooks(options: WebhooksOptions): Webhooks {
  const poster = createPoster(options)
  const lanes = new Map<string, Loop>()
  const stopping: Promise<void>[] = []
  const refresh = async () => {
    const targets = await readTargets(options.pool)
    for (const [endpoint, lane] of lanes) {
      if (targets.has(endpoint)) continue
      lanes.delete(endpoint)
      stopping.push(lane.stop())
    }
    // A name stands for one URL for good, and everything else is read with each delivery.
    for (const [endpoint, { url }] of targets)
      if (!lanes.has(endpoint)) lanes.set(endpoint, startLane(options, poster, { endpoint, url }))
  }
  const watch = startLoop(async () => {
    await refresh().catch((error) => options.log.debug({ err: error }, 'webhooks wait for the database'))
    return false
  })
  return {
    wake() {
      watch.wake()
      for (const lane of lanes.values()) lane.wake()
    },
    async stop() {
      await watch.stop()
      for (const lane of lanes.values()) stopping.push(lane.stop())
      await Promise.all(stopping)
      await poster.close()
    },
  }
}

interface Loop {
  wake(): void
  stop(): Promise<void>
}

/** Repeats a task: immediately if it reports more work, else on a wake-up or after a while. */
function startLoop(turn: () => Promise<boolean>): Loop {
  let isStopped = false
  let isWoken = false
  let wake = () => {}
  const pause = () =>
    new Promise<void>((resolve) => {
      // If there was a wake-up during the task, it takes effect now.
      if (isWoken || isStopped) return resolve()
      const timer = setTimeout(resolve, POLL_MS)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const loop = async () => {
    while (!isStopped) {
      isWoken = false
      if (!(await turn())) await pause()
    }
  }
  const running = loop()
  return {
    wake() {
      isWoken = true
      wake()
    },
    stop() {
      isStopped = true
      wake()
      return running
    },
  }
}

interface Endpoint {
  endpoint: string
  url: string
}

/** Delivers to one endpoint. */
function startLane(options: WebhooksOptions, poster: Poster, to: Endpoint): Loop {
  const { pool, log } = options
  let pruneAt = 0
  let restsUntil = 0
  return startLoop(async () => {
    if (performance.now() < restsUntil) return false
    try {
      const turn = await takeTurn(options, poster, to)
      if (turn.restMs > 0) restsUntil = performance.now() + turn.restMs
      else if (turn.isFull) return true
      if (performance.now() >= pruneAt) {
        const more = await pruneEvents(pool)
        pruneAt = performance.now() + (more ? 0 : PRUNE_EVERY_MS)
      }
    } catch (error) {
      log.debug({ err: error, endpoint: to.endpoint }, 'deliveries wait for the database')
    }
    return false
  })
}

/** Makes the deliveries that are due for an endpoint. @returns how long to leave the endpoint alone, and whether more deliveries may be due. */
async function takeTurn(
  options: WebhooksOptions,
  poster: Poster,
  to: Endpoint,
): Promise<{ restMs: number; isFull: boolean }> {
  const { pool } = options
  const mailTo = mailTargetOf(to.url)
  if (mailTo) await dropUnwanted(pool, to.endpoint, { chosen: null, kinds: mailTo.events })
  const places = mailTo ? MAILED_AT_ONCE : AT_ONCE
  const deliveries = await takeDeliveries(pool, to.endpoint, places)
  if (deliveries.length === 0) return { restMs: 0, isFull: false }
  const results = mailTo
    ? await mailDeliveries(options, mailTo, deliveries)
    : await Promise.all(deliveries.map((delivery) => postDelivery(options, poster, to, delivery)))
  await Promise.all(deliveries.map((delivery, i) => settle(options, to, delivery, results[i] as PostResult)))
  if (results.some(({ isForbidden }) => isForbidden)) return { restMs: FORBIDDEN_REST_MS, isFull: false }
  const isTold = mailTo !== null && results[0]?.error === null
  return { restMs: isTold ? MAIL_EVERY_MS : 0, isFull: deliveries.length === places }
}

/** Posts one event to a receiver. */
async function postDelivery(
  { publicUrl }: WebhooksOptions,
  poster: Poster,
  { url }: Endpoint,
  { eventId, body: event, secrets }: Delivery,
): Promise<PostResult> {
  const body = bodyFor(url, event, publicUrl)
  const timestamp = Math.floor(Date.now() / 1000)
  return await poster.post(url, webhookHeaders(eventId, timestamp, body, isSigned(url) ? secrets : []), body)
}

/**
 * The headers of a Standard Webhooks request (github.com/standard-webhooks), with a signature for each secret: while secrets are rotated, a receiver may
 * have either. A receiver that cannot verify signatures gets none. `timestamp` is unix seconds of this attempt; secrets are `whsec_` and base64.
 */
function webhookHeaders(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`
  })
  return {
    'content-type': 'application/json',
    'user-agent': 'node-ledger',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(secrets.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  }
}

/** Sends events as one mail. @returns the outcome, which applies to each of them. */
async function mailDeliveries(
  { allowPrivate, publicUrl, timeoutMs }: WebhooksOptions,
  target: MailTarget,
  deliveries: readonly Delivery[],
): Promise<PostResult[]> {
  const password = deliveries[0]?.secrets[0] ?? ''
  const events = deliveries.map(({ eventId, body }) => ({ id: eventId, notice: JSON.parse(body) }))
  const options = { allowPrivate, ...(timeoutMs !== undefined && { timeoutMs }) }
  const result = await sendMail({ target, password, events, publicUrl }, options)
  return deliveries.map(() => result)
}

/** Records the outcome of a delivery, or gives the delivery back if this instance's settings forbid it. */
async function settle(
  { pool, log, observe }: WebhooksOptions,
  { endpoint }: Endpoint,
  delivery: Delivery,
  { status, error, durationMs, isForbidden }: PostResult,
): Promise<void> {
  const { eventId, type, attempt } = delivery
  if (isForbidden && error !== null) {
    // If this counted as a failed attempt, it would back off for hours although another instance could send it now.
    await giveBackDelivery(pool, endpoint, delivery, error)
    log.warn(
      { eventId, type, endpoint, error },
      'this instance’s settings forbid the delivery: left to other instances',
    )
    return
  }
  // A receiver answers 410 to end its subscription.
  const isGone = status === 410
  const retrySec = retryAfterSec(attempt, Math.random())
  const givenUp = await settleDelivery(pool, endpoint, delivery, { status, error, durationMs, retrySec, gone: isGone })
  const record = { eventId, type, endpoint, attempt, status, durationMs }
  if (error === null) log.debug(record, 'event delivered')
  else log.warn({ ...record, error, retrySec: retrySec && Math.round(retrySec) }, 'event not delivered')
  if (givenUp) {
    const why = isGone ? 'it answered 410, gone' : 'it has failed for days'
    log.error(
      { endpoint },
      `the service sends nothing more to this endpoint: ${why}. It keeps the events; enable the endpoint to send them`,
    )
  }
  observe?.(error === null ? 'delivered' : retrySec === null ? 'failed' : 'retried')
}

/** Seconds from failed attempt number `attempt` (from 1) to the next; null if it was the last. `random` is 0 to 1. */
function retryAfterSec(attempt: number, random: number): number | null {
  const wait = WAITS_SEC[attempt - 1]
  return wait === undefined ? null : wait * (1 + JITTER * random)
}
