// Which endpoint gets which event and when, as a second reading of docs/WEBHOOKS.md: a queue for each endpoint, attempts with leases, and an endpoint that
// we give up on. Times are seconds of the model's own clock.

export interface Endpoint {
  name: string
  url: string
  secrets: string[]
  active: boolean
  events: string[] | null
  failingSince: number | null
  disabledAt: number | null
  lastSuccessAt: number | null
  lastError: string | null
  addedBy: string
}
export interface Event {
  seq: number
  id: string
  type: string
  at: number
}
export interface Delivery {
  id: number
  seq: number
  endpoint: string
  state: 'pending' | 'delivered' | 'failed'
  attempts: number
  due: number
  settledAt: number | null
  log: { status: number | null; error: string | null; durationMs: number; at: number }[]
}
export interface Told {
  actor: string
  action: string
  subject: string | null
  detail: Record<string, unknown>
}
export interface Mail {
  now: number
  endpoints: Endpoint[]
  events: Event[]
  deliveries: Delivery[]
  audit: Told[]
}

const endpointOf = ({ endpoints }: Mail, name: string) => endpoints.find((one) => one.name === name)
const eventOf = ({ events }: Mail, seq: number) => events.find((one) => one.seq === seq)
const tell = (mail: Mail, actor: string, action: string, subject: string, detail: Record<string, unknown>) =>
  mail.audit.push({ actor, action, subject, detail: { reason: null, ...detail } })

/** The kinds that an endpoint gets, in words. */
const kindsOf = ({ events }: Endpoint) => events?.join(',') ?? 'all'
const wants = ({ events }: Endpoint, type: string) => events === null || events.includes('all') || events.includes(type)

/** Every active endpoint that wants it gets a delivery; an event that no endpoint wants is none. @returns who gets it. */
export const wanted = ({ endpoints }: Mail, type: string): string[] =>
  endpoints.filter((one) => one.active && wants(one, type)).map(({ name }) => name)

export function emit(mail: Mail, event: Omit<Event, 'at'>, ids: Map<string, number>): void {
  const names = wanted(mail, event.type)
  if (names.length === 0) return
  mail.events.push({ ...event, at: mail.now })
  for (const endpoint of names) {
    const waits = { state: 'pending' as const, attempts: 0, due: mail.now, settledAt: null, log: [] }
    mail.deliveries.push({ ...waits, id: ids.get(endpoint) ?? 0, seq: event.seq, endpoint })
  }
}

export function add(
  mail: Mail,
  by: string,
  one: { name: string; url: string; secrets: string[]; events: string[] | null },
) {
  const { name, url, secrets, events } = one
  const known = endpointOf(mail, name)
  const added = known?.active !== true
  const health = { failingSince: null, disabledAt: null, lastSuccessAt: null, lastError: null }
  if (known === undefined)
    mail.endpoints.push({ ...health, name, url, secrets, active: true, events: null, addedBy: by })
  else Object.assign(known, { active: true, secrets })
  if (events !== null) chosen(mail, name, events)
  const after = events === null ? {} : { after: { events: events.join(',') } }
  tell(mail, by, added ? 'webhookAdded' : 'webhookSecretsChanged', name, after)
  return { endpoint: name, added }
}

/** Waiting events of other kinds are dropped if they were never tried, and have failed if they were. */
function chosen(mail: Mail, name: string, events: string[]): string | null {
  const endpoint = endpointOf(mail, name)
  if (endpoint === undefined) return null
  const before = kindsOf(endpoint)
  endpoint.events = events
  if (events.includes('all')) return before
  const isOther = ({ endpoint, state, seq }: Delivery) =>
    endpoint === name && state === 'pending' && !events.includes(eventOf(mail, seq)?.type ?? '')
  const isUntried = ({ attempts, log }: Delivery) => attempts === 0 && log.length === 0
  mail.deliveries = mail.deliveries.filter((one) => !(isOther(one) && isUntried(one)))
  for (const one of mail.deliveries.filter(isOther)) Object.assign(one, { state: 'failed', settledAt: mail.now })
  return before
}

export function choose(mail: Mail, by: string, name: string, events: string[]) {
  const before = chosen(mail, name, events)
  if (before === null) return 'notFound'
  tell(mail, by, 'webhookEventsChosen', name, { before, after: events.join(',') })
  return { endpoint: name, events: events.join(',') }
}

export function remove(mail: Mail, by: string, name: string) {
  const endpoint = endpointOf(mail, name)
  if (endpoint?.active !== true) return 'notFound'
  endpoint.active = false
  tell(mail, by, 'webhookRemoved', name, {})
  return { endpoint: name, removed: true }
}

/** Its waiting deliveries are due at once. */
export function enable(mail: Mail, by: string, name: string) {
  const endpoint = endpointOf(mail, name)
  if (endpoint === undefined) return 'notFound'
  Object.assign(endpoint, { disabledAt: null, failingSince: null })
  for (const one of mail.deliveries)
    if (one.endpoint === name && one.state === 'pending') one.due = Math.min(one.due, mail.now)
  tell(mail, by, 'webhookEnabled', name, {})
  return { endpoint: name, enabled: true }
}

