// The webhook deliveries. Triggers write them together with the facts (see the schema). The functions here let workers lease them and record their
// outcome. Waits and leases use the database's clock.
import { createHash } from 'node:crypto'
import { ALL, type Choice, choiceText } from '../domain/webhooks/choice.ts'
import { eventsInUrl, mailTargetOf, receiverOf } from '../domain/webhooks/receiver.ts'
import { inTransaction, type Pool, type Sql } from './core/sql.ts'

/** The lease of a delivery, longer than an attempt can last. If it runs out before the delivery is settled, another attempt takes the delivery. */
const LEASE_SEC = 60
/** The wait before a delivery that was given back is due again. */
const GIVEN_BACK_SEC = 3
/** If an endpoint fails for this long, without a success in between, we give up on it. */
const PATIENCE_DAYS = 5
/** How long we keep events, delivered or not. */
const KEPT_DAYS = 30
const PRUNED_AT_ONCE = 5_000

export interface Delivery {
  id: number
  eventId: string
  type: string
  /** The bytes to sign and send. */
  body: string
  /** The number of this attempt, from 1. */
  attempt: number
  /** The endpoint's secrets when we leased the delivery. */
  secrets: readonly string[]
}

/** The outcome of an attempt. `retrySec` is null for the last one. `gone`: the endpoint asked us to stop (410). */
export interface AttemptResult {
  status: number | null
  error: string | null
  durationMs: number
  retrySec: number | null
  gone: boolean
}

export interface EndpointTarget {
  url: string
  /** `whsec_…`, the newest first; for a mail server its password, for a chat nothing. */
  secrets: readonly string[]
  /** The kinds of events that it gets. Null if none were chosen: then all kinds, or the kinds in a mail server's URL. */
  events: Choice | null
}

/** An endpoint to add. If `events` is left out, the earlier choice stays. */
export type GivenEndpoint = Omit<EndpointTarget, 'events'> & { events?: Choice }

