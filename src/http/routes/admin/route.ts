// Makes routes from the operator's acts and readings (src/operator/operations.ts). The caller's input goes in as plain fields; a result comes back as JSON,
// a refusal with its status and its own message. An act runs only once per `Idempotency-Key`.
import { createHash } from 'node:crypto'
import { finishKey, freeKey, takeKey } from '../../../db/core/idempotency.ts'
import type { KeyHolder } from '../../../domain/keys/admin-key.ts'
import { toJson } from '../../../lib/json.ts'
import {
  type Actor,
  type EveryPart,
  type Fields,
  isOperatorRefusal,
  isProposed,
  type OperatorRefusal,
  refuseAct,
} from '../../../operator/act.ts'
import { keyDigest } from '../../../operator/acts/keys/secret.ts'
import { type Operation, resultLine } from '../../../operator/define-act.ts'
import { BODY_BYTES_MAX } from '../../edge/body.ts'
import { refuse, refuseAs } from '../../refusals.ts'
import type { Call, Download, Outcome, Route } from '../../route.ts'
import type { Tools } from '../../tools.ts'
import { adminGuard } from './guard.ts'

/** The time limit. A reading may read a lot, and an act makes a few requests to the chain. */
const DEADLINE_MS = 30_000
const KEY_FORM = /^[\x21-\x7e]{1,128}$/

/** The answer of a route: an object that becomes JSON, a file, or a refusal. */
type Answer = object | Download | OperatorRefusal

/** One route for each path of the operations: a reading is its GET, an act its POST. */
export const routesOf = (operations: readonly Operation[]): ((tools: Tools) => Route)[] =>
  [...Map.groupBy(operations, ({ path }) => path)].flatMap(([path, ofPath]) =>
    path === null ? [] : [(tools: Tools) => routeOf(tools, path, ofPath)],
  )

function routeOf(tools: Tools, path: string, operations: readonly Operation[]): Route {
  const find = (kind: Operation['kind']) => operations.find((one) => one.kind === kind)
  const [reading, act] = [find('reading'), find('act')]
  const scopes = { ...(reading?.scope && { GET: reading.scope }), ...(act?.scope && { POST: act.scope }) }
  return {
    ...adminGuard(tools, Object.keys(scopes).length > 0 ? scopes : null),
    path: `/api/admin/${path}`,
    methods: [...(reading ? ['GET' as const] : []), ...(act ? ['POST' as const] : [])],
    ...(act && { takesJson: 'orNothing', bodyBytesMax: bodyBytesMaxOf(act) }),
    // A file is made only if someone reads it, so HEAD must not start one.
    ...(reading?.isFile && { noHead: true }),
    deadlineMs: DEADLINE_MS,
    handle: async (call) => {
      const { operator, settings } = tools.deps
      // Read at each call, because the keys may change while the service runs.
      const environmentKeys = settings.adminKeys.map(keyDigest)
      const parts = { ...operator, environmentKeys, publicUrl: settings.publicUrl }
      if (act && call.method === 'POST') return once(parts, call, act)
      if (!reading || call.holder === null) return refuse('wrongKey')
      // The fields come from the path and the query; if both have a field, the path's value counts.
      const input = { ...call.query, ...call.params }
      return outcomeOf(await reading.call(parts, actorOf(call, call.holder), input))
    },
  }
}

/** The most bytes that a character of a text takes in JSON: `\u0000`. */
const CHAR_BYTES_MAX = 6

/** The largest body of an act: every text of its fields at its longest, however it is escaped, and room for everything else. */
const bodyBytesMaxOf = ({ fields }: Operation): number =>
  Object.values(fields).reduce((sum, { schema }) => sum + CHAR_BYTES_MAX * charsMaxOf(schema), BODY_BYTES_MAX)

interface Lengths {
  maxLength?: number
  maxItems?: number
  items?: Lengths
}

/** The most characters of a value. A shared component is short. */
function charsMaxOf(schema: string | Lengths): number {
  const { maxLength = 0, maxItems = 0, items = {} }: Lengths = typeof schema === 'string' ? {} : schema
  return maxLength + (maxItems > 0 ? maxItems * charsMaxOf(items) : 0)
}

function outcomeOf(answer: Answer): Outcome {
  if (isOperatorRefusal(answer)) return refuseAs(answer)
  return 'stream' in answer ? (answer as Download) : respond(answer, toJson(answer))
}

/** An answer, new or stored: 202 if the act waits for a second person. */
const respond = (answer: object, json: string): Outcome => ({ json, ...(isProposed(answer) && { status: 202 }) })

/** Runs an act. With an `Idempotency-Key` it runs only once; a repeated request gets the same answer. */
async function once(parts: EveryPart, call: Call, act: Operation): Promise<Outcome> {
  const { pool } = parts
  const { holder } = call
  if (holder === null) return refuse('wrongKey')
  const input = inputOf(call)
  if (isOperatorRefusal(input)) return refuseAs(input)
  const name = holder.label
  const run = async () => {
    const result = await act.call(parts, actorOf(call, holder), input)
    return isOperatorRefusal(result) || isProposed(result) ? result : { ...result, says: resultLine(act, result) }
  }
  const keyHeaders = call.raw.headersDistinct['idempotency-key']
  if (keyHeaders === undefined) return outcomeOf(await run())
  const [key = ''] = keyHeaders
  if (keyHeaders.length !== 1 || !KEY_FORM.test(key)) return refuse('badIdempotencyKey')
  const state = await takeKey(pool, name, key, digestOf(call))
  switch (state.kind) {
    case 'answered':
      return respond(JSON.parse(state.answer), state.answer)
    case 'underWay':
      return refuse('actUnderWay')
    case 'otherRequest':
      return refuse('otherAct')
    case 'ours':
      return keep({ pool, name, key }, run, act.secret)
  }
}

/** The fields of an act. No field may come from the query, and none twice: the body must not repeat a field in the path. */
function inputOf({ query, params, body }: Call): Fields | OperatorRefusal {
  const [inQuery] = Object.keys(query)
  if (inQuery !== undefined)
    return refuseAct('invalid', 'An action takes its fields in the body, as JSON, and none in the query.')
  const twice = Object.keys(params).find((name) => Object.hasOwn(body, name))
  if (twice !== undefined) return refuseAct('invalid', `${twice} is in the path: leave it out of the body.`)
  return { ...(body as Fields), ...(params as Fields) }
}

/**
 * Stores the answer of an act that succeeded. If the act was refused or failed, the caller may send it again under the same key, and it runs again.
 */
async function keep(
  { pool, name, key }: { pool: EveryPart['pool']; name: string; key: string },
  run: () => Promise<Answer>,
  secret: string | null,
): Promise<Outcome> {
  let isStored = false
  try {
    const answer = await run()
    const outcome = outcomeOf(answer)
    if ('json' in outcome) {
      isStored = true
      await finishKey(pool, name, key, toJson(secret === null ? answer : { ...answer, [secret]: null }))
    }
    return outcome
  } finally {
    // If this fails too, another request can take the key over after a minute.
    if (!isStored) await freeKey(pool, name, key).catch(() => {})
  }
}

function actorOf({ requestId }: Call, holder: KeyHolder): Actor {
  const { label: name, digest: keyDigest } = holder
  return { name, keyDigest, requestId, ...(holder.keyId !== null && { held: holder }) }
}

function digestOf({ method, raw, body }: Call): string {
  return createHash('sha256')
    .update(JSON.stringify([method, raw.url?.split('?', 1)[0], body]))
    .digest('hex')
}
