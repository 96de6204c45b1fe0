// The check of the webhooks: each endpoint's host must have an allowed address, and the endpoint must accept its events. Sends nothing, and shows
// nothing of a URL but its host.
import type { Pool } from '../../db/core/sql.ts'
import { type EndpointState, listEndpoints, readTargets } from '../../db/webhooks.ts'
import { inTime } from '../../lib/deadline.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { isPublicTarget } from '../../webhooks/target.ts'
import type { Checks, Said } from './check.ts'

/** How long we wait for a name. A working resolver answers in milliseconds; if it is down, the system would wait half a minute. */
const LOOKUP_MS = 5_000

/** `pool` is null if there is no ledger with endpoints. */
export const WEBHOOK_CHECKS: Checks<{ readonly allowPrivate: boolean; readonly pool: Pool | null }> = {
  webhooks: async ({ allowPrivate, pool }) => {
    if (!pool) return { unknown: 'no ledger to ask for endpoints' }
    const [targets, known] = [await readTargets(pool), await listEndpoints(pool)]
    if (targets.size === 0) return 'no events are sent: "node-ledger webhooks add" adds a receiver'
    return await Promise.all(
      [...targets].map(async ([endpoint, { url }]) => {
        const state = known.find((candidate) => candidate.endpoint === endpoint)
        return (await lookAtHost(endpoint, url, allowPrivate)) ?? lookAtDeliveries(endpoint, state)
      }),
    )
  },
}

/** Why we cannot send to this host; null if we can. */
async function lookAtHost(endpoint: string, url: string, allowPrivate: boolean): Promise<Said | null> {
  const reading = { endpoint }
  try {
    const isPublic = await inTime('the resolver', LOOKUP_MS, isPublicTarget(new URL(url)))
    if (isPublic || allowPrivate) return null
  } catch (error) {
    return {
      says: `${endpoint}: its host has no address here (${codeOf(error) ?? messageOf(error)}): nothing reaches it`,
      fail: 'Remove it and add the right one ("node-ledger webhooks remove", "add"), or fix this machine’s resolver.',
      reading,
    }
  }
  return {
    says: `${endpoint} is at a private address: nothing is sent there`,
    fail: 'Replace it with an endpoint on the public internet, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network.',
    reading,
  }
}

function lookAtDeliveries(endpoint: string, state: EndpointState | undefined): Said {
  if (!state) return { says: `${endpoint} is told`, reading: { endpoint } }
  const { disabledAt, failingSince, lastError, pending, lastSuccessAt } = state
  if (disabledAt !== null) {
    const todo = `Fix the receiver, then "node-ledger webhooks enable ${endpoint}".`
    const says = `${endpoint} was disabled at ${disabledAt}: ${lastError}; ${pending} wait`
    return { says, fail: todo, reading: state }
  }
  if (failingSince !== null) {
    const todo = 'Fix the receiver; "node-ledger webhooks deliveries --state pending" shows what it answers.'
    return {
      says: `${endpoint} has failed since ${failingSince}: ${lastError}; ${pending} wait`,
      warn: todo,
      reading: state,
    }
  }
  return { says: `${endpoint} accepts its events, last success: ${lastSuccessAt ?? 'none yet'}`, reading: state }
}
