// The operator's acts and readings on webhooks: endpoints, deliveries and redelivery. It accepts a URL and its secrets, and never shows them again.
import * as webhooks from '../../db/webhooks.ts'
import { ALL, CHOICE_FORM, type Choice, choiceText, readChoice } from '../../domain/webhooks/choice.ts'
import { eventsInUrl, isMail, isSigned, mailTargetOf } from '../../domain/webhooks/receiver.ts'
import { isSigningSecret, SECRETS_MAX } from '../../domain/webhooks/secret.ts'
import type { LedgerDb } from '../../ports/contexts.ts'
import { refuseAct } from '../act.ts'
import { defineAct, defineReading } from '../define-act.ts'
import * as field from '../input.ts'

/** Longest URL that we accept. */
const URL_MAX = 500
/** Every kind of event by name, with room for more. */
const EVENTS_MAX = 1_000
const SECRET = field.text('what its events are signed with; a chat and a mail have none', {
  max: 200,
  form: 'one or two signing secrets with a comma, the newest first: whsec_ and the base64 of 24 to 64 random bytes',
})
/** An endpoint as `webhooks list` shows it, and the reason. */
const ENDPOINT = {
  endpoint: field.text('as "webhooks list" shows it', { max: 300, schema: 'EndpointName' }),
  reason: field.REASON,
}

const STATES = ['pending', 'delivered', 'failed'] as const

export const listWebhooks = defineReading({
  path: 'webhooks',
  command: 'webhooks list',
  summary: 'list the endpoints that get events, and their state',
  details: 'The name of an endpoint is its host and a digest of its URL, because the URL may be a secret.',
  examples: ['webhooks list'],
  fields: {},
  run: async ({ pool }: LedgerDb) => ({ endpoints: await webhooks.listEndpoints(pool) }),
  columns: [
    ...['endpoint', ['state', 'active'] as const, 'events', 'pending'],
    ...['failingSince', 'disabledAt', 'lastSuccessAt', 'lastError'],
  ],
})

/** Lists deliveries, each with its attempts. */
export const listDeliveries = defineReading({
  path: 'webhooks/deliveries',
  command: 'webhooks deliveries',
  summary: 'list deliveries and their results, newest first; --json has each event and its attempts',
  examples: ['webhooks deliveries --state failed', 'webhooks deliveries --json'],
  fields: {
    state: field.orNull(
      field.word('pending, delivered or failed', STATES, { value: 'state', schema: 'DeliveryState' }),
    ),
    type: field.orNull(field.text('payment.minted, round.credited and so on', { max: 40, value: 'type' })),
    ...field.PAGE,
  },
  run: async ({ pool }: LedgerDb, { state, type, limit, cursor }) => {
    const rows = await webhooks.listDeliveries(pool, { state, type, before: cursor, limit: limit + 1 })
    return field.pageOf('deliveries', rows, limit)
  },
  columns: [...['id', 'createdAt', 'type', 'endpoint', 'state', 'attempts', 'dueAt'], ['last answer', 'log', 'answer']],
})

export const redeliver = defineAct({
  path: 'webhooks/deliveries/:id/redeliver',
  scope: 'operate',
  command: 'webhooks redeliver',
  summary: 'send a delivery again, failed or not',
  examples: ['webhooks redeliver <delivery>'],
  fields: { id: field.id('the delivery, as "webhooks deliveries" shows it'), reason: field.REASON },
  change: async ({ sql, record }, { id }) => {
    const delivery = await webhooks.redeliver(sql, id)
    if (!delivery) return refuseAct('notFound', `No delivery ${id}: the service keeps them for 30 days.`)
    record({ action: 'webhookRedelivered', subject: delivery.eventId, after: { id, ...delivery } })
    return { id, ...delivery, state: 'pending' }
  },
  says: 'The service, if it runs, sends it again within seconds.',
})

const noEndpoint = (endpoint: string) =>
  refuseAct('notFound', `There is no endpoint ${endpoint}. See the list of webhooks.`)

export const enableWebhook = defineAct({
  path: 'webhooks/enable',
  scope: 'operate',
  command: 'webhooks enable',
  summary: 'enable a disabled endpoint; waiting events go out immediately',
  examples: ['webhooks enable <endpoint>'],
  args: ['endpoint'],
  fields: ENDPOINT,
  change: async ({ sql, record }, { endpoint }) => {
    if (!(await webhooks.enableEndpoint(sql, endpoint))) return noEndpoint(endpoint)
    record({ action: 'webhookEnabled', subject: endpoint })
    return { endpoint, enabled: true }
  },
  says: 'Events are sent to it again; waiting events go out now.',
})