/** An endpoint's name to show instead of its URL, which is secret: the host, and enough to tell two endpoints on one host apart. */
export function endpointName(name: string): string {
  const { url } = receiverOf(name, [])
  return `${new URL(url).host}#${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

/** Adds an endpoint, or activates it again; from now on it has these secrets. @returns false if it was already active. */
export async function addEndpoint(sql: Sql, endpoint: GivenEndpoint, by: string): Promise<boolean> {
  const { url, secrets } = receiverOf(endpoint.url, endpoint.secrets)
  // Events named in a mail server's URL take precedence.
  const events = eventsInUrl(url) === null ? endpoint.events : null
  const [row] = await sql<{ was: boolean | null }[]>`
    WITH before AS (SELECT active FROM webhook_endpoints WHERE endpoint = ${endpointName(url)})
    INSERT INTO webhook_endpoints (endpoint, url, secrets, added_by)
    VALUES (${endpointName(url)}, ${url}, ${[...secrets]}::text[], ${by})
    ON CONFLICT (endpoint) DO UPDATE SET active = true, secrets = excluded.secrets
    RETURNING (SELECT active FROM before) AS was`
  if (events !== undefined) await chooseEvents(sql, endpointName(url), events)
  return row?.was !== true
}

/**
 * Chooses the kinds of events that an endpoint gets from now on. Pending events of other kinds are no longer sent: we delete those never tried, and
 * mark the others as failed, so their attempts stay visible. @returns the earlier kinds, as text; null if there is no such endpoint. Run in a
 * transaction.
 */
export async function chooseEvents(sql: Sql, endpoint: string, choice: Choice | null): Promise<string | null> {
  const kinds = choice && [...choice]
  const [former] = await sql<Pick<EndpointTarget, 'url' | 'events'>[]>`
    UPDATE webhook_endpoints w SET events = ${kinds}::text[] FROM webhook_endpoints before
    WHERE w.endpoint = ${endpoint} AND before.endpoint = w.endpoint RETURNING w.url, to_jsonb(before.events) AS events`
  if (!former) return null
  if (kinds !== null && !kinds.includes(ALL)) {
    await dropUnwanted(sql, endpoint, { chosen: kinds, kinds: kinds })
    // An attempt in flight may still succeed; then it counts as delivered.
    await sql`
      UPDATE webhook_deliveries d SET state = 'failed', settled_at = now() FROM webhook_events e
      WHERE e.seq = d.seq AND d.endpoint = ${endpoint} AND d.state = 'pending' AND e.type <> ALL (${kinds}::text[])`
  }
  return toldTo(former)
}

/** Adds endpoints to a ledger that never had any. Run in a transaction. @returns true if it had none. */
export async function addFirstEndpoints(sql: Sql, targets: readonly GivenEndpoint[], by: string): Promise<boolean> {
  await sql`LOCK TABLE webhook_endpoints IN SHARE ROW EXCLUSIVE MODE`
  if ((await sql`SELECT FROM webhook_endpoints LIMIT 1`).count > 0) return false
  for (const target of targets) await addEndpoint(sql, target, by)
  return true
}

/** Deactivates an endpoint. Its pending deliveries wait until it is added again. @returns false if it was not active. */
export async function removeEndpoint(sql: Sql, endpoint: string): Promise<boolean> {
  const result = await sql`UPDATE webhook_endpoints SET active = false WHERE endpoint = ${endpoint} AND active`
  return result.count > 0
}

/** The active endpoints, by name. */
export async function readTargets(sql: Sql): Promise<Map<string, EndpointTarget>> {
  const rows = await sql<(EndpointTarget & { endpoint: string })[]>`
    SELECT endpoint, url, to_jsonb(secrets) AS secrets, to_jsonb(events) AS events FROM webhook_endpoints WHERE active ORDER BY endpoint`
  return new Map(rows.map(({ endpoint, ...target }) => [endpoint, target]))
}

/** While `chosen` is the choice for an endpoint, deletes its untried deliveries, except those of these kinds. */
export async function dropUnwanted(
  sql: Sql,
  endpoint: string,
  { chosen, kinds }: { chosen: readonly string[] | null; kinds: readonly string[] },
): Promise<void> {
  await sql`
    DELETE FROM webhook_deliveries d USING webhook_events e, webhook_endpoints w
    WHERE w.endpoint = ${endpoint} AND w.events IS NOT DISTINCT FROM ${chosen && [...chosen]}::text[]
      AND e.seq = d.seq AND d.endpoint = ${endpoint} AND d.state = 'pending' AND d.attempts = 0 AND e.type <> ALL (${[...kinds]}::text[])
      AND NOT EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = d.id)`
}

/**
 * Leases due deliveries, oldest first, so no other instance takes them. Takes none for an endpoint that was removed or that we gave up on. Each lease
 * carries the endpoint's secrets, so every delivery leased after a change of secrets is signed with the new ones.
 */
export async function takeDeliveries(sql: Sql, endpoint: string, limit: number): Promise<Delivery[]> {
  const deliveries = await sql<Delivery[]>`
    WITH due AS (
      SELECT id FROM webhook_deliveries
      WHERE endpoint = ${endpoint} AND state = 'pending' AND due_at <= now()
        AND EXISTS (SELECT FROM webhook_endpoints WHERE endpoint = ${endpoint} AND active AND disabled_at IS NULL)
      ORDER BY due_at, id LIMIT ${limit} FOR UPDATE SKIP LOCKED
    )
    UPDATE webhook_deliveries d SET attempts = attempts + 1, due_at = now() + make_interval(secs => ${LEASE_SEC})
    FROM due, webhook_events e, webhook_endpoints w
    WHERE d.id = due.id AND e.seq = d.seq AND w.endpoint = ${endpoint}
    RETURNING d.id, d.attempts AS attempt, e.id AS "eventId", e.type, e.body, to_jsonb(w.secrets) AS secrets`
  return deliveries.sort((a, b) => a.id - b.id)
}

/** Records the outcome of an attempt. @returns true if we therefore gave up on the endpoint. */
export async function settleDelivery(
  pool: Pool,
  endpoint: string,
  { id, attempt }: Pick<Delivery, 'id' | 'attempt'>,
  { status, error, durationMs, retrySec, gone }: AttemptResult,
): Promise<boolean> {
  return await inTransaction(pool, async (sql) => {
    await sql`
      INSERT INTO webhook_attempts (delivery_id, status, error, duration_ms)
      SELECT id, ${status}, ${error}, ${durationMs} FROM webhook_deliveries WHERE id = ${id}`
    if (error === null) {
      await sql`UPDATE webhook_deliveries SET state = 'delivered', settled_at = now() WHERE id = ${id}`
      await sql`
        UPDATE webhook_endpoints SET failing_since = NULL, last_error = NULL, last_success_at = now() WHERE endpoint = ${endpoint}`
      return false
    }
    // If another instance has leased it since, that instance's outcome counts.
    await sql`
      UPDATE webhook_deliveries SET state = CASE WHEN ${retrySec}::float8 IS NULL THEN 'failed' ELSE 'pending' END,
        due_at = now() + make_interval(secs => coalesce(${retrySec}::float8, 0)),
        settled_at = CASE WHEN ${retrySec}::float8 IS NULL THEN now() END
      WHERE id = ${id} AND attempts = ${attempt} AND state = 'pending'`
    const [before] = await sql<{ up: boolean }[]>`
      UPDATE webhook_endpoints w SET failing_since = coalesce(w.failing_since, now()), last_error = ${error},
        disabled_at = CASE WHEN w.disabled_at IS NULL AND (${gone} OR w.failing_since < now() - make_interval(days => ${PATIENCE_DAYS}))
          THEN now() ELSE w.disabled_at END
      FROM webhook_endpoints before
      WHERE w.endpoint = ${endpoint} AND before.endpoint = w.endpoint
      RETURNING before.disabled_at IS NULL AND w.disabled_at IS NOT NULL AS up`
    return before?.up ?? false
  })
}

/** Returns, untried, a delivery that this instance is not allowed to make. Another instance takes it soon. */
export async function giveBackDelivery(
  pool: Pool,
  endpoint: string,
  { id, attempt }: Pick<Delivery, 'id' | 'attempt'>,
  error: string,
): Promise<void> {
  await inTransaction(pool, async (sql) => {
    await sql`
      UPDATE webhook_deliveries SET attempts = attempts - 1, due_at = now() + make_interval(secs => ${GIVEN_BACK_SEC})
      WHERE id = ${id} AND attempts = ${attempt} AND state = 'pending'`
    await sql`
      UPDATE webhook_endpoints SET failing_since = coalesce(failing_since, now()), last_error = ${error}
      WHERE endpoint = ${endpoint}`
  })
}

/** Deletes old events in batches, each with its deliveries. @returns true if there are more. */
export async function pruneEvents(sql: Sql): Promise<boolean> {
  const result = await sql`
    DELETE FROM webhook_events WHERE seq IN (SELECT seq FROM webhook_events
      WHERE created_at < now() - make_interval(days => ${KEPT_DAYS}) ORDER BY created_at LIMIT ${PRUNED_AT_ONCE})`
  return result.count === PRUNED_AT_ONCE
}

/** An endpoint and its health. Times are ISO 8601. */
export interface EndpointState {
  endpoint: string
  /** False once the endpoint was removed. */
  active: boolean
  /** The kinds of events that it gets, comma-separated, or `all`. */
  events: string
  failingSince: string | null
  disabledAt: string | null
  lastSuccessAt: string | null
  lastError: string | null
  addedBy: string
  pending: number
}

/** All endpoints, including removed ones, with the number of pending deliveries. Never a URL or a secret. */
export async function listEndpoints(sql: Sql): Promise<EndpointState[]> {
  const rows = await sql<(Omit<EndpointState, 'events'> & Pick<EndpointTarget, 'url' | 'events'>)[]>`
    SELECT endpoint, url, active, to_jsonb(events) AS events, iso(failing_since) AS "failingSince", iso(disabled_at) AS "disabledAt",
      iso(last_success_at) AS "lastSuccessAt", last_error AS "lastError", added_by AS "addedBy",
      (SELECT count(*) FROM webhook_deliveries d WHERE d.endpoint = w.endpoint AND d.state = 'pending') AS pending
    FROM webhook_endpoints w ORDER BY endpoint`
  return rows.map(({ url, events, ...state }) => ({ ...state, events: toldTo({ url, events }) }))
}

/** The kinds of events that an endpoint gets, as text. */
function toldTo({ url, events }: Pick<EndpointTarget, 'url' | 'events'>): string {
  return events ? choiceText(events) : (eventsInUrl(url) ?? mailTargetOf(url)?.events.join(',') ?? ALL)
}

/** Deliveries, newest first, each with its attempts. JSON. */
export async function listDeliveries(
  sql: Sql,
  filter: { state: string | null; type: string | null; before: number | null; limit: number },
): Promise<{ id: number }[]> {
  return await sql<{ id: number }[]>`
    SELECT d.id, e.id AS "eventId", e.type, d.endpoint, d.state, d.attempts, iso(e.created_at) AS "createdAt",
      CASE WHEN d.state = 'pending' THEN iso(d.due_at) END AS "dueAt", iso(d.settled_at) AS "settledAt", e.body::jsonb AS event,
      (SELECT coalesce(jsonb_agg(jsonb_build_object('at', iso(a.at), 'status', a.status, 'error', a.error,
        'durationMs', a.duration_ms) ORDER BY a.id), '[]') FROM webhook_attempts a WHERE a.delivery_id = d.id) AS log
    FROM webhook_deliveries d JOIN webhook_events e ON e.seq = d.seq
    WHERE (${filter.state}::text IS NULL OR d.state = ${filter.state}) AND (${filter.type}::text IS NULL OR e.type = ${filter.type})
      AND (${filter.before}::bigint IS NULL OR d.id < ${filter.before})
    ORDER BY d.id DESC LIMIT ${filter.limit}`
}

/** Restarts a delivery from its first attempt. @returns its event; null if there is no such delivery. */
export async function redeliver(
  sql: Sql,
  id: number,
): Promise<{ eventId: string; type: string; endpoint: string } | null> {
  const [row] = await sql<{ eventId: string; type: string; endpoint: string }[]>`
    UPDATE webhook_deliveries d SET state = 'pending', attempts = 0, due_at = now(), settled_at = NULL
    FROM webhook_events e WHERE e.seq = d.seq AND d.id = ${id}
    RETURNING e.id AS "eventId", e.type, d.endpoint`
  return row ?? null
}

/** Resumes an endpoint that we gave up on; its pending deliveries are due immediately. @returns false if there is no such endpoint. */
export async function enableEndpoint(sql: Sql, endpoint: string): Promise<boolean> {
  const result = await sql`
    UPDATE webhook_endpoints SET disabled_at = NULL, failing_since = NULL WHERE endpoint = ${endpoint}`
  if (result.count === 0) return false
  await sql`UPDATE webhook_deliveries SET due_at = now() WHERE endpoint = ${endpoint} AND state = 'pending' AND due_at > now()`
  return true
}
