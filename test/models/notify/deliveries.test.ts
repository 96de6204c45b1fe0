// Deliveries of events: the statements of src/db/webhooks.ts and the operator's acts on endpoints, in random order, and the second reading agree about each
// answer, all rows and the audit log.
import { createHash } from 'node:crypto'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { poolWithin, type Sql } from '../../../src/db/core/sql.ts'
import { writeAudit } from '../../../src/db/core/state.ts'
import * as webhooks from '../../../src/db/webhooks.ts'
import { isOperatorRefusal } from '../../../src/operator/act.ts'
import * as acting from '../../../src/operator/acts/webhooks.ts'
import { openTables, type Row, type Rows, type Tables } from '../../db/direct-rows.ts'
import { type Act, act, inOrder, letPass, play, readTable, type Step, stepsOf } from '../../db/machine.ts'
import { cases } from '../../support/property.ts'
import * as model from './deliveries.ts'

let tables: Tables
before(async () => {
  tables = await openTables()
})
after(() => tables.close())

const DAY_SEC = 86_400
const SECRETS = ['one', 'two'].map((text) => `whsec_${Buffer.from(text.padEnd(32, 'x')).toString('base64')}`)
const urlOf = (n: number) => `https://host${n}.example/hook`
const nameOf = (n: number) => `host${n}.example#${createHash('sha256').update(urlOf(n)).digest('hex').slice(0, 8)}`
const NAMES = [nameOf(0), nameOf(1)]
const [TYPES, ACTIONS] = [
  ['funds.low', 'passes.resumed', 'keys.wrong'],
  ['fundsLow', 'resumed', 'wrongAdminKeys'],
]

const COLUMNS = {
  webhook_endpoints: ['failing_since', 'disabled_at', 'last_success_at'],
  webhook_events: ['created_at'],
  webhook_deliveries: ['due_at', 'settled_at'],
  webhook_attempts: ['at'],
}

const ago = fc.constantFrom(null, 0, 5 * DAY_SEC - 1, 5 * DAY_SEC, 5 * DAY_SEC + 1)
const chosen = fc.constantFrom<string[] | null>(null, null, ['all'], ['funds.low'], ['funds.low', 'passes.resumed'])
const drawnEndpoint = fc.record({
  active: fc.constantFrom(true, true, true, false),
  events: chosen,
  failing: ago,
  disabled: fc.constantFrom(null, null, null, 60),
})
const drawnDelivery = fc.record({
  event: fc.nat(2),
  endpoint: fc.constantFrom(0, 0, 0, 1),
  state: fc.constantFrom<model.Delivery['state']>('pending', 'pending', 'pending', 'failed', 'delivered'),
  attempts: fc.constantFrom(0, 0, 1, 2),
  due: fc.constantFrom(-5, 0, 0, 1, 30),
  hasLog: fc.boolean(),
})
const drawn = fc.record({
  endpoints: fc.array(drawnEndpoint, { minLength: 1, maxLength: 2 }),
  ages: fc.array(fc.constantFrom(0, 10, 30 * DAY_SEC - 1, 30 * DAY_SEC, 30 * DAY_SEC + 1), {
    minLength: 3,
    maxLength: 3,
  }),
  deliveries: fc.uniqueArray(drawnDelivery, {
    maxLength: 5,
    selector: ({ event, endpoint }) => `${event} ${endpoint}`,
  }),
})
type Drawn = typeof drawn extends fc.Arbitrary<infer T> ? T : never

function mailOf({ endpoints, ages, deliveries }: Drawn): model.Mail {
  const back = (age: number | null) => (age === null ? null : -age)
  return {
    now: 0,
    audit: [],
    endpoints: endpoints.map(({ active, events, failing, disabled }, n) => ({
      ...{ name: NAMES[n] ?? '', url: urlOf(n), secrets: [SECRETS[0] ?? ''], active, events, addedBy: 'eve' },
      ...{ failingSince: back(failing), disabledAt: back(disabled), lastSuccessAt: null },
      lastError: failing === null ? null : 'HTTP 500',
    })),
    events: ages.map((age, n) => ({ seq: 1 + n, id: `evt_${n}`, type: TYPES[n] ?? '', at: -age })),
    deliveries: deliveries.flatMap(({ event, endpoint, hasLog, ...one }, n) => {
      if (endpoint >= endpoints.length) return []
      const log = hasLog ? [{ status: 500, error: 'HTTP 500', durationMs: 7, at: -9 }] : []
      const settledAt = one.state === 'pending' ? null : -4
      return [{ ...one, id: 1 + n, seq: 1 + event, endpoint: NAMES[endpoint] ?? '', log, settledAt }]
    }),
  }
}

