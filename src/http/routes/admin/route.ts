// Makes routes of the operator's acts and readings (src/operator): what the caller sent goes in as plain fields, a result comes
// back as JSON, a refusal with its status and its own words. An act is done once for one `Idempotency-Key`.
import { createHash } from 'node:crypto'
import { finishKey, freeKey, takeKey } from '../../../db/core/idempotency.ts'
import type { KeyHolder, Scope } from '../../../domain/keys/admin-key.ts'
import { toJson } from '../../../lib/json.ts'
import {
  type Act,
  type Actor,
  type Fields,
  isOperatorRefusal,
  type OperatorDeps,
  type OperatorRefusal,
  refuseAct,
} from '../../../operator/act.ts'
import { refuse, refuseAs } from '../../refusals.ts'
import type { Call, Download, Outcome, Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminGuard } from './guard.ts'

/** A reading may look at much, an act asks the chain a few things. */
const DEADLINE_MS = 30_000
const KEY_FORM = /^[\x21-\x7e]{1,128}$/

/** The answer of a route: an object that becomes JSON, a file, or a refusal. */
type Answer = object | Download | OperatorRefusal
type Reader = Parameters<typeof readingRoute>[1]

/** GET of a reading, for keys that may read unless it says otherwise. Fields are the path's parameters and the query's, the former first. */
export const readingRoute =
  (path: string, read: (deps: OperatorDeps, input: Fields) => Promise<Answer>, scope: Scope = 'read') =>
  (tools: Tools): Route => ({
    ...adminGuard(tools, { GET: scope }),
    path: `/api/admin/${path}`,
    methods: ['GET'],
    deadlineMs: DEADLINE_MS,
    handle: async (call) => {
      const { operator } = tools.deps
      if (operator === null) return refuse('noChain')
      return outcomeOf(await read(operator, { ...call.query, ...call.params }))
    },
  })

/**
 * POST of an act. Fields are the path's parameters and those of the JSON body, which may be left out where none is needed. The act refuses
 * fields that it does not take.
 */
export const actRoute =
  (path: string, scope: Scope | null, act: Act, { kept }: ActOptions = {}) =>
  (tools: Tools): Route => ({
    ...adminGuard(tools, scope && { POST: scope }),
    path: `/api/admin/${path}`,
    methods: ['POST'],
    takesJson: 'orNothing',
    deadlineMs: DEADLINE_MS,
    handle: (call) => once(tools, call, act, kept),
  })

interface ActOptions {
  /** The answer as it is kept for its Idempotency-Key, where that is less than what is answered. */
  kept?: (answer: object) => object
}

/** GET and POST of one path. */
export const bothRoute = (path: string, read: Reader, scope: Scope, act: Act) => (tools: Tools) => {
  const [reading, acting] = [readingRoute(path, read)(tools), actRoute(path, scope, act)(tools)]
  return bothOf(reading, acting)
}

/** One route of a reading and an act at the same path. */
export function bothOf(reading: Route, acting: Route): Route {
  return {
    ...acting,
    scopes: { ...reading.scopes, ...acting.scopes },
    methods: ['GET', 'POST'],
    handle: (call) => (call.method === 'POST' ? acting.handle(call) : reading.handle(call)),
  } satisfies Route
}

function outcomeOf(answer: Answer): Outcome {
  if (isOperatorRefusal(answer)) return refuseAs(answer)
  return 'stream' in answer ? (answer as Download) : answered(toJson(answer))
}

/** An answer, as it is given or was kept: 202 where the act waits for a second person. */
const answered = (json: string): Outcome => ({ json, ...(json.startsWith('{"proposal":') && { status: 202 }) })

/** Does an act; under an `Idempotency-Key` only once, and the same request is answered the same again. */
async function once({ deps }: Tools, call: Call, act: Act, kept = (answer: object) => answer): Promise<Outcome> {
  const { operator } = deps
  const { holder } = call
  if (operator === null) return refuse('noChain')
  if (holder === null) return refuse('wrongKey')
  const input = inputOf(call)
  if (isOperatorRefusal(input)) return refuseAs(input)
  const name = holder.label
  const run = () => act(operator, actorOf(call, holder), input)
  const given = call.raw.headersDistinct['idempotency-key']
  if (given === undefined) return outcomeOf(await run())
  const [key = ''] = given
  if (given.length !== 1 || !KEY_FORM.test(key)) return refuse('badIdempotencyKey')
  const state = await takeKey(operator.pool, name, key, digestOf(call))
  switch (state.kind) {
    case 'answered':
      return answered(state.answer)
    case 'underWay':
      return refuse('actUnderWay')
    case 'otherRequest':
      return refuse('otherAct')
    case 'ours':
      return keep({ pool: operator.pool, name, key }, run, kept)
  }
}

/** The fields of an act. None is taken from a query, nor twice: what the path names, the body must not. */
function inputOf({ query, params, body }: Call): Fields | OperatorRefusal {
  const [inQuery] = Object.keys(query)
  if (inQuery !== undefined)
    return refuseAct('invalid', 'An act takes its fields in the body, as JSON, and none in the query.')
  const twice = Object.keys(params).find((name) => Object.hasOwn(body, name))
  if (twice !== undefined) return refuseAct('invalid', `${twice} is in the path: leave it out of the body.`)
  return { ...(body as Fields), ...(params as Fields) }
}

/** Keeps the answer of an act that was done. A refused or failed one may be sent again under the same key, and runs again. */
async function keep(
  { pool, name, key }: { pool: OperatorDeps['pool']; name: string; key: string },
  run: () => Promise<Answer>,
  kept: (answer: object) => object,
): Promise<Outcome> {
  let done = false
  try {
    const answer = await run()
    const outcome = outcomeOf(answer)
    if ('json' in outcome) {
      done = true
      await finishKey(pool, name, key, toJson(kept(answer)))
    }
    return outcome
  } finally {
    // If even this fails, the key can be taken over after a minute.
    if (!done) await freeKey(pool, name, key).catch(() => {})
  }
}

function actorOf({ requestId }: Call, holder: KeyHolder): Actor {
  return { name: holder.label, requestId, ...(holder.keyId !== null && { held: holder }) }
}

function digestOf({ method, raw, body }: Call): string {
  return createHash('sha256')
    .update(JSON.stringify([method, raw.url?.split('?', 1)[0], body]))
    .digest('hex')
}