/** A lease of a minute on the deliveries that are due, oldest first. */
export function take(mail: Mail, name: string, limit: number) {
  const endpoint = endpointOf(mail, name)
  if (endpoint?.active !== true || endpoint.disabledAt !== null) return []
  const due = mail.deliveries
    .filter((one) => one.endpoint === name && one.state === 'pending' && one.due <= mail.now)
    .toSorted((a, b) => a.due - b.due || a.id - b.id)
    .slice(0, limit)
  for (const one of due) Object.assign(one, { attempts: one.attempts + 1, due: mail.now + 60 })
  return due
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, seq, attempts }) => {
      const { id: eventId, type } = eventOf(mail, seq) ?? {}
      return { id, attempt: attempts, eventId, type, secrets: endpoint.secrets }
    })
}

export interface Result {
  status: number | null
  error: string | null
  durationMs: number
  retrySec: number | null
  gone: boolean
}

/** A success always counts; a failure only if no other instance has leased it since. @returns whether we therefore gave up on the endpoint. */
export function settle(mail: Mail, name: string, id: number, attempt: number, result: Result): boolean {
  const { status, error, durationMs, retrySec, gone } = result
  const one = mail.deliveries.find((each) => each.id === id)
  const endpoint = endpointOf(mail, name)
  one?.log.push({ status, error, durationMs, at: mail.now })
  if (error === null) {
    if (one) Object.assign(one, { state: 'delivered', settledAt: mail.now })
    if (endpoint) Object.assign(endpoint, { failingSince: null, lastError: null, lastSuccessAt: mail.now })
    return false
  }
  if (one?.attempts === attempt && one.state === 'pending') {
    one.state = retrySec === null ? 'failed' : 'pending'
    one.due = mail.now + (retrySec ?? 0)
    one.settledAt = retrySec === null ? mail.now : null
  }
  if (endpoint === undefined) return false
  const isTooLong = endpoint.failingSince !== null && mail.now - endpoint.failingSince > 5 * 86_400
  const givesUp = endpoint.disabledAt === null && (gone || isTooLong)
  endpoint.failingSince ??= mail.now
  endpoint.lastError = error
  if (givesUp) endpoint.disabledAt = mail.now
  return givesUp
}

/** As if it had not been taken, for a few seconds later. */
export function giveBack(mail: Mail, name: string, id: number, attempt: number, error: string): void {
  const one = mail.deliveries.find((each) => each.id === id)
  if (one?.attempts === attempt && one.state === 'pending')
    Object.assign(one, { attempts: attempt - 1, due: mail.now + 3 })
  const endpoint = endpointOf(mail, name)
  if (endpoint === undefined) return
  endpoint.failingSince ??= mail.now
  endpoint.lastError = error
}

export function redeliver(mail: Mail, by: string, id: number) {
  const one = mail.deliveries.find((each) => each.id === id)
  if (one === undefined) return 'notFound'
  Object.assign(one, { state: 'pending', attempts: 0, due: mail.now, settledAt: null })
  const { id: eventId = '', type } = eventOf(mail, one.seq) ?? {}
  const found = { eventId, type, endpoint: one.endpoint }
  tell(mail, by, 'webhookRedelivered', eventId, { after: { id, ...found } })
  return { id, ...found, state: 'pending' }
}

export function prune(mail: Mail): boolean {
  const isOld = ({ at }: Event) => mail.now - at > 30 * 86_400
  const old = new Set(mail.events.filter(isOld).map(({ seq }) => seq))
  mail.events = mail.events.filter((one) => !isOld(one))
  mail.deliveries = mail.deliveries.filter(({ seq }) => !old.has(seq))
  return false
}

export const listed = (mail: Mail) =>
  mail.endpoints
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((one) => ({
      ...{
        endpoint: one.name,
        active: one.active,
        events: kindsOf(one),
        addedBy: one.addedBy,
        lastError: one.lastError,
      },
      ...{ isFailing: one.failingSince !== null, isDisabled: one.disabledAt !== null },
      hasSucceeded: one.lastSuccessAt !== null,
      pending: mail.deliveries.filter(({ endpoint, state }) => endpoint === one.name && state === 'pending').length,
    }))

export const page = (
  mail: Mail,
  asked: { state: string | null; type: string | null; before: number | null; limit: number },
) =>
  mail.deliveries
    .filter(({ id, seq, state }) => {
      if (asked.before !== null && id >= asked.before) return false
      return (
        [null, state].includes(asked.state as never) && [null, eventOf(mail, seq)?.type].includes(asked.type as never)
      )
    })
    .toSorted((a, b) => b.id - a.id)
    .slice(0, asked.limit)
    .map(({ id, seq, endpoint, state, attempts, settledAt, log }) => ({
      ...{ id, endpoint, state, attempts, eventId: eventOf(mail, seq)?.id, type: eventOf(mail, seq)?.type },
      ...{ isDue: state === 'pending', isSettled: settledAt !== null },
      log: log.map(({ status, error, durationMs }) => ({ status, error, durationMs })),
    }))