const listOf = (texts: string[] | null) => (texts === null ? null : `{${texts.join(',')}}`)
function rowsOf(mail: model.Mail): Rows {
  return {
    webhook_endpoints: mail.endpoints.map(({ name, url, secrets, active, events, addedBy, lastError }) => ({
      ...{ endpoint: name, url, secrets: listOf(secrets), active, events: listOf(events) },
      ...{ added_by: addedBy, last_error: lastError },
    })),
    webhook_events: mail.events.map(({ seq, id, type }) => ({ seq, id, type, body: JSON.stringify({ type }) })),
    webhook_deliveries: mail.deliveries.map(({ id, seq, endpoint, state, attempts }) => ({
      id,
      seq,
      endpoint,
      state,
      attempts,
    })),
    webhook_attempts: mail.deliveries.flatMap(({ id, log }): Row[] =>
      log.map(({ status, error, durationMs }) => ({ delivery_id: id, status, error, duration_ms: durationMs })),
    ),
  }
}

/** Times relative to the transaction's now, which rows as texts cannot have. */
async function setTimes(sql: Sql, mail: model.Mail): Promise<void> {
  const time = (seconds: number | null) => (seconds === null ? 'NULL' : `now() + interval '${seconds} seconds'`)
  const set = (table: string, where: string, times: Record<string, number | null>) =>
    `UPDATE ${table} SET ${Object.entries(times)
      .map(([name, at]) => `${name} = ${time(at)}`)
      .join(', ')} WHERE ${where};`
  await sql.unsafe(
    [
      ...mail.endpoints.map((one) =>
        set('webhook_endpoints', `endpoint = '${one.name}'`, {
          ...{ failing_since: one.failingSince, disabled_at: one.disabledAt, last_success_at: one.lastSuccessAt },
        }),
      ),
      ...mail.events.map(({ seq, at }) => set('webhook_events', `seq = ${seq}`, { created_at: at })),
      ...mail.deliveries.map(({ id, due, settledAt }) =>
        set('webhook_deliveries', `id = ${id}`, { due_at: due, settled_at: settledAt }),
      ),
      `UPDATE webhook_attempts SET at = now() - interval '9 seconds';`,
      ...['webhook_events', 'webhook_deliveries'].map(
        (table) =>
          `SELECT setval(pg_get_serial_sequence('${table}', '${table === 'webhook_events' ? 'seq' : 'id'}'), 100, false);`,
      ),
    ].join('\n'),
  )
}

type Machine = Act<model.Mail>
type Called = (deps: never, actor: never, input: Record<string, unknown>) => Promise<object>
const BY = { name: 'ada', requestId: null }
const called = async (run: unknown, sql: Sql, input: Record<string, unknown>) => {
  const found = await (run as Called)({ pool: poolWithin(sql) } as never, BY as never, input)
  return isOperatorRefusal(found) ? found.because : found
}
const name = fc.constantFrom(NAMES[0] ?? '', NAMES[0] ?? '', NAMES[1] ?? '')
const id = fc.constantFrom(1, 1, 2, 3, 100)
const attempt = fc.constantFrom(1, 1, 2)
/** What the last event wrote: its row, and its deliveries by endpoint. */
let emitted: { seq: number; id: string; ids: Map<string, number> } = { seq: 0, id: '', ids: new Map() }

