// Looks at the webhooks: does each endpoint's host have an address, may it be sent to, does it take what it is sent. Sends nothing, and
// never repeats a URL beyond its host.
import type { WebhooksConfig } from '../../config.ts'
import type { Pool } from '../../db/sql.ts'
import { type EndpointState, listEndpoints } from '../../db/webhooks.ts'
import { inTime } from '../../lib/deadline.ts'
import { codeOf, messageOf } from '../../lib/errors.ts'
import { isPublicTarget } from '../../webhooks/target.ts'
import { endpointName } from '../../webhooks/worker.ts'
import { type Finding, fail, look, ok, warn } from './finding.ts'

/** A resolver that is there answers in milliseconds; one that is not is waited for by the system for half a minute. */
const LOOKUP_MS = 5_000
const CHECK = 'webhooks'

/** `pool` is null where there is no ledger that would know how deliveries do. */
export async function lookAtWebhooks(settings: WebhooksConfig | null, pool: Pool | null): Promise<Finding[]> {
  return await look(CHECK, async () => {
    const known = pool ? await listEndpoints(pool) : null
    const { urls, allowPrivate } = settings ?? { urls: [], allowPrivate: false }
    const findings = await Promise.all(
      urls.map(async (url) => (await lookAtHost(url, allowPrivate)) ?? lookAtDeliveries(url, known)),
    )
    const names = urls.map(endpointName)
    const others = known?.filter(({ endpoint, active }) => active && !names.includes(endpoint)) ?? []
    findings.push(...others.map(otherSettings))
    return findings.length > 0 ? findings : ok(CHECK, 'no events are sent: WEBHOOK_URL is not set')
  })
}

/** What keeps anything from being sent there; null where nothing does. */
async function lookAtHost(url: string, allowPrivate: boolean): Promise<Finding | null> {
  const endpoint = endpointName(url)
  try {
    const isPublic = await inTime('the resolver', LOOKUP_MS, isPublicTarget(new URL(url)))
    if (isPublic || allowPrivate) return null
  } catch (error) {
    const says = `${endpoint}: its host has no address here (${codeOf(error) ?? messageOf(error)}): nothing reaches it`
    return fail(CHECK, says, 'Correct the host in WEBHOOK_URL, or see to this machine’s resolver.', { endpoint })
  }
  return fail(
    CHECK,
    `${endpoint} is at a private address: nothing is sent there`,
    'Name a host of the public internet in WEBHOOK_URL, or set WEBHOOK_ALLOW_PRIVATE=true for receivers in your own network.',
    { endpoint },
  )
}

function lookAtDeliveries(url: string, known: readonly EndpointState[] | null): Finding {
  const endpoint = endpointName(url)
  if (known === null) return ok(CHECK, `${endpoint} may be sent to; how deliveries do is not known`, { endpoint })
  const state = known.find((candidate) => candidate.endpoint === endpoint)
  if (!state?.active) {
    const todo = 'Restart every instance with the same WEBHOOK_URL: who is told is noted at each start.'
    return warn(CHECK, `${endpoint} is told nothing yet: the service was last started without it`, todo, { endpoint })
  }
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

function otherSettings(state: EndpointState): Finding {
  const todo = 'Give every instance the same WEBHOOK_URL, and restart them: who is told is noted at each start.'
  return warn(CHECK, `${state.endpoint} is told by an instance, and not named by these settings`, todo, state)
}
