// The check of the webhooks: each endpoint's host must have an allowed address, and the endpoint must accept its events. Sends nothing, and shows
// nothing of a URL but its host.
import type { Pool } from '../db/core/sql.ts'
import { type EndpointState, listEndpoints, readTargets } from '../db/webhooks.ts'
import { inTime } from '../lib/deadline.ts'
import { codeOf, messageOf } from '../lib/errors.ts'
import { isPublicTarget } from '../webhooks/target.ts'
import { type Checks, check, type Said } from './check.ts'

/** How long we wait for a name. A working resolver answers in milliseconds; if it is down, the system would wait half a minute. */
const LOOKUP_MS = 5_000

type Host = 'public' | 'private' | { readonly fault: string }

interface WebhooksExamined {
  readonly allowPrivate: boolean
  /** Null if there is no ledger with endpoints. */
  readonly pool: Pool | null
}

export const WEBHOOK_CHECKS: Checks<WebhooksExamined> = {
  webhooks: check('NodeLedgerWebhooksLate', lookAtEndpoints, (endpoints, { allowPrivate }) => {
    if (!endpoints) return { unknown: 'there is no ledger to read endpoints from' }
    if (endpoints.length === 0) return 'no events are sent: "node-ledger webhooks add" adds a receiver'
    return endpoints.map(({ endpoint, host, state }) => {
      return judgeHost(endpoint, host, allowPrivate) ?? judgeDeliveries(endpoint, state)
    })
  }),
}

async function lookAtEndpoints({ pool }: WebhooksExamined) {
  if (!pool) return null
  const [targets, states] = [await readTargets(pool), await listEndpoints(pool)]
  const lookups = [...targets].map(async ([endpoint, { url }]) => {
    return { endpoint, host: await lookAtHost(url), state: states.find((candidate) => candidate.endpoint === endpoint) }
  })
  return await Promise.all(lookups)
}

async function lookAtHost(url: string): Promise<Host> {
  try {
    return (await inTime('the resolver', LOOKUP_MS, isPublicTarget(new URL(url)))) ? 'public' : 'private'
  } catch (error) {
    return { fault: codeOf(error) ?? messageOf(error) }
  }
}

/** Why we cannot send to this host; null if we can. */
function judgeHost(endpoint: string, host: Host, allowPrivate: boolean): Said | null {
  if (typeof host === 'object')
    return {
      says: `${endpoint}: its host does not resolve here (${host.fault}), so it gets nothing`,
      fail: 'Remove it and add the right one ("node-ledger webhooks remove", "add"), or fix this machine’s resolver.',
    }
  if (host === 'public' || allowPrivate) return null
  return {
    says: `${endpoint} is at a private address: nothing is sent there`,
    fail: 'Replace it with an endpoint on the public internet, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network.',
  }
}

function judgeDeliveries(endpoint: string, state: EndpointState | undefined): Said {
  if (!state) return { says: `${endpoint} gets events` }
  const { disabledAt, failingSince, lastError, pending, lastSuccessAt } = state
  if (disabledAt !== null) {
    const todo = `Fix the receiver, then "node-ledger webhooks enable ${endpoint}".`
    return { says: `${endpoint} was disabled at ${disabledAt}: ${lastError}; events waiting: ${pending}`, fail: todo }
  }
  if (failingSince !== null) {
    const todo = 'Fix the receiver; "node-ledger webhooks deliveries --state pending" shows what it answers.'
    return {
      says: `${endpoint} has failed since ${failingSince}: ${lastError}; events waiting: ${pending}`,
      warn: todo,
    }
  }
  return { says: `${endpoint} accepts its events, last success: ${lastSuccessAt ?? 'none yet'}` }
}
