// Checks the webhooks: each endpoint's host must have an address that may be sent to, and accept its events. Sends nothing, and
// never repeats a URL beyond its host.
import type { Pool } from '../../db/core/sql.ts'
import { type EndpointState, listEndpoints, readTargets } from '../../db/webhooks.ts'
import { inTime } from '../../lib/deadline.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { isPublicTarget } from '../../webhooks/target.ts'
import { type Finding, fail, look, ok, unknown, warn } from './finding.ts'

/** A resolver that is there answers in milliseconds; one that is not is waited for by the system for half a minute. */
const LOOKUP_MS = 5_000
const CHECK = 'webhooks'

/** `pool` is null where there is no ledger with endpoints. */
export async function lookAtWebhooks(allowPrivate: boolean, pool: Pool | null): Promise<Finding[]> {
  return await look(CHECK, async () => {
    if (!pool) return unknown(CHECK, 'there is no ledger to ask for endpoints')
    const [targets, known] = [await readTargets(pool), await listEndpoints(pool)]
    const findings = await Promise.all(
      [...targets].map(async ([endpoint, { url }]) => {
        const state = known.find((candidate) => candidate.endpoint === endpoint)
        return (await lookAtHost(endpoint, url, allowPrivate)) ?? lookAtDeliveries(endpoint, state)
      }),
    )
    return findings.length > 0
      ? findings
      : ok(CHECK, 'no events are sent: "node-ledger webhooks add" names who is told')
  })
}

/** The obstacle to sending there; null where there is none. */
async function lookAtHost(endpoint: string, url: string, allowPrivate: boolean): Promise<Finding | null> {
  try {
    const isPublic = await inTime('the resolver', LOOKUP_MS, isPublicTarget(new URL(url)))
    if (isPublic || allowPrivate) return null
  } catch (error) {
    const says = `${endpoint}: its host has no address here (${codeOf(error) ?? messageOf(error)}): nothing reaches it`
    return fail(
      CHECK,
      says,
      'Remove it and add the right one ("node-ledger webhooks remove", "add"), or see to this machine’s resolver.',
      { endpoint },
    )
  }
  return fail(
    CHECK,
    `${endpoint} is at a private address: nothing is sent there`,
    'Add an endpoint of the public internet in its place, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network.',
    { endpoint },
  )
}

function lookAtDeliveries(endpoint: string, state: EndpointState | undefined): Finding {
  if (!state) return ok(CHECK, `${endpoint} is told`, { endpoint })
  const { disabledAt, failingSince, lastError, pending, lastSuccessAt } = state
  if (disabledAt !== null) {
    const todo = `Mend the receiver, then "node-ledger webhooks enable ${endpoint}".`
    return fail(CHECK, `${endpoint} was given up on at ${disabledAt}: ${lastError}; ${pending} wait`, todo, state)
  }
  if (failingSince !== null) {
    const todo = 'Mend the receiver; "node-ledger webhooks deliveries --state pending" shows what it answers.'
    return warn(CHECK, `${endpoint} has failed since ${failingSince}: ${lastError}; ${pending} wait`, todo, state)
  }
  return ok(CHECK, `${endpoint} takes what it is sent, last at ${lastSuccessAt ?? 'no time yet'}`, state)
}