const acts: Record<string, Machine> = {
  time: act({
    draw: fc.constantFrom(1, 3, 59, 60, 300, DAY_SEC, 5 * DAY_SEC),
    run: (sql, seconds) => letPass(sql, seconds, COLUMNS),
    expects: (mail: model.Mail, seconds) => {
      mail.now += seconds
    },
  }),
  emit: act({
    draw: fc.nat(2),
    run: async (sql, n) => {
      const [last] = await sql<{ seq: number }[]>`SELECT coalesce(max(seq), 0) AS seq FROM webhook_events`
      await writeAudit(sql, { actor: 'pass', action: ACTIONS[n] ?? '', subject: 'x', detail: {} })
      const rows = await sql<{ seq: number; id: string; endpoint: string; delivery: number }[]>`
        SELECT e.seq, e.id, d.endpoint, d.id AS delivery FROM webhook_events e LEFT JOIN webhook_deliveries d USING (seq)
        WHERE e.seq > ${last?.seq ?? 0}`
      const ids = new Map(rows.map(({ endpoint, delivery }) => [endpoint, delivery]))
      emitted = { seq: rows[0]?.seq ?? 0, id: rows[0]?.id ?? '', ids }
      return [...ids.keys()].sort()
    },
    expects: (mail: model.Mail, n) => {
      const type = TYPES[n] ?? ''
      const names = model.wanted(mail, type)
      model.emit(mail, { seq: emitted.seq, id: emitted.id, type }, emitted.ids)
      mail.audit.push({ actor: 'pass', action: ACTIONS[n] ?? '', subject: 'x', detail: {} })
      return names.toSorted()
    },
  }),
  add: act({
    draw: fc.record({ n: fc.nat(1), secrets: fc.subarray(SECRETS, { minLength: 1 }), events: chosen }),
    run: (sql, { n, secrets, events }) =>
      called(acting.addWebhook, sql, {
        ...{ url: urlOf(n), secret: secrets.join(',') },
        ...(events === null ? {} : { events: events.join(',') }),
      }),
    expects: (mail: model.Mail, { n, secrets, events }) =>
      model.add(mail, BY.name, { name: NAMES[n] ?? '', url: urlOf(n), secrets, events }),
  }),
  choose: act({
    draw: fc.record({ name, events: chosen.filter((one) => one !== null) }),
    run: (sql, { name, events }) => called(acting.chooseEvents, sql, { endpoint: name, events: events.join(',') }),
    expects: (mail: model.Mail, { name, events }) => model.choose(mail, BY.name, name, events),
  }),
  remove: act({
    draw: name,
    run: (sql, endpoint) => called(acting.removeWebhook, sql, { endpoint }),
    expects: (mail: model.Mail, endpoint) => model.remove(mail, BY.name, endpoint),
  }),
  enable: act({
    draw: name,
    run: (sql, endpoint) => called(acting.enableWebhook, sql, { endpoint }),
    expects: (mail: model.Mail, endpoint) => model.enable(mail, BY.name, endpoint),
  }),
  redeliver: act({
    draw: id,
    run: (sql, id) => called(acting.redeliver, sql, { id }),
    expects: (mail: model.Mail, id) => model.redeliver(mail, BY.name, id),
  }),
  take: act({
    draw: fc.record({ name, limit: fc.constantFrom(1, 1, 2, 8) }),
    run: async (sql, { name, limit }) =>
      (await webhooks.takeDeliveries(sql, name, limit)).map(({ body: _, ...one }) => one),
    expects: (mail: model.Mail, { name, limit }) => model.take(mail, name, limit),
  }),
  settle: act({
    draw: fc.record({
      ...{
        id,
        attempt,
        gone: fc.constantFrom(false, false, true),
        error: fc.constantFrom(null, 'HTTP 500', 'HTTP 503'),
      },
      retrySec: fc.constantFrom(null, 5, 300),
    }),
    run: async (sql, { id, attempt, ...one }) => {
      const [row] = await sql<{ endpoint: string }[]>`SELECT endpoint FROM webhook_deliveries WHERE id = ${id}`
      if (row === undefined) return null
      const result = { ...one, status: one.error === null ? 200 : 500, durationMs: 3 }
      return webhooks.settleDelivery(poolWithin(sql), row.endpoint, { id, attempt }, result)
    },
    expects: (mail: model.Mail, { id, attempt, ...one }) => {
      const endpoint = mail.deliveries.find((each) => each.id === id)?.endpoint
      const result = { ...one, status: one.error === null ? 200 : 500, durationMs: 3 }
      return endpoint === undefined ? null : model.settle(mail, endpoint, id, attempt, result)
    },
  }),
  giveBack: act({
    draw: fc.record({ id, attempt, name }),
    run: (sql, { id, attempt, name }) => webhooks.giveBackDelivery(poolWithin(sql), name, { id, attempt }, 'forbidden'),
    expects: (mail: model.Mail, { id, attempt, name }) => model.giveBack(mail, name, id, attempt, 'forbidden'),
  }),
  prune: act({ draw: fc.constant(null), run: webhooks.pruneEvents, expects: (mail: model.Mail) => model.prune(mail) }),
  listed: act({
    draw: fc.constant(null),
    run: async (sql) =>
      (await webhooks.listEndpoints(sql)).map(({ failingSince, disabledAt, lastSuccessAt, ...one }) => {
        return {
          ...one,
          isFailing: failingSince !== null,
          isDisabled: disabledAt !== null,
          hasSucceeded: lastSuccessAt !== null,
        }
      }),
    expects: (mail: model.Mail) => model.listed(mail),
  }),
  page: act({
    draw: fc.record({
      state: fc.constantFrom(null, 'pending', 'failed'),
      type: fc.constantFrom(null, null, 'funds.low'),
      before: fc.constantFrom(null, 2, 3, 101),
      limit: fc.constantFrom(1, 2, 9),
    }),
    run: async (sql, asked) => {
      const rows = (await webhooks.listDeliveries(sql, asked)) as unknown as Record<string, unknown>[]
      return rows.map(({ createdAt: _, event: _e, dueAt, settledAt, log, ...one }) => ({
        ...{ ...one, isDue: dueAt !== null, isSettled: settledAt !== null },
        log: (log as { at: string }[]).map(({ at: _, ...each }) => each),
      }))
    },
    expects: (mail: model.Mail, asked) => model.page(mail, asked),
  }),
}

