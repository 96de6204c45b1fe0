// The operator's acts and readings on webhooks: endpoints, deliveries and redelivery. Takes a URL and its secrets, and never
// shows them again.
import { inTransaction } from '../db/core/sql.ts'
import { notifyLedgerChanged } from '../db/core/state.ts'
import * as webhooks from '../db/webhooks.ts'
import { ALL, CHOICE_FORM, type Choice, choiceText, readChoice } from '../domain/webhooks/choice.ts'
import { eventsInUrl, isMail, isSigned, mailTargetOf } from '../domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../domain/webhooks/secret.ts'
import type { LedgerDb } from '../passes/context.ts'
import { type Reading, recordAct, refuseAct } from './act.ts'
import { defineAct } from './define-act.ts'
import { type FieldReader, readFields } from './input.ts'
import { cachedResponseOf, readPageFields } from './page.ts'

/** Longest URL that is taken. */
const URL_MAX = 500
/** Every kind of event by its name, and room for more. */
const EVENTS_MAX = 1_000
const SECRET_FORM = {
  max: 200,
  form: 'one or two signing secrets with a comma, the newest first: whsec_ and the base64 of 24 to 64 random bytes',
}

const STATES = ['pending', 'delivered', 'failed'] as const

/** The endpoints and how they do: `{endpoints}`. */
export const listWebhooks: Reading<LedgerDb> = async ({ pool }) => ({ endpoints: await webhooks.listEndpoints(pool) })

/** Deliveries with their attempts, newest first: `{deliveries, nextCursor}`. Filters: `state`, `type`. */
export const listDeliveries: Reading<LedgerDb> = async ({ pool }, input) => {
  const fields = readFields(input)
  const { limit, before } = readPageFields(fields)
  const filter = {
    state: fields.wordOrNull('state', STATES),
    type: fields.textOrNull('type', { max: 40 }),
    before,
    limit: limit + 1,
  }
  if (fields.refusal) return fields.refusal
  return cachedResponseOf('deliveries', await webhooks.listDeliveries(pool, filter), limit)
}

/** Sends a delivery again: `id`. */
export const redeliver = defineAct({
  read: (fields) => ({ id: fields.whole('id', 1, Number.MAX_SAFE_INTEGER), reason: fields.textOrNull('reason') }),
  run: ({ pool }: LedgerDb, actor, { id, reason }) =>
    inTransaction(pool, async (sql) => {
      const delivery = await webhooks.redeliver(sql, id)
      if (!delivery) return refuseAct('notFound', `There is no delivery ${id}: they are kept for 30 days.`)
      const after = { id, ...delivery }
      await recordAct(sql, actor, { action: 'webhookRedelivered', subject: delivery.eventId, after, reason })
      return { id, ...delivery, state: 'pending' }
    }),
})

/** An endpoint as the list names it, and the reason. */
const readEndpoint = (fields: FieldReader) => ({
  endpoint: fields.text('endpoint', { max: 300 }),
  reason: fields.textOrNull('reason'),
})

const noEndpoint = (endpoint: string) =>
  refuseAct('notFound', `There is no endpoint ${endpoint}: the list of webhooks has them.`)

/** Sends to an endpoint again that was given up on: `endpoint`, as the list names it. */
export const enableWebhook = defineAct({
  read: readEndpoint,
  run: ({ pool }: LedgerDb, actor, { endpoint, reason }) =>
    inTransaction(pool, async (sql) => {
      if (!(await webhooks.enableEndpoint(sql, endpoint))) return noEndpoint(endpoint)
      await recordAct(sql, actor, { action: 'webhookEnabled', subject: endpoint, reason })
      return { endpoint, enabled: true }
    }),
})

/**
 * Adds an endpoint for all instances: `url` (https, or http where the instance that delivers allows private networks; smtps or smtp for mail),
 * `secret`, which a chat and a mail have none of, and `events`, the kinds that it is told: all where that is left out, by mail those that its URL
 * names. One that is there gets the secrets that are given, of a mail its URL's password: so they are rotated.
 */
export const addWebhook = defineAct({
  read: (fields) => {
    const url = fields.text('url', { max: URL_MAX })
    const secrets = (fields.textOrNull('secret', SECRET_FORM) ?? '').split(/[\s,]+/).filter((text) => text !== '')
    const events = readEventsOrNull(fields)
    const reason = fields.textOrNull('reason')
    if (readChoice(eventsInUrl(url) ?? ALL).unknown.length > 0)
      fields.complain(`url must have, after events=, ${CHOICE_FORM}`)
    else if (!isReceiver(url)) fields.complain(URL_FORM)
    else if (secrets.length > SECRETS_MAX || !secrets.every(isSigningSecret) || (isSigned(url) && secrets.length === 0))
      fields.complain(`secret must be ${SECRET_FORM.form}`)
    return { url, secrets, events, reason }
  },
  run: ({ pool }: LedgerDb, actor, { url, secrets, events, reason }) =>
    inTransaction(pool, async (sql) => {
      const endpoint = webhooks.endpointName(url)
      const added = await webhooks.addEndpoint(sql, { url, secrets, ...(events && { events }) }, actor.name)
      await recordAct(sql, actor, {
        ...{ action: added ? 'webhookAdded' : 'webhookSecretsChanged', subject: endpoint, reason },
        ...(events && { after: { events: choiceText(events) } }),
      })
      await notifyLedgerChanged(sql)
      return { endpoint, added }
    }),
})

/** Has an endpoint told these kinds of events alone: `endpoint`, as the list names it, and `events`. */
export const chooseEvents = defineAct({
  read: (fields) => {
    const asked = readEndpoint(fields)
    const events = readEventsOrNull(fields) ?? []
    if (events.length === 0) fields.complain(`events is required: ${CHOICE_FORM}`)
    return { ...asked, events }
  },
  run: ({ pool }: LedgerDb, actor, { endpoint, events, reason }) =>
    inTransaction(pool, async (sql) => {
      const before = await webhooks.chooseEvents(sql, endpoint, events)
      if (before === null) return noEndpoint(endpoint)
      const after = choiceText(events)
      await recordAct(sql, actor, { action: 'webhookEventsChosen', subject: endpoint, before, after, reason })
      await notifyLedgerChanged(sql)
      return { endpoint, events: after }
    }),
})

/** Reads which kinds of events an endpoint is told; null where that is not said, or is wrong. */
function readEventsOrNull(fields: FieldReader): Choice | null {
  const text = fields.textOrNull('events', { max: EVENTS_MAX, form: CHOICE_FORM })
  if (text === null) return null
  const { kinds, unknown } = readChoice(text)
  if (unknown.length > 0) fields.complain(`events must be ${CHOICE_FORM} (there is no ${unknown.join(', no ')})`)
  return kinds
}

const URL_FORM =
  'url must be an https URL, or for mail smtps://user:password@host?from=…&to=… with one sender, up to ten recipients and known events'

function isReceiver(url: string): boolean {
  if (isMail(url)) return mailTargetOf(url) !== null
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

/** Stops deliveries to an endpoint: `endpoint`, as the list names it. */
export const removeWebhook = defineAct({
  read: readEndpoint,
  run: ({ pool }: LedgerDb, actor, { endpoint, reason }) =>
    inTransaction(pool, async (sql) => {
      if (!(await webhooks.removeEndpoint(sql, endpoint))) return noEndpoint(endpoint)
      await recordAct(sql, actor, { action: 'webhookRemoved', subject: endpoint, reason })
      await notifyLedgerChanged(sql)
      return { endpoint, removed: true }
    }),
})
