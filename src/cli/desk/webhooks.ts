// The commands `node-ledger webhooks …`: the endpoints, what was delivered to them and what not, sending again. They need no chain.
import { choiceText } from '../../domain/webhooks/choice.ts'
import {
  addWebhook,
  chooseEvents,
  enableWebhook,
  listDeliveries,
  listWebhooks,
  redeliver,
  removeWebhook,
} from '../../operator/webhooks.ts'
import { type Call, EXIT, type ExitCode } from '../command.ts'
import { actorHere, withDatabase } from '../database.ts'
import { UsageError } from '../errors.ts'
import { accepted, fieldsOf, showPage } from '../operator.ts'
import { table, tableOf } from '../output.ts'

type Row = Record<string, unknown>

const ENDPOINT_COLUMNS = [
  'endpoint',
  'active',
  'events',
  'pending',
  'failingSince',
  'disabledAt',
  'lastSuccessAt',
  'lastError',
]
const DELIVERY_COLUMNS = ['id', 'createdAt', 'type', 'endpoint', 'state', 'attempts', 'dueAt']

/** `webhooks list`. */
export async function list(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const found = accepted(await listWebhooks(ledger, {}), call)
    await showPage(call, { ...found }, (rows) => tableOf(rows, ENDPOINT_COLUMNS))
    return EXIT.done
  })
}

/** `webhooks deliveries`. */
export async function deliveries(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const page = accepted(await listDeliveries(ledger, fieldsOf(call)), call)
    await showPage(call, { ...page }, (rows) =>
      table(
        [...DELIVERY_COLUMNS, 'last answer'],
        (rows as Row[]).map((row) => [...DELIVERY_COLUMNS.map((name) => row[name]), lastAnswer(row)]),
      ),
    )
    return EXIT.done
  })
}

/** `webhooks redeliver`. */
export async function sendAgain(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const done = accepted(await redeliver(ledger, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'It is sent again within seconds, while the service runs.')
    return EXIT.done
  })
}

/** `webhooks enable`. */
export async function enable(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const done = accepted(await enableWebhook(ledger, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Events are sent to it again; what waited is due now.')
    return EXIT.done
  })
}

/** `webhooks add`: the endpoints that WEBHOOK_URL names here. Neither a URL nor a secret is taken from the command line. */
export async function add(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const { urls, secrets, events } = ledger.config.webhooks
    if (urls.length === 0)
      throw new UsageError(
        'WEBHOOK_URL, and WEBHOOK_SECRET for what is signed, or their _FILE forms, name what is to be added: set them.',
      )
    const done: object[] = []
    for (const [i, url] of urls.entries()) {
      const given = {
        ...{ url, ...(secrets.length > 0 && { secret: secrets.join(',') }) },
        ...(events?.[i] && { events: choiceText(events[i]) }),
      }
      done.push(accepted(await addWebhook(ledger, actorHere(), given), call))
    }
    await call.out.result({ endpoints: done }, 'Events are sent there from now on.')
    return EXIT.done
  })
}

/** `webhooks events`. */
export async function choose(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const done = accepted(await chooseEvents(ledger, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, `From now on it is told: ${(done as { events: string }).events}.`)
    return EXIT.done
  })
}

/** `webhooks remove`. */
export async function remove(call: Call): Promise<ExitCode> {
  return await withDatabase(call.io, async (ledger) => {
    const done = accepted(await removeWebhook(ledger, actorHere(), fieldsOf(call)), call)
    await call.out.result(done, 'Nothing more is sent there. What waits goes on should you add it again.')
    return EXIT.done
  })
}

function lastAnswer({ log }: Row): unknown {
  const last = (log as { status: number | null; error: string | null }[]).at(-1)
  return last && (last.error ?? last.status)
}