/** Which kinds of events an endpoint gets. */
const EVENTS = field.ofForm<Choice>('all, or kinds separated by commas', {
  schema: 'EventsChosen',
  value: 'events',
  form: CHOICE_FORM,
  otherwise: [],
  parse: (input) => {
    if (typeof input !== 'string' || input.length > EVENTS_MAX) return undefined
    const { kinds, unknown } = readChoice(input)
    return unknown.length > 0 || kinds.length === 0 ? undefined : kinds
  },
  why: (input) => {
    const { unknown } = readChoice(String(input))
    return unknown.length > 0 ? ` (there is no ${unknown.join(', no ')})` : ''
  },
})

const secretsOf = (secret: string | null) => (secret ?? '').split(/[\s,]+/).filter((text) => text !== '')

/**
 * Adds an endpoint for all instances. `url` is https, or http if the instance that delivers allows private networks; smtps or smtp for mail. Without
 * `events` the endpoint gets all kinds; a mail endpoint gets the kinds that its URL names. If the endpoint exists, its secrets (for mail, the
 * password in the URL) are replaced, which is how to rotate them.
 */
export const addWebhook = defineAct({
  path: 'webhooks',
  scope: 'operate',
  summary: 'add an endpoint, or replace an endpoint’s secrets',
  fields: {
    url: field.text('its URL: https, or smtps://user:password@host?from=…&to=… for mail', { max: URL_MAX }),
    secret: field.orNull(SECRET),
    events: field.orNull(EVENTS),
    reason: field.REASON,
  },
  check: ({ url, secret }, { complain }) => {
    const secrets = secretsOf(secret)
    if (readChoice(eventsInUrl(url) ?? ALL).unknown.length > 0)
      complain('url', `must have, after events=, ${CHOICE_FORM}`)
    else if (!isReceiver(url)) complain('url', URL_FORM)
    else if (secrets.length > SECRETS_MAX || !secrets.every(isSigningSecret) || (isSigned(url) && secrets.length === 0))
      complain('secret', `must be ${SECRET.form}`)
  },
  change: async ({ sql, actor, record }, { url, secret, events }) => {
    const endpoint = webhooks.endpointName(url)
    const input = { url, secrets: secretsOf(secret), ...(events && { events }) }
    const isNew = await webhooks.addEndpoint(sql, input, actor.name)
    const after = events && { after: { events: choiceText(events) } }
    record({ action: isNew ? 'webhookAdded' : 'webhookSecretsChanged', subject: endpoint, ...after })
    return { endpoint, added: isNew }
  },
  says: ({ endpoint, added }) => `${endpoint} ${added ? 'gets events from now on' : 'has these secrets now'}.`,
})

export const chooseEvents = defineAct({
  path: 'webhooks/events',
  scope: 'operate',
  command: 'webhooks events',
  summary: 'choose which kinds of events an endpoint gets',
  details:
    'The choice applies from now on. The service drops waiting events of other kinds, and sends new kinds from the next event on.',
  examples: ['webhooks events <endpoint> payment.held,funds.low', 'webhooks events <endpoint> all'],
  args: ['endpoint', 'events'],
  fields: { endpoint: ENDPOINT.endpoint, events: EVENTS, reason: field.REASON },
  change: async ({ sql, record }, { endpoint, events }) => {
    const before = await webhooks.chooseEvents(sql, endpoint, events)
    if (before === null) return noEndpoint(endpoint)
    const after = choiceText(events)
    record({ action: 'webhookEventsChosen', subject: endpoint, before, after })
    return { endpoint, events: after }
  },
  says: ({ events }) => `From now on it gets: ${events}.`,
})

const URL_FORM =
  'must be an https URL, or for mail smtps://user:password@host?from=…&to=… with one sender, up to ten recipients and known events'

function isReceiver(url: string): boolean {
  if (isMail(url)) return mailTargetOf(url) !== null
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)
}

/** If the endpoint is added again, the waiting deliveries continue. */
export const removeWebhook = defineAct({
  path: 'webhooks/remove',
  scope: 'operate',
  command: 'webhooks remove',
  summary: 'remove an endpoint',
  examples: ['webhooks remove <endpoint>'],
  args: ['endpoint'],
  fields: ENDPOINT,
  change: async ({ sql, record }, { endpoint }) => {
    if (!(await webhooks.removeEndpoint(sql, endpoint))) return noEndpoint(endpoint)
    record({ action: 'webhookRemoved', subject: endpoint })
    return { endpoint, removed: true }
  },
  says: 'Nothing more is sent there. Waiting events are sent if you add it again.',
})