async function readRows(sql: Sql) {
  return {
    endpoints: await readTable(sql, 'webhook_endpoints', ['added_at']),
    events: await readTable(sql, 'webhook_events', ['body']),
    deliveries: await readTable(sql, 'webhook_deliveries'),
    attempts: await readTable(sql, 'webhook_attempts', ['id']),
    audit: (await sql<object[]>`SELECT actor, action, subject, detail FROM audit ORDER BY id`).map((one) => ({
      ...one,
    })),
  }
}

function expectedRows({ now, ...mail }: model.Mail) {
  const rel = (at: number | null) => (at === null ? null : at - now)
  return {
    endpoints: inOrder(
      mail.endpoints.map(({ name, url, secrets, active, events, addedBy, ...one }) => ({
        ...{ endpoint: name, url, secrets, active, events, added_by: addedBy, last_error: one.lastError },
        ...{ failing_since: rel(one.failingSince), disabled_at: rel(one.disabledAt) },
        last_success_at: rel(one.lastSuccessAt),
      })),
    ),
    events: inOrder(mail.events.map(({ seq, id, type, at }) => ({ seq, id, type, created_at: rel(at) }))),
    deliveries: inOrder(
      mail.deliveries.map(({ id, seq, endpoint, state, attempts, due, settledAt }) => {
        return { id, seq, endpoint, state, attempts, due_at: rel(due), settled_at: rel(settledAt) }
      }),
    ),
    attempts: inOrder(
      mail.deliveries.flatMap(({ id, log }) =>
        log.map(({ status, error, durationMs, at }) => {
          return { delivery_id: id, status, error, duration_ms: durationMs, at: rel(at) }
        }),
      ),
    ),
    audit: mail.audit,
  }
}

test('each endpoint gets the events that it wants, in their order, until they are settled', async () => {
  const compare = async (given: Drawn, steps: Step<model.Mail>[]) => {
    const mail = mailOf(given)
    await tables.within(rowsOf(mail), async (sql) => {
      await setTimes(sql, mail)
      await play(
        sql,
        { steps, state: mail },
        { read: readRows as (sql: Sql) => Promise<unknown>, expected: expectedRows },
      )
    })
  }
  const weights = { take: 5, settle: 5, time: 3, emit: 2, choose: 2, giveBack: 2 }
  await fc.assert(fc.asyncProperty(drawn, stepsOf(acts, { least: 3, most: 9, weights }), compare), {
    numRuns: cases(150),
  })
})
