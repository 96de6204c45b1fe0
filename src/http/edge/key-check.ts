// Checks a request's key before we reveal anything else about the route, counts wrong keys, and compares the key's scope with the route's.
import { refuseByScope } from '../../operator/act.ts'
import { type Refusal, refuse, refuseAs } from '../refusals.ts'
import type { Call, Route } from '../route.ts'
import type { Client } from './client-address.ts'
import type { Limits } from './limits.ts'
import { type Reply, setRateHeaders } from './reply.ts'

/** The bucket that counts wrong keys; its number is above those of all routes. */
const WRONG_KEYS_BUCKET = 32_767

/** Builds the check of a route's key. */
export function keyCheck(limits: Limits, clientOf: (call: Call) => Client) {
  /** Checks the key before the counters, so that the right key is never refused. */
  async function refuseUnkeyed(route: Route, call: Call, reply: Reply): Promise<Refusal | null> {
    if (!route.authorize) return null
    const perMinute = route.wrongKeys?.perMinute ?? 0
    const isLimited = () => limits.isSpent(WRONG_KEYS_BUCKET, perMinute, clientOf(call))
    return countUnkeyed(route, call, reply, await route.authorize(call, isLimited))
  }

  function countUnkeyed(route: Route, call: Call, reply: Reply, refusal: Refusal | null): Refusal | null {
    if (refusal === null) return null
    if (route.countedUnkeyedAs) reply.countAs(route.countedUnkeyedAs)
    // A request without a key does not count as a wrong key.
    if (!route.wrongKeys || refusal.refused !== 'wrongKey') return refusal
    if (call.raw.headers[route.wrongKeys.header] === undefined) return refusal
    route.wrongKeys.tell?.()
    const state = limits.take(WRONG_KEYS_BUCKET, route.wrongKeys.perMinute, clientOf(call))
    if (!state.exceeded) return refusal
    setRateHeaders(reply, state)
    return refuse('rateLimited', [], state.retryAfter)
  }

  return refuseUnkeyed
}

/** Refuses a key that lacks the request's scope. OPTIONS and unknown paths need no scope. */
export function refuseUnscoped({ scopes }: Route, { method, holder }: Call): Refusal | null {
  const scope = scopes?.[method === 'POST' ? 'POST' : 'GET']
  if (scope === undefined || holder?.scopes.includes(scope)) return null
  return refuseAs(refuseByScope(scope))
}
